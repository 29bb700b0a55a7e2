#include "codec/fhirpath/html.h"

#include <algorithm>
#include <array>
#include <vector>

namespace annals::fhirpath {
namespace {

constexpr std::size_t kDepthMax = 200;

constexpr auto kElements = std::to_array<std::string_view>(
    {"a",       "abbr", "acronym", "area",  "b",        "bdo",    "big", "blockquote", "br",
     "caption", "cite", "code",    "col",   "colgroup", "dd",     "del", "dfn",        "div",
     "dl",      "dt",   "em",      "h1",    "h2",       "h3",     "h4",  "h5",         "h6",
     "hr",      "i",    "img",     "ins",   "kbd",      "li",     "map", "ol",         "p",
     "pre",     "q",    "samp",    "small", "span",     "strong", "sub", "sup",        "table",
     "tbody",   "td",   "tfoot",   "th",    "thead",    "tr",     "tt",  "ul",         "var"});

constexpr auto kAttributes = std::to_array<std::string_view>(
    {"abbr",       "accesskey",   "align",       "alt",        "axis",    "bgcolor",  "border",
     "cellhalign", "cellpadding", "cellspacing", "cellvalign", "char",    "charoff",  "charset",
     "cite",       "class",       "color",       "colspan",    "compact", "coords",   "datetime",
     "dir",        "frame",       "headers",     "height",     "href",    "hreflang", "id",
     "lang",       "longdesc",    "name",        "nowrap",     "rel",     "rev",      "rowspan",
     "rules",      "scope",       "shape",       "size",       "span",    "src",      "start",
     "style",      "summary",     "tabindex",    "title",      "type",    "usemap",   "valign",
     "value",      "width",       "xml:lang",    "xml:space",  "xmlns"});

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '-' || c == '.';
}

class Checker {
  public:
    explicit Checker(std::string_view text) : text_(text) {}

    bool check() {
        skip_space();
        if (!text_.substr(at_).starts_with("<div")) {
            return false;
        }
        do {
            if (at_ == text_.size() || !item()) {
                return false;
            }
        } while (!open_.empty());
        skip_space();
        return at_ == text_.size() && content_;
    }

  private:
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }

    bool take(std::string_view token) {
        if (!text_.substr(at_).starts_with(token)) {
            return false;
        }
        at_ += token.size();
        return true;
    }

    bool skip_to(std::string_view token) {
        const std::size_t end = text_.find(token, at_);
        if (end == std::string_view::npos) {
            return false;
        }
        at_ = end + token.size();
        return true;
    }

    std::string_view name() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name(text_[at_])) {
            ++at_;
        }
        return text_.substr(begin, at_ - begin);
    }

    // A tag, a comment or a run of text.
    bool item() {
        if (text_[at_] == '&') {
            return entity();
        }
        if (text_[at_] != '<') {
            while (at_ < text_.size() && text_[at_] != '<' && text_[at_] != '&') {
                content_ = content_ || !is_space(text_[at_]);
                ++at_;
            }
            return true;
        }
        if (take("<!--")) {
            return skip_to("-->");
        }
        if (take("</")) {
            const std::string_view closed = name();
            skip_space();
            if (open_.empty() || open_.back() != closed || !take(">")) {
                return false;
            }
            open_.pop_back();
            return true;
        }
        ++at_;
        return tag();
    }

    bool entity() {
        const std::size_t end = text_.find(';', at_);
        if (end == std::string_view::npos || end == at_ + 1 || end - at_ > 12 ||
            !std::ranges::all_of(text_.substr(at_ + 1, end - at_ - 1),
                                 [](char c) { return is_name(c) || c == '#'; })) {
            return false;
        }
        at_ = end + 1;
        content_ = true;
        return true;
    }

    bool tag() {
        const std::string_view element = name();
        if (std::ranges::find(kElements, element) == kElements.end() || open_.size() == kDepthMax) {
            return false;
        }
        content_ = content_ || element == "img";
        while (true) {
            const bool spaced = at_ < text_.size() && is_space(text_[at_]);
            skip_space();
            if (take("/>")) {
                return true;
            }
            if (take(">")) {
                open_.push_back(element);
                return true;
            }
            if (!spaced || !attribute()) {
                return false;
            }
        }
    }

    bool attribute() {
        const std::string_view attribute = name();
        if (std::ranges::find(kAttributes, attribute) == kAttributes.end()) {
            return false;
        }
        skip_space();
        if (!take("=")) {
            return false;
        }
        skip_space();
        const std::string_view quote = text_.substr(at_, 1);
        const std::size_t begin = at_ + 1;
        if ((quote != "'" && quote != "\"") || (++at_, !skip_to(quote))) {
            return false;
        }
        const std::string_view value = text_.substr(begin, at_ - 1 - begin);
        if (value.find('<') != std::string_view::npos) {
            return false;
        }
        return (attribute != "href" && attribute != "src") || !value.starts_with("javascript:");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool content_ = false;
    std::vector<std::string_view> open_;
};

}  // namespace

bool is_narrative(std::string_view text) {
    return Checker(text).check();
}

}  // namespace annals::fhirpath
