// LineReader: the lines of a large file, a portion in memory at a time.
//
// Layer:   core/bulk.
// Threads: one; blocks.

#pragma once

#include "core/base/result.h"
#include "storage/file_system.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace annals::core {

class LineReader {
  public:
    /// Reads `file` from `offset` on. A line is at most `line_bytes_max` long.
    LineReader(std::unique_ptr<storage::File> file, std::uint64_t offset,
               std::size_t line_bytes_max)
        : file_(std::move(file)), offset_(offset), line_bytes_max_(line_bytes_max) {}

    /// The next line without its end (a line feed, or carriage return and line feed); false behind the last one.
    /// One that is too long is passed over, and `line` is empty then, `too_long()` true.
    /// Lifetime: of `line`: until the next call. Errors: io.
    Result<bool> next(std::string_view& line);

    /// Was the last line too long?
    bool too_long() const noexcept { return too_long_; }

    /// Where the next line begins in the file.
    std::uint64_t offset() const noexcept { return offset_; }

  private:
    Result<bool> fill();

    /// All that has been read, from the beginning of the buffer.
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
