#include "tools/commands/line_files.h"

#include "core/base/limits.h"
#include "core/base/text.h"
#include "storage/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace annals::tools {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

/// Less is read at once from gzip files: it may become a thousand times as much.
constexpr std::size_t kPackedBytes = 64 << 10;

/// How gzip files begin, and JSON never does (RFC 1952).
constexpr std::string_view kGzipMark = "\x1f\x8b";

/// The suffix of a file's name until it is complete.
constexpr std::string_view kPartial = ".partial";

/// Tracks brackets and strings, to find the end of an object that spans several lines.
class DepthScan {
  public:
    void feed(std::string_view text) {
        for (const char c : text) {
            if (in_string_) {
                if (escaped_) {
                    escaped_ = false;
                } else if (c == '\\') {
                    escaped_ = true;
                } else if (c == '"') {
                    in_string_ = false;
                }
                continue;
            }
            if (c == '"') {
                in_string_ = true;
            } else if (c == '{' || c == '[') {
                open_.push_back(c);
            } else if ((c == '}' || c == ']') && !open_.empty()) {
                open_.pop_back();
            }
            if (!is_space(c)) {
                last_ = c;
            }
        }
    }

    bool open() const noexcept { return !open_.empty(); }

    /// True unless `line` begins an object where JSON doesn't allow one.
    bool may_go_on_with(std::string_view line) const noexcept {
        while (!line.empty() && is_space(line.front())) {
            line.remove_prefix(1);
        }
        if (!line.starts_with('{')) {
            return true;
        }
        return !in_string_ && (open_.back() == '[' ? last_ == '[' || last_ == ',' : last_ == ':');
    }

  private:
    static bool is_space(char c) noexcept {
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
    }

    std::string open_;
    char last_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;
};

bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

// ---- LineWriter ----

LineWriter::LineWriter(storage::FileSystem& files, std::string path,
                       std::unique_ptr<storage::File> file, const storage::FileFacts& facts)
    : files_(&files),
      path_(std::move(path)),
      file_(std::move(file)),
      device_(facts.device),
      number_(facts.number) {
    buffer_.reserve(kBufferBytes);
}

Result<LineWriter> LineWriter::create(const std::string& path, storage::FileSystem& files) {
    if (files.exists(path)) {
        return Error{Errc::usage, path + " already exists"};
    }
    const std::string draft = path + std::string(kPartial);
    ANNALS_TRY(auto file, storage::create_anew(files, draft));
    ANNALS_TRY(const storage::FileFacts facts, files.facts(draft));
    return LineWriter(files, path, std::move(file), facts);
}

Result<void> LineWriter::line(std::string_view text) {
    if (buffer_.size() + text.size() + 1 > kBufferBytes) {
        ANNALS_TRY_VOID(drain());
    }
    buffer_.append(text);
    buffer_.push_back('\n');
    return {};
}

Result<void> LineWriter::drain() {
    if (buffer_.empty()) {
        return {};
    }
    if (auto written = file_->write(offset_, buffer_); !written) {
        return Error{written.error().code, path_ + ": " + written.error().detail};
    }
    offset_ += buffer_.size();
    buffer_.clear();
    return {};
}

Result<void> LineWriter::finish() {
    ANNALS_TRY_VOID(drain());
    return file_->sync();
}

Result<void> LineWriter::publish() {
    const std::string draft = path_ + std::string(kPartial);
    const auto there = files_->facts(draft);
    if (!there || there->device != device_ || there->number != number_) {
        return Error{Errc::io, draft + ": another process has started to write it as well"};
    }
    ANNALS_TRY_VOID(files_->rename(draft, path_));
    Result<void> synced = files_->sync_directory(storage::directory_of(path_));
    if (!synced) {
        withdraw();
    }
    return synced;
}

void LineWriter::withdraw() {
    // The fault that leads here is reported.
    (void)files_->rename(path_, path_ + std::string(kPartial));
}

// ---- TextReader ----

void TextReader::Close::operator()(std::FILE* file) const noexcept {
    if (file != stdin) {
        std::fclose(file);
    }
}

