// The parts that a packed segment's file is made of, and zstd for them.
//
// Layer:   storage; of packed_segment.h and segment_packer.h.
// Format:  docs/format.md, "Packed segment".
// Threads: plain functions; a PackCompression is one thread's.

#pragma once

#include "storage/format.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// Of zstd, for blocks, dictionary and footer.
inline constexpr int kPackLevel = 12;

inline constexpr std::size_t kPackEndBytes = 80;
inline constexpr std::size_t kPackBlockEntryBytes = 8;
inline constexpr std::size_t kPackChecksumBytes = 8;  ///< before each block
inline constexpr std::size_t kPackSourceBytes = 4;
inline constexpr std::uint64_t kPackDictionaryBytesMax = 1 << 20;

/// The image of a larger segment isn't packed, and none is believed in.
inline constexpr std::uint64_t kImageBytesMax = 2ULL << 30;

/// What the end of the file says.
struct PackEnd {
    std::uint64_t image_bytes = 0;
    std::uint64_t frames_end = 0;  ///< in the image
    std::uint64_t blocks_end = 0;  ///< in the file
    std::uint32_t dictionary_packed = 0;
    std::uint32_t dictionary_bytes = 0;
    std::uint32_t sources = 0;
    std::uint32_t blocks = 0;
    std::uint64_t footer_packed = 0;
    std::uint64_t parts_checksum = 0;
    std::uint64_t footer_checksum = 0;
};

void append_pack_end(const PackEnd& end, std::uint64_t salt, std::string& out);

/// The end of `file`, of kPackEndBytes at least; only its checksum is looked at. Errors: corrupt.
Result<PackEnd> read_pack_end(std::string_view file, std::uint64_t salt);

void append_table_entry(std::uint64_t image_offset, std::uint64_t file_offset, std::string& table);

/// `footer`, a segment's footer and trailer, with its hints turned from rows into columns, and back. Errors: corrupt (it is no
/// footer).
Result<std::string> hints_to_columns(std::string_view footer);
Result<std::string> hints_to_rows(std::string_view footer);

/// Compresses, with a dictionary or without.
class PackCompression {
  public:
    /// `dictionary` may be empty.
    explicit PackCompression(std::string_view dictionary);
    ~PackCompression();
    PackCompression(const PackCompression&) = delete;
    PackCompression& operator=(const PackCompression&) = delete;

    /// Appends what `bytes` come to.
    void append(std::string_view bytes, std::string& out) const;

    /// Appends a block with its checksum.
    void append_block(std::string_view image, std::uint64_t salt, std::string& out) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Unpacks, with a dictionary or without. Threads: any.
class PackDecompression {
  public:
    PackDecompression();
    ~PackDecompression();
    PackDecompression(const PackDecompression&) = delete;
    PackDecompression& operator=(const PackDecompression&) = delete;

    /// From now on with this dictionary. False: it is none.
    bool set_dictionary(std::string_view dictionary);

    /// True if `packed` gives exactly `bytes` at `out`.
    bool unpack(std::string_view packed, char* out, std::uint64_t bytes) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
