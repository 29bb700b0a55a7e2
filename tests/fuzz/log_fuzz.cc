// Any bytes as records, frames, a segment and a footer, with right checksums so that they are believed.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/format.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace annals;           // NOLINT: a fuzzer is one function
using namespace annals::storage;  // NOLINT

namespace {

constexpr std::uint64_t kSalt = 7;

void require(bool condition) {
    if (!condition) {
        std::abort();
    }
}

void use(const Record& record, std::string_view bytes) {
    const char* end = bytes.data() + bytes.size();
    require(record.body.data() + record.body.size() <= end);
    require(record.id.data() + record.id.size() <= end);
    std::uint64_t sum = 0;
    for (const std::uint64_t term : record.terms) {
        sum ^= term;
    }
    require(sum == 0 || !record.terms.empty());
}

void fuzz_record(std::string bytes) {
    if (bytes.size() < kRecordHeaderBytes) {
        return;
    }
    store_le(bytes.data() + 8, static_cast<std::uint32_t>(bytes.size()));
    store_le(bytes.data(), hash64(std::string_view(bytes).substr(8)));
    if (const auto record = decode_record(bytes, 0)) {
        use(*record, bytes);
    }
}

void fuzz_frame(std::string_view payload) {
    std::string bytes(kFrameHeaderBytes, '\0');
    bytes.append(payload).append(padded(payload.size()) - payload.size(), '\0');
    finish_frame({.length = bytes.size(),
                  .first_position = {1},
                  .instant = {},
                  .synced_offset = 0,
                  .record_count = payload.empty() ? 0U : static_cast<std::uint8_t>(payload[0])},
                 kSalt, bytes.data());
    const auto frame = decode_frame(bytes, kSalt);
    require(frame.has_value());
    RecordReader reader(bytes, 0, *frame);
    while (true) {
        const auto record = reader.next();
        if (!record || !record->has_value()) {
            break;
        }
        use(**record, bytes);
    }
}

void fuzz_segment(std::string_view payload) {
    std::string bytes(kSegmentHeaderBytes, '\0');
    bytes.append(payload);
    const SegmentHeader header{
        .store_id = 1, .number = 1, .first_position = {1}, .salt = kSalt, .last_instant = {}};
    const SegmentScan scan = scan_segment(bytes, header);
    require(scan.end <= bytes.size() && scan.garbage_end >= scan.end);

    bytes.append(padded(bytes.size()) - bytes.size(), '\0');
    char trailer[kTrailerBytes];
    store_le(trailer, std::uint64_t{kSegmentHeaderBytes});
    std::memcpy(trailer + 8, "ANNALEND", 8);
    bytes.append(trailer, 16);
    store_le(trailer + 16, hash64(std::string_view(bytes).substr(kSegmentHeaderBytes), kSalt));
    bytes.append(trailer + 16, 8);
    if (const auto footer = FooterReader::open(bytes, header)) {
        std::uint64_t count = 0;
        footer->for_each([&](const Hint& hint) {
            ++count;
            for (const std::uint64_t& term : hint.terms) {
                require(&term < static_cast<const void*>(bytes.data() + bytes.size()));
            }
        });
        require(count == footer->versions() + footer->erases());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    (void)decode_segment_header(input, "input");
    fuzz_record(std::string(input));
    fuzz_frame(input);
    fuzz_segment(input);
    return 0;
}
