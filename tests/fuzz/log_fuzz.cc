// Any bytes as records, frames, a segment, a footer and a packed segment, with matching checksums so that they are believed.

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "storage/format.h"
#include "storage/packed_segment.h"
#include "storage/segment.h"
#include "storage/segment_footer.h"

#include <zstd.h>

#include <algorithm>
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

const SegmentHeader kPackedHeader{.format = SegmentFormat::packed,
                                  .store_id = 1,
                                  .number = 1,
                                  .first_position = {1},
                                  .salt = kSalt,
                                  .last_instant = {}};

/// Uses everything that a packed segment offers.
void use_packed(const std::string& file) {
    const std::shared_ptr<const char> data(file.data(), [](const char*) {});
    const auto packed = PackedSegment::open(kPackedHeader, data, file.size());
    if (!packed || (*packed)->image_bytes() > 64 << 20) {
        return;
    }
    const PackedSegment& segment = **packed;
    if (const auto footer =
            FooterReader::open(Segment{kPackedHeader, data, file.size(), *packed})) {
        footer->for_each([&](const Hint& hint) {
            if (const auto part = segment.read(hint.offset)) {
                if (const auto record = parse_record(part->view(), hint.offset - part->offset)) {
                    use(*record, part->view());
                }
            }
        });
    }
    (void)segment.content();
    (void)segment.without({});
    const std::uint64_t first = kSegmentHeaderBytes;
    const std::uint64_t record = first + kFrameHeaderBytes;
    for (const std::uint64_t at : {first, record}) {
        if (const auto part = segment.read(at)) {
            require(part->offset <= at && at < part->offset + part->bytes);
            if (const auto found = parse_record(part->view(), at - part->offset)) {
                use(*found, part->view());
            }
        }
        if (at < segment.frames_end()) {
            (void)segment.without({&at, 1});
        }
    }
    (void)segment.image();
    const auto image = segment.image([](std::uint64_t, std::string_view) {});
    require(image.has_value());
    SegmentHeader plain = kPackedHeader;
    plain.format = SegmentFormat::plain;
    (void)scan_segment({image->get(), segment.frames_end()}, plain);
}

std::string zstd(std::string_view bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
    return out;
}

template <typename T>
void append(std::string& out, T value) {
    char bytes[sizeof value];
    store_le(bytes, value);
    out.append(bytes, sizeof bytes);
}

/// `payload` as the unpacked content of a block and of the footer.
void fuzz_packed_content(std::string_view payload) {
    if (payload.size() < 8) {
        return;
    }
    const std::size_t cut =
        std::min<std::size_t>(payload.size(), 8 + load_le<std::uint16_t>(payload.data()));
    std::string content(payload.substr(8, cut - 8));
    content.resize(std::max<std::size_t>(padded(content.size()), kRecordHeaderBytes));
    const std::string_view footer = payload.substr(cut);
    std::string file(kSegmentHeaderBytes, '\0');
    encode_segment_header(kPackedHeader, file.data());
    const std::string block = zstd(content);
    append(file, hash64(block, kSalt));
    file += block;
    const std::uint64_t blocks_end = file.size();
    std::string table;
    append(table, std::uint32_t{kSegmentHeaderBytes / kAlignment});
    append(table, std::uint32_t{kSegmentHeaderBytes});
    file += table;
    const std::string packed_footer = zstd(footer);
    file += packed_footer;
    const std::size_t end = file.size();
    file += "ANNALPCK";
    append(file, std::uint64_t{kSegmentHeaderBytes + content.size() + footer.size()});
    append(file, std::uint64_t{kSegmentHeaderBytes + content.size()});
    append(file, blocks_end);
    for (const std::uint32_t number : {0U, 0U, 0U, 1U}) {
        append(file, number);
    }
    append(file, std::uint64_t{packed_footer.size()});
    append(file, hash64(table, kSalt));
    append(file, hash64(packed_footer, kSalt));
    append(file, hash64(std::string_view(file).substr(end), kSalt));
    use_packed(file);
}

/// `payload` as the whole file after the header, with the checksums of everything it claims to contain.
void fuzz_packed_file(std::string_view payload) {
    if (payload.size() < kPackEndBytes) {
        return;
    }
    std::string file(kSegmentHeaderBytes, '\0');
    encode_segment_header(kPackedHeader, file.data());
    file += payload;
    const std::size_t end_at = file.size() - kPackEndBytes;
    char* const end = file.data() + end_at;
    std::memcpy(end, "ANNALPCK", 8);
    const auto at = [&](std::size_t offset) { return load_le<std::uint32_t>(end + offset); };
    const std::uint64_t blocks_end = kSegmentHeaderBytes + at(24) % payload.size();
    store_le(end + 24, blocks_end);
    const std::uint64_t room = end_at - std::min<std::uint64_t>(blocks_end, end_at);
    store_le(end + 40, at(40) % 16);
    store_le(end + 44, at(44) % 64);
    const std::uint64_t fixed = at(40) * 4ULL + at(44) * kPackBlockEntryBytes;
    if (fixed > room) {
        return;
    }
    store_le(end + 32, static_cast<std::uint32_t>(at(32) % (room - fixed + 1)));
    const std::uint64_t parts = at(32) + fixed;
    store_le(end + 48, room - parts);
    store_le(end + 8, std::uint64_t{at(8) % (1U << 20)});
    store_le(end + 16, std::uint64_t{at(16) % (1U << 20)} & ~std::uint64_t{7});
    const char* const table = file.data() + blocks_end + at(32) + at(40) * 4ULL;
    for (std::uint32_t i = 0; i < at(44); ++i) {
        const std::uint64_t from = load_le<std::uint32_t>(table + i * kPackBlockEntryBytes + 4);
        const std::uint64_t to =
            i + 1 < at(44) ? load_le<std::uint32_t>(table + (i + 1) * kPackBlockEntryBytes + 4)
                           : blocks_end;
        if (to <= blocks_end && from + 8 < to) {
            store_le(file.data() + from,
                     hash64(std::string_view(file).substr(from + 8, to - from - 8), kSalt));
        }
    }
    store_le(end + 56, hash64(std::string_view(file).substr(blocks_end, parts), kSalt));
    store_le(end + 64,
             hash64(std::string_view(file).substr(blocks_end + parts, room - parts), kSalt));
    store_le(end + 72, hash64(std::string_view(file).substr(end_at, 72), kSalt));
    use_packed(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    (void)decode_segment_header(input, "input");
    fuzz_record(std::string(input));
    fuzz_frame(input);
    fuzz_segment(input);
    fuzz_packed_content(input);
    fuzz_packed_file(input);
    return 0;
}
