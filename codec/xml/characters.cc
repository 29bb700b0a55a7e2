#include "codec/xml/characters.h"

#include "codec/json/unicode.h"
#include "codec/xml/scan.h"

#include <algorithm>

namespace annals::xml {

namespace {

// The characters to escape in a JSON string.
constexpr ByteSet kStringSpecial("\"\\\t\r\n");
constexpr ByteSet kRawStringSpecial("\"\\\t\r\n&");

constexpr ByteSet kWhiteSpace(" \t\r\n");
// The ASCII characters that XML does not allow.
constexpr ByteSet kControl(
    std::string_view("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f"
                     "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f",
                     29));

constexpr bool is_character(std::uint32_t code_point) noexcept {
    return code_point == '\t' || code_point == '\n' || code_point == '\r' ||
           (code_point >= 0x20 && code_point <= 0xd7ff) ||
           (code_point >= 0xe000 && code_point <= 0xfffd) ||
           (code_point >= 0x1'0000 && code_point <= 0x10'ffff);
}

void append_json_character(std::string& out, std::uint32_t code_point) {
    switch (code_point) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            json::append_utf8(out, code_point);
    }
}

}  // namespace

Reference read_reference(std::string_view text) noexcept {
    struct Entity {
        std::string_view name;
        char character;
    };

    static constexpr Entity kEntities[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (const Entity& entity : kEntities) {
        if (text.starts_with(entity.name)) {
            return {static_cast<std::uint32_t>(entity.character), entity.name.size()};
        }
    }
    if (text.size() < 2 || text[1] != '#') {
        return {};
    }
    const bool hexadecimal = text.size() > 2 && text[2] == 'x';
    std::uint32_t value = 0;
    std::size_t at = hexadecimal ? 3 : 2;
    const std::size_t digits = at;
    for (; at < text.size() && text[at] != ';'; ++at) {
        const int digit = json::hex_value(text[at]);
        if (digit < 0 || (!hexadecimal && digit > 9) || value > 0x10'ffff) {
            return {};
        }
        value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
    }
    if (at == text.size() || at == digits || !is_character(value)) {
        return {};
    }
    return {value, at + 1};
}

Fault check_characters(std::string_view text) noexcept {
    constexpr std::size_t kBlock = 64;
    std::size_t at = 0;
    while (at < text.size()) {
        // Blocks of only printable ASCII and white space, as nearly all are.
        while (text.size() - at >= kBlock) {
            unsigned char special =
                0;  // as wide as a byte, so that the loop is vectorized by sixteen
            for (std::size_t i = 0; i < kBlock; ++i) {
                const auto c = static_cast<unsigned char>(text[at + i]);
                const bool odd =
                    (c >= 0x80) | ((c < 0x20) & (c != '\n') & (c != '\r') & (c != '\t'));
                special = static_cast<unsigned char>(special | static_cast<unsigned char>(odd));
            }
            if (special != 0) {
                break;
            }
            at += kBlock;
        }
        const std::size_t end = std::min(text.size(), at + kBlock);
        while (at < end) {
            const auto c = static_cast<unsigned char>(text[at]);
            if (c < 0x80) {
                if (kControl.has(text[at])) {
                    return {at, "a control character"};
                }
                ++at;
                continue;
            }
            const std::size_t size = json::utf8_length(text.substr(at));
            if (size == 0) {
                return {at, "invalid UTF-8"};
            }
            if (c == 0xef && text[at + 1] == '\xbf' && text[at + 2] >= '\xbe') {
                return {at, "a character that XML does not have"};
            }
            at += size;
        }
    }
    return {};
}

void append_json_characters(std::string& out, std::string_view raw) {
    const char* const end = raw.data() + raw.size();
    const char* run = raw.data();
    for (const char* at = run; (at = kRawStringSpecial.find(at, end)) != end;) {
        out.append(run, at);
        if (*at == '&') {
            const Reference reference = read_reference({at, static_cast<std::size_t>(end - at)});
            append_json_character(out, reference.code_point);
            at += std::max<std::size_t>(reference.size, 1);
        } else if (kWhiteSpace.has(*at)) {
            // A line break is one character, however it is written (XML section 2.11), and here a blank.
            const bool crlf = *at == '\r' && at + 1 != end && at[1] == '\n';
            out += ' ';
            at += crlf ? 2 : 1;
        } else {
            append_json_character(out, static_cast<unsigned char>(*at));
            ++at;
        }
        run = at;
    }
    out.append(run, end);
}

void append_json_text(std::string& out, std::string_view text) {
    const char* const end = text.data() + text.size();
    const char* run = text.data();
    for (const char* at = run; (at = kStringSpecial.find(at, end)) != end; ++at) {
        out.append(run, at);
        append_json_character(out, static_cast<unsigned char>(*at));
        run = at + 1;
    }
    out.append(run, end);
}

void append_xml_characters(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
}

}  // namespace annals::xml
