#include "core/bulk/line_reader.h"

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::size_t kPortion = 1 << 20;

}  // namespace

// Adds a portion to what is there; false at the end of the file.
Result<bool> LineReader::fill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t held = buffer_.size();
    buffer_.resize(held + kPortion);
    ANNALS_TRY(const std::size_t count,
               file_->read(offset_ + held, std::span(buffer_).subspan(held)));
    buffer_.resize(held + count);
    return count > 0;
}

Result<bool> LineReader::next(std::string_view& line) {
    too_long_ = false;
    std::size_t searched = begin_;
    for (;;) {
        const std::size_t end = buffer_.find('\n', searched);
        if (end != std::string::npos) {
            line = std::string_view(buffer_).substr(begin_, end - begin_);
            offset_ += end + 1 - begin_;
            begin_ = end + 1;
            break;
        }
        if (buffer_.size() - begin_ > line_bytes_max_) {
            // Its beginning is of no use: only where it ends is looked for.
            offset_ += buffer_.size() - begin_;
            begin_ = buffer_.size();
            too_long_ = true;
        }
        searched = buffer_.size() - begin_;
        ANNALS_TRY(const bool more, fill());
        if (!more) {
            line = std::string_view(buffer_).substr(begin_);
            offset_ += line.size();
            begin_ = buffer_.size();
            if (line.empty() && !too_long_) {
                return false;
            }
            break;
        }
    }
    if (too_long_) {
        line = {};
    }
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    return true;
}

}  // namespace annals::core
