// The parts that a packed segment's file is made of, and zstd for them.
//
// Layer:   storage; private to packed_segment and segment_packer.
// Format:  docs/format.md, "Packed segment".
// Threads: plain functions; a PackCompression is one thread's.

#pragma once

#include "storage/format.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::storage {

/// zstd's level, for blocks, dictionary and footer.
inline constexpr int kPackLevel = 12;

inline constexpr std::size_t kPackEndBytes = 80;
inline constexpr std::size_t kPackBlockEntryBytes = 8;
inline constexpr std::size_t kPackChecksumBytes = 8;  ///< before each block
inline constexpr std::size_t kPackSourceBytes = 4;
inline constexpr std::uint64_t kPackDictionaryBytesMax = 1 << 20;

/// Segments with a larger image are not packed; a file that claims one is taken for damaged.
inline constexpr std::uint64_t kImageBytesMax = 2ULL << 30;

/// The contents of the file's end.
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

/// Reads the end of `file`, which has at least kPackEndBytes; only the checksum is checked. Errors: corrupt.
Result<PackEnd> read_pack_end(std::string_view file, std::uint64_t salt);

void append_table_entry(std::uint64_t image_offset, std::uint64_t file_offset, std::string& table);

/// Converts the hints in `footer`, a segment's footer and trailer, from rows to columns, and back. Errors: corrupt (it is not a
/// footer).
Result<std::string> hints_to_columns(std::string_view footer);
Result<std::string> hints_to_rows(std::string_view footer);

/// Compresses with or without a dictionary.
class PackCompression {
  public:
    /// `dictionary` may be empty.
    explicit PackCompression(std::string_view dictionary);
    ~PackCompression();
    PackCompression(const PackCompression&) = delete;
    PackCompression& operator=(const PackCompression&) = delete;

    /// Appends `bytes`, compressed.
    void append(std::string_view bytes, std::string& out) const;

    /// Appends a compressed block with its checksum.
    void append_block(std::string_view image, std::uint64_t salt, std::string& out) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Unpacks with or without a dictionary. Threads: any.
class PackDecompression {
  public:
    PackDecompression();
    ~PackDecompression();
    PackDecompression(const PackDecompression&) = delete;
    PackDecompression& operator=(const PackDecompression&) = delete;

    /// Uses this dictionary from now on. False: it isn't one.
    bool set_dictionary(std::string_view dictionary);

    /// Whether `packed` unpacks to exactly `bytes`, which it writes to `out`.
    bool unpack(std::string_view packed, char* out, std::uint64_t bytes) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
