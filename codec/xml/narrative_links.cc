#include "codec/xml/narrative_links.h"

#include "codec/json/unicode.h"
#include "codec/xml/characters.h"

#include <algorithm>

namespace annals::xml {

namespace {

// An attribute's value in XHTML: offsets of the characters between its quotes.
struct Link {
    std::size_t begin;
    std::size_t end;
};

constexpr std::string_view kBlanks = " \t\r\n";

// Scans the start tags of XHTML just far enough to find the links. Stops at anything malformed.
class LinkScanner {
  public:
    explicit LinkScanner(std::string_view html) : html_(html) {}

    std::optional<Link> next() {
        for (;;) {
            if (element_.empty() && !open_tag()) {
                return std::nullopt;
            }
            while (!element_.empty()) {
                if (const std::optional<Link> link = next_attribute()) {
                    return link;
                }
            }
        }
    }

  private:
    // Moves past the name of the next start tag.
    bool open_tag() {
        for (;;) {
            at_ = html_.find('<', at_);
            if (at_ == std::string_view::npos) {
                return false;
            }
            const std::string_view rest = html_.substr(at_);
            if (rest.starts_with("<!--")) {
                skip("-->", 4);
            } else if (rest.starts_with("<![CDATA[")) {
                skip("]]>", 9);
            } else if (rest.starts_with("<?")) {
                skip("?>", 2);
            } else if (rest.starts_with("</") || rest.starts_with("<!")) {
                skip(">", 2);
            } else {
                const std::size_t end =
                    std::min(html_.find_first_of(" \t\r\n/>", at_ + 1), html_.size());
                element_ = html_.substr(at_ + 1, end - at_ - 1);
                at_ = end;
                return !element_.empty();
            }
        }
    }

    void skip(std::string_view closing, std::size_t from) {
        const std::size_t found = html_.find(closing, at_ + from);
        at_ = found == std::string_view::npos ? html_.size() : found + closing.size();
    }

    // Reads one attribute of the open tag, or closes the tag; returns the attribute if it is a link.
    std::optional<Link> next_attribute() {
        at_ = std::min(html_.find_first_not_of(" \t\r\n/", at_), html_.size());
        const std::size_t name_end = std::min(html_.find_first_of(" \t\r\n=/>", at_), html_.size());
        const std::string_view name = html_.substr(at_, name_end - at_);
        const std::size_t equals = html_.find_first_not_of(kBlanks, name_end);
        if (name.empty() || equals == std::string_view::npos || html_[equals] != '=') {
            element_ = {};  // the end of the tag, or not XHTML
            return std::nullopt;
        }
        const std::size_t quote = html_.find_first_not_of(kBlanks, equals + 1);
        if (quote == std::string_view::npos || (html_[quote] != '"' && html_[quote] != '\'')) {
            element_ = {};
            return std::nullopt;
        }
        const std::size_t end = html_.find(html_[quote], quote + 1);
        if (end == std::string_view::npos) {
            element_ = {};
            at_ = html_.size();
            return std::nullopt;
        }
        at_ = end + 1;
        if ((element_ == "a" && name == "href") || (element_ == "img" && name == "src")) {
            return Link{quote + 1, end};
        }
        return std::nullopt;
    }

    std::string_view html_;
    std::string_view element_;  // the open tag; empty between tags
    std::size_t at_ = 0;
};

// Walks a JSON string's raw characters and the unescaped text in parallel.
class Alignment {
  public:
    explicit Alignment(std::string_view raw) : raw_(raw) {}

    // The offset in the raw characters of `offset` in the text. Requires: not less than in the last call.
    std::size_t raw_offset(std::size_t offset) {
        while (text_at_ < offset) {
            const std::size_t raw_size = raw_[raw_at_] != '\\' ? 1 : escape_size();
            unit_.clear();
            json::append_unescaped(unit_, raw_.substr(raw_at_, raw_size));
            raw_at_ += raw_size;
            text_at_ += unit_.size();
        }
        return raw_at_;
    }

  private:
    std::size_t escape_size() const {
        if (raw_[raw_at_ + 1] != 'u') {
            return 2;
        }
        return json::is_high_surrogate(json::hex_quad(raw_.data() + raw_at_ + 2)) ? 12 : 6;
    }

    std::string_view raw_;
    std::string unit_;
    std::size_t raw_at_ = 0;
    std::size_t text_at_ = 0;
};

std::string without_references(std::string_view text) {
    std::string out;
    std::size_t at = 0;
    for (;;) {
        const std::size_t ampersand = std::min(text.find('&', at), text.size());
        out.append(text.substr(at, ampersand - at));
        if (ampersand == text.size()) {
            return out;
        }
        const Reference reference = read_reference(text.substr(ampersand));
        json::append_utf8(out, reference.size == 0 ? '&' : reference.code_point);
        at = ampersand + std::max<std::size_t>(reference.size, 1);
    }
}

// Within either kind of quotes.
std::string with_references(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out.append("&apos;");
        } else {
            append_xml_characters(out, {&c, 1});
        }
    }
    return out;
}

}  // namespace

std::optional<std::string> rewrite_narrative(
    std::string_view raw_div,
    const std::function<std::optional<std::string>(std::string_view url)>& rewrite) {
    std::string html;
    html.reserve(raw_div.size());
    json::append_unescaped(html, raw_div);

    std::string out;
    std::size_t copied = 0;
    Alignment alignment(raw_div);
    LinkScanner scanner(html);
    while (const std::optional<Link> link = scanner.next()) {
        const std::string_view value(html.data() + link->begin, link->end - link->begin);
        const std::optional<std::string> url = rewrite(without_references(value));
        if (!url) {
            continue;
        }
        const std::size_t begin = alignment.raw_offset(link->begin);
        out.append(raw_div, copied, begin - copied);
        json::append_escaped(out, with_references(*url));
        copied = alignment.raw_offset(link->end);
    }
    if (copied == 0) {
        return std::nullopt;
    }
    out.append(raw_div.substr(copied));
    return out;
}

}  // namespace annals::xml
