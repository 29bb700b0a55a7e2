#include "storage/format.h"

#include "core/base/bytes.h"
#include "core/base/digest.h"
#include "core/base/limits.h"

#include <fmt/format.h>

#include <charconv>

namespace annals::storage {
namespace {

constexpr std::string_view kSegmentMagic = "ANNALSEG";
constexpr std::uint8_t kFlagDeletion = 1;
constexpr std::size_t kDecimalMax = 20;
constexpr std::size_t kIdBytesMax = 64;

std::uint32_t header_check(const char* frame, std::uint64_t salt) noexcept {
    return static_cast<std::uint32_t>(hash64({frame + 8, 44}, salt));
}

std::size_t decimal_digits(std::uint64_t value) noexcept {
    std::size_t digits = 1;
    for (; value >= 10; value /= 10) {
        ++digits;
    }
    return digits;
}

Error corrupt(std::string_view what) {
    return {Errc::corrupt, std::string(what)};
}

/// Whether a version or an erase is within the format's limits.
bool is_within_limits(const Record& record) noexcept {
    return !record.type.empty() && !record.id.empty() && record.id.size() <= kIdBytesMax &&
           record.terms.size() <= kTermsPerVersionMax;
}

}  // namespace

void encode_segment_header(const SegmentHeader& header, char* out) noexcept {
    std::memcpy(out, kSegmentMagic.data(), kSegmentMagic.size());
    store_le(out + 8, static_cast<std::uint32_t>(header.format));
    store_le(out + 12, static_cast<std::uint32_t>(kSegmentHeaderBytes));
    store_le(out + kHeaderStoreIdAt, header.store_id);
    store_le(out + kHeaderNumberAt, header.number);
    store_le(out + kHeaderFirstPositionAt, header.first_position.value);
    store_le(out + kHeaderSaltAt, header.salt);
    store_le(out + kHeaderLastInstantAt, header.last_instant.us);
    store_le(out + 56, hash64({out, 56}));
}

Result<SegmentHeader> decode_segment_header(std::string_view bytes, std::string_view path) {
    if (bytes.size() < kSegmentHeaderBytes || !bytes.starts_with(kSegmentMagic)) {
        return Error{Errc::corrupt, fmt::format("{}: offset 0: no segment header", path)};
    }
    const char* in = bytes.data();
    const auto version = load_le<std::uint32_t>(in + 8);
    if (version == 0 || load_le<std::uint64_t>(in + 56) != hash64({in, 56})) {
        return Error{Errc::corrupt, fmt::format("{}: offset 0: damaged segment header", path)};
    }
    if (version > kFormatVersion) {
        return Error{
            Errc::usage,
            fmt::format("{}: written in format {}, but this program supports formats up to {}",
                        path, version, kFormatVersion)};
    }
    return SegmentHeader{.format = static_cast<SegmentFormat>(version),
                         .store_id = load_le<std::uint64_t>(in + kHeaderStoreIdAt),
                         .number = load_le<std::uint64_t>(in + kHeaderNumberAt),
                         .first_position = {load_le<std::uint64_t>(in + kHeaderFirstPositionAt)},
                         .salt = load_le<std::uint64_t>(in + kHeaderSaltAt),
                         .last_instant = {load_le<std::int64_t>(in + kHeaderLastInstantAt)}};
}

void finish_frame(const FrameHeader& header, std::uint64_t salt, char* frame) noexcept {
    store_le(frame + 8, kFrameMagic);
    store_le(frame + 12, std::uint32_t{0});
    store_le(frame + 16, header.length);
    store_le(frame + 24, header.first_position.value);
    store_le(frame + 32, header.instant.us);
    store_le(frame + 40, header.synced_offset);
    store_le(frame + 48, header.record_count);
    store_le(frame + 52, header_check(frame, salt));
    store_le(frame, hash64({frame + 8, header.length - 8}, salt));
}

FrameHeader read_frame_header(const char* frame) noexcept {
    return {.length = load_le<std::uint64_t>(frame + 16),
            .first_position = {load_le<std::uint64_t>(frame + 24)},
            .instant = {load_le<std::int64_t>(frame + 32)},
            .synced_offset = load_le<std::uint64_t>(frame + 40),
            .record_count = load_le<std::uint32_t>(frame + 48),
            .flags = load_le<std::uint32_t>(frame + 12)};
}

bool is_frame_header(std::string_view bytes, std::uint64_t salt) noexcept {
    const char* in = bytes.data();
    return bytes.size() >= kFrameHeaderBytes && load_le<std::uint32_t>(in + 8) == kFrameMagic &&
           load_le<std::uint32_t>(in + 52) == header_check(in, salt);
}

std::optional<FrameHeader> peek_frame(std::string_view bytes, std::uint64_t salt) noexcept {
    if (!is_frame_header(bytes, salt)) {
        return std::nullopt;
    }
    const FrameHeader header = read_frame_header(bytes.data());
    if (header.length < kFrameHeaderBytes || header.length > bytes.size() ||
        header.length % kAlignment != 0) {
        return std::nullopt;
    }
    return header;
}

std::optional<FrameHeader> decode_frame(std::string_view bytes, std::uint64_t salt) noexcept {
    const auto header = peek_frame(bytes, salt);
    if (!header ||
        load_le<std::uint64_t>(bytes.data()) != hash64(bytes.substr(8, header->length - 8), salt)) {
        return std::nullopt;
    }
    return header;
}

Record request_record(std::string_view id) noexcept {
    Record record;
    record.kind = RecordKind::request;
    record.body = id;
    return record;
}

std::uint64_t record_bytes(const Record& record, std::uint64_t body_bytes) noexcept {
    return padded(kRecordHeaderBytes + record.terms.size() * sizeof(std::uint64_t) +
                  record.type.size() + record.id.size() + body_bytes);
}

std::uint64_t body_bytes(std::span<const BodyPiece> pieces, VersionNumber version) noexcept {
    std::uint64_t bytes = 0;
    for (const BodyPiece& piece : pieces) {
        switch (piece.kind) {
            case BodyPiece::Kind::text:
                bytes += piece.text.size();
                break;
            case BodyPiece::Kind::version:
                bytes += decimal_digits(version.value);
                break;
            case BodyPiece::Kind::instant:
                bytes += kInstantChars;
                break;
        }
    }
    return bytes;
}

void append_body(std::span<const BodyPiece> pieces, VersionNumber version, Instant instant,
                 std::string& out) {
    for (const BodyPiece& piece : pieces) {
        switch (piece.kind) {
            case BodyPiece::Kind::text:
                out.append(piece.text);
                break;
            case BodyPiece::Kind::version: {
                char digits[kDecimalMax];
                const auto end = std::to_chars(digits, digits + sizeof digits, version.value).ptr;
                out.append(digits, end);
                break;
            }
            case BodyPiece::Kind::instant: {
                char text[kInstantChars];
                write_instant(instant, text);
                out.append(text, sizeof text);
                break;
            }
        }
    }
}

std::string_view append_record(const Record& record, std::span<const BodyPiece> pieces,
                               std::string& out) {
    ANNALS_CHECK(out.size() % kAlignment == 0);
    ANNALS_CHECK(record.type.empty() == (record.kind == RecordKind::request) &&
                 record.type.size() <= 0xff && record.id.size() <= 0xffff);
    ANNALS_CHECK(record.terms.size() <= kTermsPerVersionMax);
    const std::size_t start = out.size();

    char header[kRecordHeaderBytes] = {};  // the sizes follow below
    header[12] = static_cast<char>(record.kind);
    header[13] = record.kind == RecordKind::erase     ? static_cast<char>(record.scope)
                 : record.kind == RecordKind::version ? static_cast<char>(record.method)
                                                      : '\0';
    header[kRecordFlagsAt] = static_cast<char>((record.deletion ? kFlagDeletion : 0) |
                                               (record.bodiless ? kFlagBodiless : 0));
    header[15] = static_cast<char>(record.type.size());
    store_le(header + 16, record.version.value);
    store_le(header + 24, record.instant.us);
    store_le(header + 32, static_cast<std::uint16_t>(record.id.size()));
    store_le(header + 34, static_cast<std::uint16_t>(record.terms.size()));

    out.append(header, sizeof header);
    for (const std::uint64_t term : record.terms) {
        char bytes[sizeof term];
        store_le(bytes, term);
        out.append(bytes, sizeof bytes);
    }
    out.append(record.type).append(record.id);
    const std::size_t body_at = out.size();
    append_body(pieces, record.version, record.instant, out);
    const std::size_t body_size = out.size() - body_at;
    const std::size_t length = out.size() - start;
    ANNALS_CHECK(length <= 0xffff'ffff);
    store_le(out.data() + start + 8, static_cast<std::uint32_t>(length));
    store_le(out.data() + start + 36, static_cast<std::uint32_t>(body_size));
    store_le(out.data() + start, hash64({out.data() + start + 8, length - 8}));
    out.append(padded(length) - length, '\0');
    return std::string_view(out).substr(body_at, body_size);
}

std::optional<std::uint32_t> record_length(std::string_view bytes, std::uint64_t offset) noexcept {
    if (offset > bytes.size() || bytes.size() - offset < kRecordHeaderBytes) {
        return std::nullopt;
    }
    const auto length = load_le<std::uint32_t>(bytes.data() + offset + 8);
    if (length < kRecordHeaderBytes || length > bytes.size() - offset) {
        return std::nullopt;
    }
    return length;
}

Result<Record> decode_record(std::string_view bytes, std::uint64_t offset) {
    const auto length = record_length(bytes, offset);
    if (!length || load_le<std::uint64_t>(bytes.data() + offset) !=
                       hash64(bytes.substr(offset + 8, *length - 8))) {
        return corrupt("damaged record");
    }
    return parse_record(bytes, offset);
}

Result<Record> parse_record(std::string_view bytes, std::uint64_t offset) {
    const auto fitting = record_length(bytes, offset);
    if (!fitting) {
        return corrupt("no record fits here");
    }
    const std::uint32_t length = *fitting;
    const char* in = bytes.data() + offset;
    const auto kind = static_cast<std::uint8_t>(in[12]);
    if (kind != static_cast<std::uint8_t>(RecordKind::version) &&
        kind != static_cast<std::uint8_t>(RecordKind::erase) &&
        kind != static_cast<std::uint8_t>(RecordKind::request)) {
        return corrupt("record of an unknown kind");
    }
    const auto type_bytes = static_cast<std::uint8_t>(in[15]);
    const auto id_bytes = load_le<std::uint16_t>(in + 32);
    const auto term_count = load_le<std::uint16_t>(in + 34);
    const auto body_size = load_le<std::uint32_t>(in + 36);
    const std::uint64_t terms_bytes = term_count * sizeof(std::uint64_t);
    if (kRecordHeaderBytes + terms_bytes + type_bytes + id_bytes + std::uint64_t{body_size} !=
        length) {
        return corrupt("record whose parts do not add up");
    }
    if (kind == static_cast<std::uint8_t>(RecordKind::request) &&
        body_size + std::size_t{kRecordHeaderBytes} != length) {
        return corrupt("record of a request that names a resource");
    }
    Record record;
    record.kind = static_cast<RecordKind>(kind);
    record.deletion = (in[kRecordFlagsAt] & char{kFlagDeletion}) != 0;
    record.bodiless = (in[kRecordFlagsAt] & char{kFlagBodiless}) != 0;
    if (record.kind == RecordKind::erase) {
        record.scope = static_cast<Erase::Scope>(in[13]);
    } else if (record.kind == RecordKind::version) {
        record.method = static_cast<Method>(in[13]);
    }
    record.version = {load_le<std::uint64_t>(in + 16)};
    record.instant = {load_le<std::int64_t>(in + 24)};
    const char* at = in + kRecordHeaderBytes;
    // Records are at multiples of 8 in page-aligned mappings, so the terms are aligned.
    record.terms = {reinterpret_cast<const std::uint64_t*>(at), term_count};
    at += terms_bytes;
    record.type = {at, type_bytes};
    at += type_bytes;
    record.id = {at, id_bytes};
    at += id_bytes;
    record.body = {at, body_size};
    return record;
}

void clear_frame_checksums(char* frame) noexcept {
    store_le(frame, std::uint64_t{0});
    store_le(frame + 52, std::uint32_t{0});
}

std::uint64_t restore_checksums(char* bytes, std::uint64_t at, std::uint64_t end,
                                std::uint64_t salt) noexcept {
    while (end - at >= kFrameHeaderBytes) {
        char* const frame = bytes + at;
        const FrameHeader header = read_frame_header(frame);
        if (load_le<std::uint32_t>(frame + 8) != kFrameMagic || header.length < kFrameHeaderBytes ||
            header.length > end - at || header.length % kAlignment != 0) {
            break;
        }
        std::uint64_t inside = kFrameHeaderBytes;
        for (std::uint32_t i = 0; i < header.record_count; ++i) {
            const auto length = record_length({frame, header.length}, inside);
            if (!length) {
                return at;
            }
            store_le(frame + inside, hash64({frame + inside + 8, *length - 8}));
            inside += padded(*length);
        }
        if (inside != header.length) {
            break;
        }
        finish_frame(header, salt, frame);
        at += header.length;
    }
    return at;
}

void blank_record(std::string& bytes, std::uint64_t offset) noexcept {
    char* record = bytes.data() + offset;
    const auto length = load_le<std::uint32_t>(record + 8);
    const auto body = load_le<std::uint32_t>(record + 36);
    record[kRecordFlagsAt] = static_cast<char>(record[kRecordFlagsAt] | kFlagBodiless);
    std::memset(record + length - body, 0, body);
    store_le(record, hash64({record + 8, length - 8}));
}

Result<std::optional<Record>> RecordReader::next() {
    if (flags_ != 0) {
        return Error{Errc::usage,
                     fmt::format("frame with flags {:#x}, written by a newer program", flags_)};
    }
    while (left_ > 0) {
        --left_;
        offset_ = next_;
        if (bytes_.size() < offset_ || bytes_.size() - offset_ < kRecordHeaderBytes) {
            return corrupt("frame with fewer records than it states");
        }
        const char* in = bytes_.data() + offset_;
        const auto length = load_le<std::uint32_t>(in + 8);
        const auto kind = static_cast<std::uint8_t>(in[12]);
        if (length < 16 || length > bytes_.size() - offset_) {
            return corrupt("record that leaves its frame");
        }
        next_ = offset_ + padded(length);
        if (kind >= kSkippableKinds) {
            if (kind == static_cast<std::uint8_t>(RecordKind::request)) {
                ANNALS_TRY(const Record request, decode_record(bytes_, offset_));
                request_ = request.bodiless ? std::string_view() : bytes_.substr(offset_, size());
            }
            continue;
        }
        if (kind != static_cast<std::uint8_t>(RecordKind::version) &&
            kind != static_cast<std::uint8_t>(RecordKind::erase)) {
            return Error{Errc::usage,
                         fmt::format("record of kind {}, written by a newer program", kind)};
        }
        ANNALS_TRY(Record record, decode_record(bytes_, offset_));
        if (!is_within_limits(record)) {
            return corrupt("record that exceeds the limits of the format");
        }
        return std::optional<Record>(record);
    }
    return std::optional<Record>();
}

std::string segment_name(std::uint64_t number) {
    return fmt::format("{:010}.seg", number);
}

Error at_record(std::string_view file, std::uint64_t offset, const Error& error) {
    return {error.code, fmt::format("{}: offset {}: {}", file, offset, error.detail)};
}

Error damaged_at(std::uint64_t segment, std::uint64_t offset, std::string_view why) {
    return {Errc::corrupt,
            fmt::format("segments/{}: offset {}: {}", segment_name(segment), offset, why)};
}

std::optional<std::uint64_t> parse_segment_name(std::string_view name) noexcept {
    constexpr std::size_t kDigits = 10;
    if (name.size() != kDigits + 4 || !name.ends_with(".seg")) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const char* end = name.data() + kDigits;
    if (std::from_chars(name.data(), end, number).ptr != end || number == 0) {
        return std::nullopt;
    }
    return number;
}

}  // namespace annals::storage