TextReader::TextReader(std::string path, std::FILE* file, bool lines_only)
    : path_(std::move(path)), file_(file), lines_only_(lines_only) {
}

Result<TextReader> TextReader::open(const std::string& path, bool lines_only) {
    if (path == "-") {
        return TextReader("stdin", stdin, lines_only);
    }
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        return Error{Errc::usage, fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return TextReader(path, file, lines_only);
}

Result<bool> TextReader::fill() {
    const std::size_t size = buffer_.size();
    const bool begins = bytes_read_ == 0;
    buffer_.resize(size + (begins || unpacker_ != nullptr ? kPackedBytes : kBufferBytes));
    const std::size_t got =
        std::fread(buffer_.data() + size, 1, buffer_.size() - size, file_.get());
    buffer_.resize(size + got);
    bytes_read_ += got;
    if (got == 0) {
        if (std::ferror(file_.get()) != 0) {
            return Error{Errc::io, path_ + ": cannot be read"};
        }
        const bool whole = unpacker_ == nullptr || unpacker_->complete();
        return whole ? Result<bool>(false) : badly_packed("is cut short");
    }
    if (begins && buffer_.starts_with(kGzipMark)) {
        unpacker_ = net::make_decoder(net::Coding::gzip);
        if (unpacker_ == nullptr) {
            return Error{Errc::io, path_ + ": not enough memory to decompress it"};
        }
    }
    if (unpacker_ != nullptr) {
        const std::string packed = buffer_.substr(size);
        buffer_.resize(size);
        if (unpacker_->add(packed, buffer_.max_size(), buffer_) != net::Decoder::Step::taken) {
            return badly_packed("is damaged");
        }
    }
    return true;
}

Error TextReader::badly_packed(std::string_view how) const {
    return {Errc::corrupt,
            fmt::format("{}: the gzip data {}, somewhere after line {}", path_, how, line_)};
}

Result<bool> TextReader::read_line(std::string& text) {
    if (!kept_.empty()) {
        text.append(kept_);
        kept_.clear();
        ++line_;
        return true;
    }
    std::size_t searched = begin_;
    while (true) {
        const std::size_t end = buffer_.find('\n', searched);
        if (end != std::string::npos) {
            text.append(buffer_, begin_, end + 1 - begin_);
            begin_ = end + 1;
            ++line_;
            return true;
        }
        buffer_.erase(0, begin_);
        begin_ = 0;
        searched = buffer_.size();
        if (text.size() + buffer_.size() > kJsonBytesMax) {
            return too_large(line_ + 1);
        }
        ANNALS_TRY(const bool more, fill());
        if (!more) {
            if (buffer_.empty()) {
                return false;
            }
            text.append(buffer_);
            buffer_.clear();
            ++line_;
            return true;
        }
    }
}

Result<bool> TextReader::next(std::string& text) {
    text.clear();
    do {
        text.clear();
        ANNALS_TRY(const bool more, read_line(text));
        if (!more) {
            return false;
        }
        if (line_ == 1 && text.starts_with(kByteOrderMark)) {
            text.erase(0, kByteOrderMark.size());
        }
    } while (blank(text));
    text_line_ = line_;
    if (lines_only_) {
        return true;
    }
    DepthScan scan;
    std::size_t scanned = 0;
    while (true) {
        scan.feed(std::string_view(text).substr(scanned));
        scanned = text.size();
        if (!scan.open()) {
            return true;
        }
        std::string line;
        ANNALS_TRY(const bool more, read_line(line));
        if (!more) {
            return true;
        }
        if (!scan.may_go_on_with(line)) {
            kept_ = std::move(line);
            --line_;
            return true;
        }
        if (text.size() + line.size() > kJsonBytesMax) {
            return too_large(text_line_);
        }
        text.append(line);
    }
}

Error TextReader::too_large(std::uint64_t line) const {
    return {Errc::invalid, fmt::format("{}:{}: too large", path_, line)};
}

}  // namespace annals::tools
