#include "codec/xml/cursor.h"

#include "codec/xml/characters.h"
#include "codec/xml/scan.h"
#include "core/base/text.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace annals::xml {

namespace {

constexpr std::uint8_t kNameCharacter = 1;  // also non-ASCII ones, in no name of FHIR
constexpr std::uint8_t kNameStart = 2;
constexpr std::uint8_t kSpace = 4;

constexpr std::array<std::uint8_t, 256> kClasses = [] {
    std::array<std::uint8_t, 256> classes{};
    for (std::size_t c = 0; c < classes.size(); ++c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        const bool digit = c >= '0' && c <= '9';
        const bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (letter || c == '_' || c >= 0x80) {
            classes[c] |= kNameStart | kNameCharacter;
        }
        if (digit || c == '-' || c == '.') {
            classes[c] |= kNameCharacter;
        }
        if (space) {
            classes[c] |= kSpace;
        }
    }
    return classes;
}();

// Where an attribute's value ends or is not plain.
constexpr ByteSet kValueSpecial("\"'<&\\\t\r\n");
// Where text between tags ends, a reference begins, or something not allowed may be.
constexpr ByteSet kTextSpecial("<&]");

bool is(char c, std::uint8_t what) noexcept {
    return (kClasses[static_cast<unsigned char>(c)] & what) != 0;
}

}  // namespace

bool Cursor::fail(std::size_t offset, const char* message, Errc code) {
    if (fault_.message == nullptr) {
        fault_ = {offset, message, code};
    }
    return false;
}

bool Cursor::flaw(std::size_t offset, const char* message, Errc code) {
    if (!lenient_) {
        return fail(offset, message, code);
    }
    if (flaw_.message == nullptr) {
        flaw_ = {offset, message, code};
    }
    return true;
}

void Cursor::skip_space() noexcept {
    while (at_ < text_.size() && is(text_[at_], kSpace)) {
        ++at_;
    }
}

inline std::string_view Cursor::read_name() noexcept {
    const char* const begin = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const char* at = begin;
    if (at != end && is(*at, kNameStart)) {
        do {
            ++at;
        } while (at != end && is(*at, kNameCharacter));
    }
    const auto size = static_cast<std::size_t>(at - begin);
    at_ += size;
    return {begin, size};
}

bool Cursor::skip_comment() {
    const std::size_t end = text_.find("--", at_ + 4);
    if (end == std::string_view::npos) {
        return fail(at_, "a comment without its end");
    }
    if (end + 2 >= text_.size() || text_[end + 2] != '>') {
        return fail(end, "two hyphens inside a comment");
    }
    at_ = end + 3;
    return true;
}

bool Cursor::skip_instruction() {
    const std::size_t begin = at_;
    at_ += 2;
    const std::string_view target = read_name();
    if (target.empty() || equal_ignoring_case(target, "xml")) {
        return fail(begin, target.empty() ? "a processing instruction without a target"
                                          : "an XML declaration that is not at the beginning");
    }
    const std::size_t end = text_.find("?>", at_);
    if (end == std::string_view::npos || (end != at_ && !is(text_[at_], kSpace))) {
        return fail(begin, "a processing instruction without its end");
    }
    at_ = end + 2;
    return true;
}

bool Cursor::read_cdata(std::string_view& data) {
    const std::size_t begin = at_ + 9;
    const std::size_t end = text_.find("]]>", begin);
    if (end == std::string_view::npos) {
        return fail(at_, "a CDATA section without its end");
    }
    data = text_.substr(begin, end - begin);
    at_ = end + 3;
    return true;
}

bool Cursor::skip_text(bool& blank) {
    const char* const text = text_.data();
    const char* const end = text + text_.size();
    if (blank) {
        skip_space();
        blank = done() || text_[at_] == '<';
    }
    for (;;) {
        at_ = static_cast<std::size_t>(kTextSpecial.find(text + at_, end) - text);
        if (done() || text_[at_] == '<') {
            return true;
        }
        if (text_[at_] == '&') {
            if (!skip_reference()) {
                return false;
            }
        } else {
            if (looking_at("]]>")) {
                return fail(at_, "]]> outside a CDATA section");
            }
            ++at_;
        }
    }
}

bool Cursor::skip_reference() {
    const std::size_t size = read_reference(text_.substr(at_)).size;
    if (size == 0) {
        return fail(at_, "expected &amp; &lt; &gt; &quot; &apos; or a character reference");
    }
    at_ += size;
    return true;
}

// Reads a name with its prefix; `local` is set to it without the prefix. Empty if there is none.
inline std::string_view Cursor::read_qualified_name(std::string_view& local) noexcept {
    const std::size_t begin = at_;
    local = read_name();
    if (at_ < text_.size() && text_[at_] == ':' && !local.empty()) [[unlikely]] {
        ++at_;
        local = read_name();
        if (local.empty()) {
            return {};
        }
    }
    return text_.substr(begin, at_ - begin);
}

