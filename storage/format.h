// The bytes of a segment's header, frames and records.
//
// Layer:   storage; core/base only.
// Format:  docs/format.md draws every layout; segment_footer.h has the footer.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "storage/types.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::storage {

/// The layout of a segment's file; the value is the format version in its header.
enum class SegmentFormat : std::uint32_t { plain = 1, packed = 2 };

inline constexpr std::uint32_t kFormatVersion = 2;  ///< the newest
inline constexpr std::size_t kSegmentHeaderBytes = 64;
inline constexpr std::size_t kFrameHeaderBytes = 56;
inline constexpr std::uint32_t kFrameMagic = 0x4d52'4641;  ///< "AFRM"
inline constexpr std::size_t kRecordHeaderBytes = 40;
inline constexpr std::size_t kHeaderStoreIdAt = 16;        ///< in a segment's header
inline constexpr std::size_t kHeaderNumberAt = 24;         ///< likewise
inline constexpr std::size_t kHeaderFirstPositionAt = 32;  ///< likewise
inline constexpr std::size_t kHeaderSaltAt = 40;           ///< likewise
inline constexpr std::size_t kHeaderLastInstantAt = 48;    ///< likewise
inline constexpr std::size_t kRecordFlagsAt = 14;          ///< in a record's header
inline constexpr std::uint8_t kFlagBodiless = 2;           ///< of a record whose body is gone
inline constexpr std::size_t kAlignment = 8;               ///< of frames and records

/// `bytes` rounded up to the alignment of frames and records.
constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + (kAlignment - 1)) & ~std::uint64_t{kAlignment - 1};
}

/// Kinds of records. Values are never reused; from 128 on, readers that don't know a kind skip it.
enum class RecordKind : std::uint8_t { version = 1, erase = 2, request = 128 };
inline constexpr std::uint8_t kSkippableKinds = 128;

struct SegmentHeader {
    SegmentFormat format = SegmentFormat::plain;
    std::uint64_t store_id = 0;
    std::uint64_t number = 0;
    Position first_position;
    std::uint64_t salt = 0;
    Instant last_instant;  ///< of the last commit before this segment
};

/// Writes kSegmentHeaderBytes to `out`.
void encode_segment_header(const SegmentHeader& header, char* out) noexcept;

/// Reads the start of a segment. `path` is for the error's text.
/// Errors: usage (newer format), corrupt.
Result<SegmentHeader> decode_segment_header(std::string_view bytes, std::string_view path);

struct FrameHeader {
    std::uint64_t length = 0;  ///< header included
    Position first_position;
    Instant instant;
    std::uint64_t synced_offset = 0;
    std::uint32_t record_count = 0;
    std::uint32_t flags = 0;  ///< as read; this program knows none
};

/// Fills in the header, without flags, and the checksums of the frame at `frame`, whose records are in place.
/// Requires: header.length readable and writable bytes.
void finish_frame(const FrameHeader& header, std::uint64_t salt, char* frame) noexcept;

/// What the header of a frame at `frame` says. Requires: kFrameHeaderBytes readable bytes.
FrameHeader read_frame_header(const char* frame) noexcept;

/// Whether `bytes`, at least kFrameHeaderBytes, begin with a frame header whose short checksum is right.
bool is_frame_header(std::string_view bytes, std::uint64_t salt) noexcept;

/// The header of the frame that begins and ends within `bytes`, if its short checksum is right. Nothing else is checked.
std::optional<FrameHeader> peek_frame(std::string_view bytes, std::uint64_t salt) noexcept;

/// The frame that begins at `bytes`, if it is whole. Cost: if there is none, a checksum over 44 bytes.
std::optional<FrameHeader> decode_frame(std::string_view bytes, std::uint64_t salt) noexcept;

/// One record, to write or as read. Lifetime: views point at the caller's or the log's bytes.
struct Record {
    RecordKind kind = RecordKind::version;
    Method method = Method::put;                    ///< of a version
    Erase::Scope scope = Erase::Scope::everything;  ///< of an erase
    bool deletion = false;
    bool bodiless = false;  ///< an erased version whose body is gone: zeros, or none at all
    std::string_view type;
    std::string_view id;
    VersionNumber version;
    Instant instant;
    std::span<const std::uint64_t> terms;
    std::string_view body;
};

