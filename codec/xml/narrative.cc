#include "codec/xml/narrative.h"

#include "codec/json/unicode.h"
#include "codec/xml/characters.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <span>

namespace annals::xml {

namespace {

// The elements that txt-1 lists, in alphabetical order.
constexpr std::string_view kElements[] = {
    "a",   "abbr",     "acronym", "b",     "big",  "blockquote", "br",  "caption", "cite",  "code",
    "col", "colgroup", "dd",      "dfn",   "div",  "dl",         "dt",  "em",      "h1",    "h2",
    "h3",  "h4",       "h5",      "h6",    "hr",   "i",          "img", "li",      "ol",    "p",
    "pre", "q",        "samp",    "small", "span", "strong",     "sub", "sup",     "table", "tbody",
    "td",  "tfoot",    "th",      "thead", "tr",   "tt",         "ul",  "var",
};

constexpr std::string_view kAttributes[] = {
    "abbr",       "accesskey",   "align",       "alt",        "axis",   "bgcolor", "border",
    "cellhalign", "cellpadding", "cellspacing", "cellvalign", "char",   "charoff", "charset",
    "cite",       "class",       "colspan",     "compact",    "coords", "dir",     "frame",
    "headers",    "height",      "href",        "hreflang",   "hspace", "id",      "lang",
    "longdesc",   "name",        "nowrap",      "rel",        "rev",    "rowspan", "rules",
    "scope",      "shape",       "span",        "src",        "start",  "style",   "summary",
    "tabindex",   "title",       "type",        "valign",     "value",  "vspace",  "width",
};

// A set of names with a look-up that does not search.
class NameSet {
  public:
    constexpr explicit NameSet(std::span<const std::string_view> names) {
        for (const std::string_view name : names) {
            std::size_t at = place_of(name);
            while (!slots_[at].empty()) {
                at = (at + 1) % kSlots;
            }
            slots_[at] = name;
        }
    }

    constexpr bool has(std::string_view name) const noexcept {
        std::size_t at = place_of(name);
        while (!slots_[at].empty() && slots_[at] != name) {
            at = (at + 1) % kSlots;
        }
        return !slots_[at].empty();
    }

  private:
    static constexpr std::size_t kSlots = 256;

    static constexpr std::size_t place_of(std::string_view name) noexcept {
        const auto at = [name](std::size_t i) {
            return std::size_t{static_cast<unsigned char>(name[i])};
        };
        return name.empty() ? 0
                            : (at(0) * 7 + at(name.size() - 1) * 31 + at(name.size() / 2) * 3 +
                               name.size() * 61) %
                                  kSlots;
    }

