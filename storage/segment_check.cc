#include "storage/segment_check.h"

#include "core/base/digest.h"
#include "storage/packed_segment.h"
#include "storage/segment_footer.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::storage {

namespace {

Error damaged(const std::string& path, std::uint64_t offset, std::string_view why) {
    return {Errc::corrupt, fmt::format("{}: offset {}: {}", path, offset, why)};
}

/// Checks the records of a frame, and counts its versions.
Result<std::uint64_t> count_versions(const std::string& path, std::string_view bytes,
                                     const FrameAt& frame) {
    RecordReader reader(bytes, frame.offset, frame.header);
    std::uint64_t versions = 0;
    while (true) {
        auto record = reader.next();
        if (!record) {
            return at_record(path, reader.offset(), record.error());
        }
        if (!*record) {
            return versions;
        }
        versions += (*record)->kind == RecordKind::version ? 1 : 0;
    }
}

}  // namespace

Result<CheckedSegment> check_segment(FileSystem& fs, const std::string& path,
                                     const std::function<bool(const CheckedFrame&)>& visit) {
    CheckedSegment segment;
    ANNALS_TRY(const auto file, fs.open(path, FileSystem::Mode::read));
    ANNALS_TRY(segment.bytes, file->size());
    if (segment.bytes < kSegmentHeaderBytes) {
        return damaged(path, 0, "no segment header");
    }
    ANNALS_TRY(segment.data, file->map(segment.bytes));
    ANNALS_TRY(segment.header, decode_segment_header(segment.view(), path));
    segment.file = segment.data;
    segment.file_bytes = segment.bytes;
    if (segment.header.format == SegmentFormat::packed) {
        const auto packed = PackedSegment::open(segment.header, segment.file, segment.file_bytes);
        auto image =
            packed ? (*packed)->image() : Result<std::shared_ptr<const char>>(packed.error());
        if (!image) {
            return Error{Errc::corrupt, fmt::format("{}: {}", path, image.error().detail)};
        }
        segment.data = *std::move(image);
        segment.bytes = (*packed)->image_bytes();
    }
    const std::string_view bytes = segment.view();

    const auto footer = FooterReader::open(bytes, segment.header);
    if (!footer && footer.error().code != Errc::corrupt) {
        return footer.error();
    }
    segment.sealed = footer.has_value();
    const std::uint64_t frames_end = footer ? footer->offset() : segment.bytes;
    segment.last_position = {segment.header.first_position.value - 1};
    segment.last_instant = segment.header.last_instant;
    segment.end = kSegmentHeaderBytes;
    bool going = true;
    while (going && segment.end < frames_end) {
        const auto header =
            decode_frame(bytes.substr(segment.end, frames_end - segment.end), segment.header.salt);
        if (!header) {
            break;
        }
        const FrameAt frame{segment.end, *header};
        if (header->first_position.value != segment.last_position.value + 1) {
            return damaged(path, frame.offset, "a frame whose positions do not follow");
        }
        ANNALS_TRY(const std::uint64_t versions, count_versions(path, bytes, frame));
        const CheckedFrame checked{.end = frame.offset + header->length,
                                   .last_position = {segment.last_position.value + versions},
                                   .has_versions = versions > 0,
                                   .instant = header->instant};
        going = !visit || visit(checked);
        if (going) {
            segment.end = checked.end;
            segment.last_position = checked.last_position;
            segment.last_instant = std::max(segment.last_instant, checked.instant);
        }
    }
    if (going && footer && segment.end != frames_end) {
        return damaged(path, segment.end, "no intact frame");
    }
    const std::string_view rest = bytes.substr(segment.end);
    if (going && !footer && rest.find_first_not_of('\0') != std::string_view::npos) {
        return damaged(path, segment.end, "no intact frame, and no end mark");
    }
    segment.checksum = hash64(footer ? segment.file_view() : bytes.substr(0, segment.end));
    return segment;
}

}  // namespace annals::storage
