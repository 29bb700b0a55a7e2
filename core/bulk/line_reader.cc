#include "core/bulk/line_reader.h"

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::size_t kPortion = 1 << 20;

}  // namespace

// Reads another portion; false at the end of the file.
Result<bool> LineReader::fill() {
    const std::string_view rest = held().substr(begin_);
    if (capacity_ < rest.size() + kPortion) {
        capacity_ = rest.size() + kPortion;
        auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
        std::copy(rest.begin(), rest.end(), larger.get());
        buffer_ = std::move(larger);
    } else {
        std::copy(rest.begin(), rest.end(), buffer_.get());
    }
    begin_ = 0;
    end_ = rest.size();
    ANNALS_TRY(const std::size_t count,
               file_->read(offset_ + end_, {buffer_.get() + end_, kPortion}));
    end_ += count;
    return count > 0;
}

Result<bool> LineReader::next(std::string_view& line) {
    too_long_ = false;
    std::size_t searched = begin_;
    for (;;) {
        const std::size_t end = held().find('\n', searched);
        if (end != std::string_view::npos) {
            line = held().substr(begin_, end - begin_);
            offset_ += end + 1 - begin_;
            begin_ = end + 1;
            break;
        }
        if (end_ - begin_ > line_bytes_max_) {
            // Too long: drops its beginning and only looks for its end.
            offset_ += end_ - begin_;
            begin_ = end_;
            too_long_ = true;
        }
        searched = end_ - begin_;
        ANNALS_TRY(const bool more, fill());
        if (!more) {
            line = held().substr(begin_);
            offset_ += line.size();
            begin_ = end_;
            if (line.empty() && !too_long_) {
                return false;
            }
            break;
        }
    }
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    // A line that is too long may still have been read completely in one portion.
    too_long_ = too_long_ || line.size() > line_bytes_max_;
    if (too_long_) {
        line = {};
    }
    return true;
}

}  // namespace annals::core
