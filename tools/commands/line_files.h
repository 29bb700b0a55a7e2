// LineWriter and TextReader: write and read large files piece by piece.
//
// Layer:   tools.
// Threads: one each.

#pragma once

#include "core/base/result.h"
#include "net/coding.h"
#include "storage/file_system.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace annals::tools {

/// Writes a new file through a buffer, under its name with ".partial" until it is complete.
class LineWriter {
  public:
    /// A ".partial" file left by a failed attempt is overwritten. Lifetime: `files` outlives the writer.
    /// Errors: usage (the file is there already), io.
    static Result<LineWriter> create(const std::string& path,
                                     storage::FileSystem& files = storage::posix_file_system());

    /// Adds `text` and a line feed. Errors: no_store, io; the writer is useless afterwards.
    Result<void> line(std::string_view text);

    /// Flushes the buffer and syncs. Errors: no_store, io.
    Result<void> finish();

    /// Gives the file its name, durably; on errors it loses it again. Requires: it is finished. Errors: no_store, io
    /// (also if another writer has started the same file over since).
    Result<void> publish();

    /// Takes the name from a published file again, if possible, so that it doesn't block another attempt.
    void withdraw();

  private:
    LineWriter(storage::FileSystem& files, std::string path, std::unique_ptr<storage::File> file,
               const storage::FileFacts& facts);
    Result<void> drain();

    storage::FileSystem* files_;
    std::string path_;
    std::unique_ptr<storage::File> file_;
    std::uint64_t device_;
    std::uint64_t number_;  ///< the file's inode number
    std::string buffer_;
    std::uint64_t offset_ = 0;
};

/// Reads JSON texts one after another from a file or stdin. Unpacks gzip if it starts like that.
///
/// A text is a line; or, unless `lines_only`, also an object that spans several
/// lines. Blank lines are skipped. A broken object ends where the next line can't belong to it.
class TextReader {
  public:
    /// `path` "-" is stdin. Errors: usage (can't be opened).
    static Result<TextReader> open(const std::string& path, bool lines_only);

    /// Reads the next text into `text`; false at the end of the file.
    /// Errors: io; invalid (a text larger than kJsonBytesMax); corrupt (the gzip data is damaged or truncated).
    Result<bool> next(std::string& text);

    /// The line on which the last text starts, counted from 1.
    std::uint64_t line() const noexcept { return text_line_; }

    /// Bytes of the file read so far.
    std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const noexcept;
    };

    TextReader(std::string path, std::FILE* file, bool lines_only);
    Result<bool> read_line(std::string& text);

    /// Appends the next bytes to the buffer; false at the end of the file.
    Result<bool> fill();
    Error badly_packed(std::string_view how) const;
    Error too_large(std::uint64_t line) const;

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool lines_only_;
    std::unique_ptr<net::Decoder> unpacker_;  ///< null: not compressed
    std::string buffer_;
    std::size_t begin_ = 0;
    std::string kept_;  // a line read too early
    std::uint64_t line_ = 0;
    std::uint64_t text_line_ = 0;
    std::uint64_t bytes_read_ = 0;
};

}  // namespace annals::tools
