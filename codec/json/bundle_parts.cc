#include "codec/json/bundle_parts.h"

namespace annals::json {

namespace {

constexpr std::string_view kEntryName = "\"entry\":";

/// Whether a backslash before the quote, which is in a string, belongs to it. The string's own quote has none before it.
bool is_escaped(std::string_view text, std::size_t quote) noexcept {
    std::size_t first = quote;
    while (first > 0 && text[first - 1] == '\\') {
        --first;
    }
    return (quote - first) % 2 != 0;
}

}  // namespace

void BundleParts::add(std::string_view portion) {
    text_.erase(0, begin_);
    at_ -= begin_;
    begin_ = 0;
    text_.append(portion);
}

std::string_view BundleParts::take(std::size_t end) {
    const std::string_view part = std::string_view(text_).substr(begin_, end - begin_);
    begin_ = end;
    return part;
}

bool BundleParts::opens_entries(std::size_t bracket) const {
    // The quote of a member's name follows a brace or a comma; inside a longer name, it would follow a backslash.
    const std::string_view before = std::string_view(text_).substr(0, bracket);
    if (depth_ != 1 || !before.ends_with(kEntryName) || before.size() == kEntryName.size()) {
        return false;
    }
    const char c = before[before.size() - kEntryName.size() - 1];
    return c == '{' || c == ',';
}

bool BundleParts::next(BundlePart& part) {
    if (kind_ == BundlePart::Kind::tail) {
        at_ = text_.size();
        return false;
    }
    while (at_ < text_.size()) {
        if (in_string_) {
            const std::size_t quote = text_.find('"', at_);
            if (quote == std::string::npos) {
                at_ = text_.size();
                return false;
            }
            in_string_ = is_escaped(text_, quote);
            at_ = quote + 1;
            continue;
        }

        const std::size_t place = at_++;
        switch (text_[place]) {
            case '"':
                in_string_ = true;
                break;
            case '{':
            case '[':
                if (kind_ == BundlePart::Kind::head && text_[place] == '[' &&
                    opens_entries(place)) {
                    part = {kind_, take(at_)};
                    kind_ = BundlePart::Kind::entry;
                    depth_ = 0;  // from here on, relative to the entry
                    return true;
                }
                ++depth_;
                break;
            case ',':
                if (kind_ == BundlePart::Kind::entry && depth_ == 0) {
                    begin_ = at_;
                }
                break;
            case '}':
            case ']':
                if (kind_ == BundlePart::Kind::entry && depth_ == 0) {
                    kind_ = BundlePart::Kind::tail;
                    begin_ = place;
                    return false;
                }
                --depth_;
                if (kind_ == BundlePart::Kind::entry && depth_ == 0) {
                    part = {kind_, take(at_)};
                    return true;
                }
                break;
            default:
                break;
        }
    }
    return false;
}

bool BundleParts::rest(BundlePart& part) const {
    part = {kind_, std::string_view(text_).substr(begin_)};
    return !part.text.empty();
}

}  // namespace annals::json
