#include "storage/segment.h"

#include "core/base/bytes.h"

#include <fmt/format.h>

namespace annals::storage {

SegmentTable::~SegmentTable() {
    for (auto& slot : chunks_) {
        const std::unique_ptr<Chunk> chunk(slot.load());
        if (chunk != nullptr) {
            for (auto& segment : *chunk) {
                delete segment.load();
            }
        }
    }
}

void SegmentTable::insert(Segment segment) {
    const std::uint64_t number = segment.header.number;
    ANNALS_CHECK(number <= kNumberMax);
    auto& slot = chunks_[number / kChunk];
    Chunk* chunk = slot.load(std::memory_order_relaxed);
    if (chunk == nullptr) {
        chunk = std::make_unique<Chunk>().release();
        slot.store(chunk, std::memory_order_release);
    }
    auto& entry = (*chunk)[number % kChunk];
    ANNALS_CHECK(entry.load(std::memory_order_relaxed) == nullptr);
    entry.store(std::make_unique<Segment>(std::move(segment)).release(), std::memory_order_release);
    size_.fetch_add(1, std::memory_order_relaxed);
}

const Segment* SegmentTable::find(std::uint64_t number) const noexcept {
    if (number > kNumberMax) {
        return nullptr;
    }
    const Chunk* chunk = chunks_[number / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : (*chunk)[number % kChunk].load(std::memory_order_acquire);
}

std::optional<FrameAt> find_frame(std::string_view bytes, std::uint64_t from, std::uint64_t salt) {
    for (std::uint64_t at = from; at + kFrameHeaderBytes <= bytes.size(); at += kAlignment) {
        if (const auto header = decode_frame(bytes.substr(at), salt)) {
            return FrameAt{at, *header};
        }
    }
    return std::nullopt;
}

Result<StoredVersion> load_version(const SegmentTable& segments, const Location& location,
                                   const VersionInfo& info) {
    const Segment* segment = segments.find(location.segment);
    const auto corrupt = [&](std::string_view why) {
        return Error{Errc::corrupt,
                     fmt::format("segments/{}: offset {}: {}", segment_name(location.segment),
                                 location.offset, why),
                     {}};
    };
    if (segment == nullptr) {
        return Error{Errc::not_found, "the version was erased", {}};
    }
    auto record = decode_record(segment->view(), location.offset);
    if (!record) {
        return corrupt("damaged record");
    }
    if (record->kind != RecordKind::version || record->version != info.version ||
        record->instant != info.instant || record->deletion != info.deletion ||
        record->type != resource_type_name(info.type)) {
        return corrupt("the record is of another version");
    }
    return StoredVersion{
        .info = info, .id = record->id, .body = record->body, .pin = segment->data};
}

SegmentScan scan_segment(std::string_view bytes, const SegmentHeader& header) {
    SegmentScan scan;
    scan.end = kSegmentHeaderBytes;
    while (scan.end < bytes.size()) {
        const auto frame = decode_frame(bytes.substr(scan.end), header.salt);
        if (!frame) {
            break;
        }
        scan.frames.push_back({scan.end, *frame});
        scan.end += frame->length;
    }

    // The tail is mostly zeros: by words where that can be.
    constexpr std::uint64_t kWord = sizeof(std::uint64_t);
    std::uint64_t at = bytes.size();
    while (at > scan.end && at % kWord != 0 && bytes[at - 1] == '\0') {
        --at;
    }
    while (at >= scan.end + kWord && load_le<std::uint64_t>(bytes.data() + at - kWord) == 0) {
        at -= kWord;
    }
    while (at > scan.end && bytes[at - 1] == '\0') {
        --at;
    }
    scan.garbage_end = at;

    const std::string_view garbage = bytes.substr(0, std::min(padded(at), bytes.size()));
    auto frame = find_frame(garbage, scan.end, header.salt);
    while (frame && frame->header.synced_offset <= scan.end) {
        frame = find_frame(garbage, frame->offset + kAlignment, header.salt);
    }
    if (frame) {
        scan.witness = frame->offset;
    }
    return scan;
}

}  // namespace annals::storage
