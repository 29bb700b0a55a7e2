// PackedSegment: a sealed segment whose file holds its bytes in compressed blocks.
//
// What is compressed is the *image*: the file of the same segment unpacked, with its frames, records and footer. All offsets
// that the rest of storage knows (Location, Hint) are those of the image.
//
// Layer:   storage.
// Format:  docs/format.md, "Packed segment".
// Threads: any, all const.

#pragma once

#include "storage/pack_format.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

/// A part of the image: whole records, each with the header of its frame if it is the first there.
struct ImagePart {
    std::shared_ptr<const char> data;
    std::uint64_t offset = 0;  ///< in the image
    std::uint64_t bytes = 0;

    std::string_view view() const noexcept { return {data.get(), bytes}; }
};

class PackedSegment {
  public:
    /// Called with an offset in the file and what is wrong there.
    using OnDamage = std::function<void(std::uint64_t offset, std::string_view why)>;

    /// Opens `data`, the whole file of `bytes` with this header. Checks everything except the blocks and the footer.
    /// `on_damage`, if set, is called for the error, too. Errors: corrupt.
    static Result<std::shared_ptr<const PackedSegment>> open(const SegmentHeader& header,
                                                             std::shared_ptr<const char> data,
                                                             std::uint64_t bytes,
                                                             const OnDamage& on_damage = {});
    ~PackedSegment();
    PackedSegment(const PackedSegment&) = delete;
    PackedSegment& operator=(const PackedSegment&) = delete;

    std::uint64_t image_bytes() const noexcept { return image_bytes_; }

    /// Where the image's frames end, and its footer begins.
    std::uint64_t frames_end() const noexcept { return frames_end_; }

    /// Unpacks the block that contains the record at `offset` of the image, which lacks the checksums of frames and records.
    /// What a thread read lately is not unpacked again. Errors: corrupt.
    Result<ImagePart> read(std::uint64_t offset) const;

    /// The part of the file that read() of `offset` unpacks; empty if there is none.
    std::string_view packed(std::uint64_t offset) const noexcept;

    /// Footer and trailer of the image. Errors: corrupt.
    Result<std::string> footer() const;

    /// The image, with its checksums. With `on_damage`, which is called for every damaged part, zeros replace such parts.
    /// Errors: corrupt, without it.
    Result<std::shared_ptr<const char>> image(const OnDamage& on_damage = {}) const;

    /// What SegmentPacker::content() was, if every block still has its original contents. Errors: corrupt.
    Result<std::uint64_t> content() const;

    /// Offsets in the image, ascending, of the records that the dictionary has pieces of.
    const std::vector<std::uint64_t>& sources() const noexcept { return sources_; }

    /// The blocks' dictionary; empty if there is none. Errors: corrupt.
    Result<std::string> dictionary() const;

    /// The file of this segment without the bodies of the records at `records` (offsets in the image, ascending). Empty if the
    /// dictionary has pieces of them, so that it must be replaced. Errors: corrupt.
    Result<std::string> without(std::span<const std::uint64_t> records) const;

  private:
    explicit PackedSegment(const SegmentHeader& header);

    struct Block {
        std::uint64_t image_offset = 0;
        std::uint64_t image_bytes = 0;
        std::uint64_t file_offset = 0;
        std::uint64_t file_bytes = 0;
    };

    Block block(std::uint64_t index) const noexcept;
    std::uint64_t block_of(std::uint64_t image_offset) const noexcept;
    Result<void> unpack(const Block& block, char* out) const;
    Result<void> open_parts(const OnDamage& on_damage);
    bool read_sources(const char* at, std::uint32_t count);
    std::string_view fault_of_table() const;
    Error damaged(std::uint64_t offset, std::string_view why) const;

    SegmentHeader header_;
    std::shared_ptr<const char> data_;
    std::uint64_t bytes_ = 0;
    std::uint64_t serial_ = 0;  ///< unique among all that this process ever opened
    std::uint64_t image_bytes_ = 0;
    std::uint64_t frames_end_ = 0;
    std::uint64_t blocks_end_ = 0;  ///< in the file
    std::uint64_t block_count_ = 0;
    const char* table_ = nullptr;
    std::uint64_t table_at_ = 0;   ///< in the file
    std::uint64_t footer_at_ = 0;  ///< in the file
    std::vector<std::uint64_t> sources_;
    std::string_view dictionary_packed_;
    std::uint64_t dictionary_bytes_ = 0;
    PackDecompression blocks_;
    PackDecompression parts_;  ///< for what is compressed without a dictionary
};

}  // namespace annals::storage