    std::array<std::string_view, kSlots> slots_{};
};

constexpr NameSet kElementSet(kElements);
constexpr NameSet kAttributeSet(kAttributes);

bool is_allowed_attribute(std::string_view name) noexcept {
    return kAttributeSet.has(name) || name == "xml:lang" || name == "xml:space";
}

std::string characters_of(std::string_view raw) {
    std::string json;
    append_json_characters(json, raw);
    std::string characters;
    json::append_unescaped(characters, json);
    return characters;
}

// Without white space and control characters, in lower case: as a browser reads a scheme.
std::string squeezed(std::string_view characters) {
    std::string out;
    for (const char c : characters) {
        if (static_cast<unsigned char>(c) > 0x20) {
            out += ascii_lower(c);
        }
    }
    return out;
}

bool is_script_link(std::string_view element, std::string_view raw) {
    if (raw.starts_with("http") || raw.starts_with('#')) {
        return false;
    }
    const std::string link = squeezed(characters_of(raw));
    return link.starts_with("javascript:") || link.starts_with("vbscript:") ||
           (link.starts_with("data:") && !(element == "img" && link.starts_with("data:image/")));
}

// Removes CSS comments, even an unterminated one.
std::string without_comments(std::string_view style) {
    std::string out;
    for (std::size_t at = 0; at < style.size();) {
        const std::size_t begin = std::min(style.find("/*", at), style.size());
        out += style.substr(at, begin - at);
        const std::size_t end = style.find("*/", begin + 2);
        at = end == std::string_view::npos ? style.size() : end + 2;
    }
    return out;
}

// Resolves CSS escapes: \65 is an e, whether a space ends it or not. What is not ASCII is in no word that is refused.
std::string without_escapes(std::string_view style) {
    constexpr std::size_t kDigitsMax = 6;
    std::string out;
    for (std::size_t at = 0; at < style.size(); ++at) {
        if (style[at] != '\\') {
            out += style[at];
            continue;
        }
        std::uint32_t code = 0;
        std::size_t digits = 0;
        for (; digits < kDigitsMax && at + 1 < style.size(); ++digits, ++at) {
            const int digit = json::hex_value(style[at + 1]);
            if (digit < 0) {
                break;
            }
            code = code * 16 + static_cast<std::uint32_t>(digit);
        }
        if (digits != 0) {
            out += code < 0x80 ? static_cast<char>(code) : '?';
        }
    }
    return out;
}

bool has_script(std::string_view style) {
    const std::string text = squeezed(without_escapes(style));
    constexpr std::string_view kRefused[] = {"javascript:", "vbscript:",    "expression(",
                                             "@import",     "-moz-binding", "behavior:"};
    return std::ranges::any_of(
        kRefused, [&](std::string_view what) { return text.find(what) != std::string::npos; });
}

bool is_script_style(std::string_view raw) {
    // Each of has_script()'s words has a bracket, an @, a v or a z; the other characters begin references, escapes
    // and comments.
    if (raw.find_first_of("(@vVzZ&\\/") == std::string_view::npos) {
        return false;
    }
    const std::string style = characters_of(raw);
    // What looks like a comment may be none: in a string, in a URL, after an escape.
    return has_script(style) ||
           (style.find("/*") != std::string::npos && has_script(without_comments(style)));
}

bool check_attribute(Cursor& cursor, const Tag& tag, const Attribute& attribute) {
    const std::string_view name = attribute.name;
    if (is_declaration(name)) {
        if (name.size() == 5 && attribute.value != kXhtmlNamespace) {
            return cursor.flaw(tag.begin, "another namespace inside a narrative", Errc::value);
        }
        return true;
    }
    if (!is_allowed_attribute(name)) {
        return cursor.flaw(static_cast<std::size_t>(name.data() - cursor.text().data()),
                           "an attribute that a narrative may not have (txt-1)", Errc::value);
    }
    const bool link = name == "href" || name == "src" || name == "cite" || name == "longdesc";
    if ((link && is_script_link(tag.local, attribute.value)) ||
        (name == "style" && is_script_style(attribute.value))) {
        return cursor.flaw(static_cast<std::size_t>(name.data() - cursor.text().data()),
                           "a narrative may not have active content (txt-1)", Errc::value);
    }
    return true;
}

bool declares_default(const Tag& tag) noexcept {
    for (std::size_t i = 0; i < tag.attribute_count; ++i) {
        if (tag.attributes[i].name == "xmlns") {
            return true;
        }
    }
    return false;
}

// An HTML parser ends such a comment right at its beginning; old ones take [if as a condition.
bool is_harmless_comment(std::string_view inside) noexcept {
    return !inside.starts_with('>') && !inside.starts_with("->") && !inside.starts_with('[');
}

// Reads one div.
class XhtmlReader {
  public:
    XhtmlReader(Cursor& cursor, Namespaces& namespaces, std::uint32_t depth, Xhtml& xhtml)
        : cursor_(cursor), namespaces_(namespaces), depth_(depth), xhtml_(xhtml) {}

    bool read(const Tag& div) {
        xhtml_.begin = div.begin;
        xhtml_.end = 0;
        xhtml_.has_content = false;
        xhtml_.edits.clear();
        if (!take_div(div)) {
            return false;
        }
        while (!open_.empty()) {
            bool blank = true;
            if (!cursor_.skip_text(blank)) {
                return false;
            }
            xhtml_.has_content = xhtml_.has_content || !blank;
            if (!read_markup()) {
                return false;
            }
        }
        xhtml_.end = cursor_.at();
        return true;
    }

  private:
    bool take_div(const Tag& div) {
        if (div.local != "div" &&
            !cursor_.flaw(div.begin, "a narrative must be a div", Errc::value)) {
            return false;
        }
        if (!check_tag(div)) {
            return false;
        }
        resolve_prefix(div);
        const bool declares = declares_default(div);
        xhtml_.says_namespace = declares || !div.prefix().empty();
        if (!declares) {
            const std::size_t behind_name = div.begin + 1 + div.name.size();
            xhtml_.edits.push_back({behind_name, behind_name,
                                    std::string(" xmlns=\"").append(kXhtmlNamespace) + "\""});
        }
        if (!div.empty) {
            open_.push_back(div.name);
        }
        return true;
    }

    // Reads what begins behind a text: a tag, a comment...
    bool read_markup() {
        const std::size_t begin = cursor_.at();
        if (cursor_.done()) {
            return cursor_.fail(begin, "a narrative without its end");
        }
        if (cursor_.looking_at("</")) {
            return read_end_tag();
        }
        if (cursor_.looking_at("<!--")) {
            return read_comment();
        }
        if (cursor_.looking_at("<![CDATA[")) {
            return read_cdata();
        }
        if (cursor_.looking_at("<?")) {
            if (!cursor_.skip_instruction()) {
                return false;
            }
            leave_out(begin);
            return true;
        }
        if (cursor_.looking_at("<!")) {
            return cursor_.fail(begin, "a declaration inside a narrative");
        }
        return read_start_tag();
    }

