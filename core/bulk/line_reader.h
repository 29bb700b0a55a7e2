// LineReader: reads a large file line by line, with only a portion in memory.
//
// Layer:   core/bulk.
// Threads: belongs to one thread; blocks.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace annals::core {

class LineReader {
  public:
    /// Reads `file` from `offset` on. Lines may have at most `line_bytes_max` bytes.
    LineReader(std::unique_ptr<storage::File> file, std::uint64_t offset,
               std::size_t line_bytes_max)
        : file_(std::move(file)), offset_(offset), line_bytes_max_(line_bytes_max) {}

    /// Reads the next line, without its LF or CRLF; false after the last one. A longer line than allowed is skipped: then
    /// `line` is empty and too_long() is true. Lifetime: `line` is valid until the next call. Errors: io.
    Result<bool> next(std::string_view& line);

    /// Whether the last line was too long.
    bool too_long() const noexcept { return too_long_; }

    /// Where the next line begins in the file.
    std::uint64_t offset() const noexcept { return offset_; }

  private:
    Result<bool> fill();

    /// The bytes read so far, from the beginning of the buffer.
    std::string_view held() const noexcept { return {buffer_.get(), end_}; }

    std::unique_ptr<storage::File> file_;
    std::uint64_t offset_;  // of buffer_[begin_]
    std::size_t line_bytes_max_;
    std::unique_ptr<char[]> buffer_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool too_long_ = false;
};

}  // namespace annals::core