inline bool Cursor::read_attribute(Attribute& attribute) {
    const std::size_t name = at_;
    std::string_view local;
    attribute.name = read_qualified_name(local);
    if (attribute.name.empty()) {
        return fail(name, "expected an attribute, > or />");
    }
    skip_space();
    if (done() || text_[at_] != '=') {
        return fail(at_, "expected = after an attribute's name");
    }
    ++at_;
    skip_space();
    if (done() || (text_[at_] != '"' && text_[at_] != '\'')) {
        return fail(at_, "expected an attribute's value in quotes");
    }
    const char quote = text_[at_];
    const std::size_t begin = ++at_;
    const char* const text = text_.data();
    const char* const end = text + text_.size();
    attribute.plain = true;
    for (const char* at = text + begin; (at = kValueSpecial.find(at, end)) != end; ++at) {
        if (*at == quote) {
            at_ = static_cast<std::size_t>(at - text);
            attribute.value = text_.substr(begin, at_ - begin);
            ++at_;
            return true;
        }
        if (*at == '<' || *at == '&') {
            at_ = static_cast<std::size_t>(at - text);
            if (*at == '<') {
                return fail(at_, "< in an attribute's value");
            }
            if (!skip_reference()) {
                return false;
            }
            at = text + at_ - 1;
        }
        attribute.plain = attribute.plain && *at == '\'';
    }
    return fail(begin - 1, "an attribute's value without its closing quote");
}

bool Cursor::read_start_tag(Tag& tag) {
    tag.begin = at_;
    ++at_;
    tag.name = read_qualified_name(tag.local);
    if (tag.name.empty()) {
        return fail(tag.begin, "expected an element's name after <");
    }
    tag.attribute_count = 0;
    for (;;) {
        const std::size_t before = at_;
        skip_space();
        if (done()) {
            return fail(tag.begin, "a tag without its end");
        }
        if (text_[at_] == '>' || looking_at("/>")) {
            tag.empty = text_[at_] == '/';
            at_ += tag.empty ? 2 : 1;
            return true;
        }
        if (at_ == before) {
            return fail(at_, "expected a blank, > or />");
        }
        if (tag.attribute_count == kAttributesMax) {
            return fail(at_, "too many attributes");
        }
        const std::size_t begin = at_;
        Attribute& attribute = tag.attributes[tag.attribute_count];
        if (!read_attribute(attribute)) {
            return false;
        }
        for (std::size_t i = 0; i < tag.attribute_count; ++i) {
            if (tag.attributes[i].name == attribute.name) {
                return fail(begin, "a duplicate attribute");
            }
        }
        ++tag.attribute_count;
    }
}

bool Cursor::read_end_tag(std::string_view name) {
    const std::size_t begin = at_;
    at_ += 2;
    if (!looking_at(name)) {
        return fail(begin, "an end tag that does not match the start tag");
    }
    at_ += name.size();
    skip_space();
    if (done() || text_[at_] != '>') {
        return fail(begin, "an end tag that does not match the start tag, or is incomplete");
    }
    ++at_;
    return true;
}

bool read_declaration(Cursor& cursor) {
    std::string_view text = cursor.text();
    if (cursor.at() == 0 && text.starts_with(kByteOrderMark)) {
        cursor = Cursor(text, kByteOrderMark.size());
    }
    constexpr std::string_view kUsual = R"(<?xml version="1.0" encoding="UTF-8"?>)";
    if (cursor.looking_at(kUsual)) {
        cursor = Cursor(text, cursor.at() + kUsual.size());
        return true;
    }
    const std::size_t begin = cursor.at();
    if (!cursor.looking_at("<?xml") || text.size() == begin + 5 ||
        is(text[begin + 5], kNameCharacter)) {
        return true;
    }
    const std::size_t end = text.find("?>", begin);
    if (end == std::string_view::npos) {
        return cursor.fail(begin, "an XML declaration without its end");
    }
    // The content is written like the attributes of a tag.
    const std::string as_tag = fmt::format("<x{}>", text.substr(begin + 5, end - begin - 5));
    Cursor inside(as_tag);
    Tag tag;
    if (!inside.read_start_tag(tag) || !inside.done() || tag.empty) {
        return cursor.fail(begin, "a malformed XML declaration");
    }
    constexpr std::string_view kNames[] = {"version", "encoding", "standalone"};
    std::size_t place = 0;
    for (std::size_t i = 0; i < tag.attribute_count; ++i) {
        const auto& [name, value, plain] = tag.attributes[i];
        while (place < std::size(kNames) && kNames[place] != name) {
            ++place;
        }
        if (place == std::size(kNames) || (i == 0) != (place == 0)) {
            return cursor.fail(begin, "a malformed XML declaration");
        }
        if (place == 0 && value != "1.0") {
            return cursor.fail(begin, "a version of XML other than 1.0");
        }
        if (place == 1 && !equal_ignoring_case(value, "utf-8") &&
            !equal_ignoring_case(value, "utf8") && !equal_ignoring_case(value, "us-ascii")) {
            return cursor.fail(begin, "an encoding other than UTF-8");
        }
        if (place == 2 && value != "yes" && value != "no") {
            return cursor.fail(begin, "a malformed XML declaration");
        }
    }
    if (tag.attribute_count == 0) {
        return cursor.fail(begin, "a malformed XML declaration");
    }
    cursor = Cursor(text, end + 2);
    return true;
}

}  // namespace annals::xml
