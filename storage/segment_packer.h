// SegmentPacker: makes a packed segment of a segment's frames.
//
// Layer:   storage.
// Format:  docs/format.md, "Packed segment".
// Threads: one.

#pragma once

#include "storage/pack_format.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace annals::storage {

/// A larger block contains only one record.
inline constexpr std::size_t kPackBlockBytes = 4096;

/// Compresses the frames of a segment, one after the other, into the bytes of a packed one.
class SegmentPacker {
  public:
    /// `header` is that of the new file. `dictionary`: as choose_dictionary() gives it; may be empty.
    SegmentPacker(const SegmentHeader& header, std::string dictionary);
    ~SegmentPacker();
    SegmentPacker(const SegmentPacker&) = delete;
    SegmentPacker& operator=(const SegmentPacker&) = delete;

    /// Adds the next frame of the image, which is whole.
    void add_frame(std::string_view frame);

    /// A hash of everything that is in blocks after finish().
    std::uint64_t content() const noexcept { return content_; }

    /// The finished bytes of the file that were not taken before.
    std::string take();

    /// The rest of the file. `footer`: of the image, which begins where the frames end. `sources`: offsets in the image,
    /// ascending, of the records that the dictionary has pieces of.
    std::string finish(std::string_view footer, std::span<const std::uint64_t> sources);

  private:
    struct Compressor;
    void end_block();

    const SegmentHeader header_;
    std::unique_ptr<Compressor> compressor_;
    std::uint64_t image_ = kSegmentHeaderBytes;  ///< bytes of the image before block_
    std::string block_;
    std::uint64_t file_ = 0;  ///< bytes of the file before out_
    std::string out_;
    std::string table_;
    std::uint64_t blocks_ = 0;
    std::uint64_t content_ = 0;
};

}  // namespace annals::storage