/// The record of the request that made a commit, with `id` as its body. Lifetime: that of `id`.
Record request_record(std::string_view id) noexcept;

/// Size of a record, padding included, with a body of `body_bytes`.
std::uint64_t record_bytes(const Record& record, std::uint64_t body_bytes) noexcept;

/// Appends `record` with padding to `out`, its body made of `pieces` (record.body is not used). Returns the body in `out`.
/// Requires: out.size() is a multiple of kAlignment; sizes within the format's limits.
std::string_view append_record(const Record& record, std::span<const BodyPiece> pieces,
                               std::string& out);

/// Size of the body that `pieces` make for version number `version`.
std::uint64_t body_bytes(std::span<const BodyPiece> pieces, VersionNumber version) noexcept;

/// Appends the body that `pieces` make for a version.
void append_body(std::span<const BodyPiece> pieces, VersionNumber version, Instant instant,
                 std::string& out);

/// The length of the record at `offset`, if a record of that length fits there. Reads only its header.
std::optional<std::uint32_t> record_length(std::string_view bytes, std::uint64_t offset) noexcept;

/// The record at `offset` of a mapped file, checksum verified.
/// Requires: `bytes` and `offset` aligned to kAlignment. Errors: corrupt (also for an unknown kind); without the place.
Result<Record> decode_record(std::string_view bytes, std::uint64_t offset);

/// As decode_record(), but without verifying the checksum: for bytes that another one covers.
Result<Record> parse_record(std::string_view bytes, std::uint64_t offset);

/// Sets the checksums in the header of the frame at `frame` to zero.
void clear_frame_checksums(char* frame) noexcept;

/// Computes the checksums of the frames, and of their records, from `at` up to `end` in `bytes`, the start of a segment's file.
/// Returns where it stopped: at `end`, or where there is no frame. Requires: `end` readable and writable bytes.
std::uint64_t restore_checksums(char* bytes, std::uint64_t at, std::uint64_t end,
                                std::uint64_t salt) noexcept;

/// Erases the body of the version record at `offset` of `bytes`, which must be whole: overwrites it with zeros, and updates
/// flag and checksum.
void blank_record(std::string& bytes, std::uint64_t offset) noexcept;

/// Walks the records of one whole frame.
class RecordReader {
  public:
    /// `frame` is at `offset` of the file `bytes`. Lifetime: the views live as long as `bytes`.
    RecordReader(std::string_view bytes, std::uint64_t offset, const FrameHeader& frame) noexcept
        : bytes_(bytes.substr(0, offset + frame.length)),
          next_(offset + kFrameHeaderBytes),
          offset_(offset),
          left_(frame.record_count),
          flags_(frame.flags) {}

    /// The next record of a known kind, none at the end.
    /// Errors: corrupt, usage (an unknown kind, or a frame with flags); without the place, which is offset().
    Result<std::optional<Record>> next();

    /// The record of the commit's request with its padding, once next() has passed it; empty if there is none or it was erased.
    std::string_view request() const noexcept { return request_; }

    /// Offset and padded size of what next() returned or refused last; before that, the offset is the frame's.
    std::uint64_t offset() const noexcept { return offset_; }

    std::uint64_t size() const noexcept { return next_ - offset_; }

  private:
    std::string_view bytes_;
    std::uint64_t next_;
    std::uint64_t offset_;
    std::string_view request_;
    std::uint32_t left_;
    std::uint32_t flags_;
};

/// "0000000001.seg"
std::string segment_name(std::uint64_t number);

/// `error`, of a record or frame, with its place: `offset` of `file`.
Error at_record(std::string_view file, std::uint64_t offset, const Error& error);

/// The error for a segment that is not what it should be at `offset` of its file.
Error damaged_at(std::uint64_t segment, std::uint64_t offset, std::string_view why);

/// The number in a segment's file name; none if it is no such name.
std::optional<std::uint64_t> parse_segment_name(std::string_view name) noexcept;

}  // namespace annals::storage
