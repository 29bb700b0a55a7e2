// LineWriter and TextReader: large files written and read piece by piece.
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

/// Writes a new file through a buffer, under its name and ".partial" until it is whole.
class LineWriter {
  public:
    /// What an attempt that failed has left under the other name is written anew. Lifetime: `files` outlives the writer.
    /// Errors: usage (the file is there already), io.
    static Result<LineWriter> create(const std::string& path,
                                     storage::FileSystem& files = storage::posix_file_system());

    /// Adds `text` and a line feed. Errors: no_store, io; the writer is useless afterwards.
    Result<void> line(std::string_view text);

    /// Writes out what is buffered and syncs. Errors: no_store, io.
    Result<void> finish();

    /// Gives the file its name, durably; after an error it has it no more. Requires: it is finished. Errors: no_store, io
    /// (also where another writer of the same file has begun it anew since).
    Result<void> publish();

    /// Takes the name from a file that was published, as far as it can be taken: it is in the way of no other attempt.
    void withdraw();

  private:
    LineWriter(storage::FileSystem& files, std::string path, std::unique_ptr<storage::File> file,
               const storage::FileFacts& facts);
    Result<void> drain();

    storage::FileSystem* files_;
    std::string path_;
    std::unique_ptr<storage::File> file_;
    std::uint64_t device_;
    std::uint64_t number_;  ///< of the file, on its device
    std::string buffer_;
    std::uint64_t offset_ = 0;
};

/// Reads JSON texts from a file or from stdin, one after another. What gzip has packed, as it begins, is unpacked.
///
/// A text is a line; or, where `lines_only` is false, also an object that starts on one line and ends on
/// another. Blank lines are passed over. A broken object ends where the next line can't belong to it.
class TextReader {
  public:
    /// `path` "-" is stdin. Errors: usage (can't be opened).
    static Result<TextReader> open(const std::string& path, bool lines_only);

    /// Puts the next text into `text`; false at the end of the file.
    /// Errors: io; invalid (a text larger than kJsonBytesMax); corrupt (it is packed, and not whole).
    Result<bool> next(std::string& text);

    /// The line on which the last text began, counted from 1.
    std::uint64_t line() const noexcept { return text_line_; }

    /// Bytes of the file taken so far.
    std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  private:
    struct Close {
        void operator()(std::FILE* file) const noexcept;
    };

    TextReader(std::string path, std::FILE* file, bool lines_only);
    Result<bool> read_line(std::string& text);

    /// Appends what comes next to the buffer; false at the end of the file.
    Result<bool> fill();
    Error badly_packed(std::string_view how) const;
    Error too_large(std::uint64_t line) const;

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool lines_only_;
    std::unique_ptr<net::Decoder> unpacker_;  ///< null: it isn't packed
    std::string buffer_;
    std::size_t begin_ = 0;
    std::string kept_;  // a line read too early
    std::uint64_t line_ = 0;
    std::uint64_t text_line_ = 0;
    std::uint64_t bytes_read_ = 0;
};

}  // namespace annals::tools