    bool read_start_tag() {
        const std::uint32_t inside = depth_ + static_cast<std::uint32_t>(open_.size());
        if (!cursor_.read_start_tag(tag_) || !namespaces_.open(cursor_, tag_, inside) ||
            !check_tag(tag_)) {
            return false;
        }
        resolve_prefix(tag_);
        if (tag_.empty) {
            namespaces_.close(inside);
            return true;
        }
        if (open_.size() == kXhtmlDepthMax) {
            return cursor_.fail(tag_.begin, "too many levels of elements");
        }
        open_.push_back(tag_.name);
        return true;
    }

    bool read_end_tag() {
        const std::size_t begin = cursor_.at();
        const std::string_view name = open_.back();
        if (!cursor_.read_end_tag(name)) {
            return false;
        }
        if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
            xhtml_.edits.push_back({begin + 2, begin + 2 + colon + 1, ""});
        }
        namespaces_.close(depth_ + static_cast<std::uint32_t>(open_.size()) - 1);
        open_.pop_back();
        return true;
    }

    bool read_comment() {
        const std::size_t begin = cursor_.at();
        if (!cursor_.skip_comment()) {
            return false;
        }
        if (!is_harmless_comment(cursor_.text().substr(begin + 4, cursor_.at() - begin - 7))) {
            leave_out(begin);
        }
        return true;
    }

    bool read_cdata() {
        const std::size_t begin = cursor_.at();
        std::string_view data;
        if (!cursor_.read_cdata(data)) {
            return false;
        }
        xhtml_.has_content =
            xhtml_.has_content || data.find_first_not_of(" \t\r\n") != std::string_view::npos;
        leave_out(begin);
        append_xml_characters(xhtml_.edits.back().text, data);
        return true;
    }

    bool check_tag(const Tag& tag) {
        const Namespace space = namespaces_.find(tag.prefix());
        if (space == Namespace::unbound) {
            return cursor_.fail(tag.begin, "a prefix that is not declared");
        }
        const bool known = space == Namespace::xhtml && kElementSet.has(tag.local);
        if (!known && !cursor_.flaw(tag.begin, "an element that a narrative may not have (txt-1)",
                                    Errc::value)) {
            return false;
        }
        for (std::size_t i = 0; i < tag.attribute_count; ++i) {
            if (!check_attribute(cursor_, tag, tag.attributes[i])) {
                return false;
            }
            xhtml_.has_content =
                xhtml_.has_content || (tag.local == "img" && tag.attributes[i].name == "src");
        }
        return true;
    }

    void resolve_prefix(const Tag& tag) {
        if (!tag.prefix().empty()) {
            xhtml_.edits.push_back({tag.begin + 1, tag.begin + 1 + tag.prefix().size() + 1, ""});
        }
    }

    // Leaves out what has been read since `begin`.
    void leave_out(std::size_t begin) { xhtml_.edits.push_back({begin, cursor_.at(), ""}); }

    Cursor& cursor_;
    Namespaces& namespaces_;
    const std::uint32_t depth_;
    Xhtml& xhtml_;
    std::vector<std::string_view> open_;  // the names of the elements around
    Tag tag_;
};

bool read_whole(Cursor& cursor, Xhtml& xhtml) {
    if (!read_declaration(cursor)) {
        return false;
    }
    cursor.skip_space();
    if (!cursor.looking_at("<")) {
        return cursor.fail(cursor.at(), "a narrative must be a div", Errc::value);
    }
    Tag tag;
    Namespaces namespaces;
    namespaces.declare_default(Namespace::xhtml);
    if (!cursor.read_start_tag(tag) || !namespaces.open(cursor, tag, 1) ||
        !read_xhtml(cursor, tag, namespaces, 1, xhtml)) {
        return false;
    }
    cursor.skip_space();
    return cursor.done() || cursor.fail(cursor.at(), "content after the narrative's div");
}

}  // namespace

bool read_xhtml(Cursor& cursor, const Tag& div, Namespaces& namespaces, std::uint32_t depth,
                Xhtml& xhtml) {
    return XhtmlReader(cursor, namespaces, depth, xhtml).read(div);
}

Result<Xhtml> read_narrative(std::string_view text) {
    if (const Fault fault = check_characters(text); fault.message != nullptr) {
        return describe(text, fault);
    }
    Cursor cursor(text);
    Xhtml xhtml;
    if (!read_whole(cursor, xhtml)) {
        return describe(text, cursor.fault());
    }
    return xhtml;
}

Result<Xhtml> check_narrative(std::string_view text) {
    ANNALS_TRY(Xhtml xhtml, read_narrative(text));
    if (!xhtml.has_content) {
        return Error{Errc::value, "a narrative must have text or an image (txt-2)"};
    }
    return xhtml;
}

}  // namespace annals::xml
