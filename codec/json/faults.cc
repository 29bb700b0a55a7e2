#include "codec/json/faults.h"

#include "codec/json/unicode.h"

#include <fmt/format.h>

#include <cstring>

namespace annals::json {

const char* check_escape(const char*& at, bool& control) noexcept {
    const char letter = at[1];
    const char* const behind = at + 2;
    switch (letter) {
        case '"':
        case '\\':
        case '/':
        case 'n':
        case 'r':
        case 't':
            at = behind;
            return nullptr;
        case 'b':
        case 'f':
            control = true;
            at = behind;
            return nullptr;
        case 'u':
            break;
        default:
            return "no such escape";
    }
    const std::int32_t unit = hex_quad(behind);
    if (unit < 0) {
        return "expected four hexadecimal digits after \\u";
    }
    control = control || (unit < ' ' && unit != '\t' && unit != '\n' && unit != '\r');
    if (is_low_surrogate(unit)) {
        return "a low surrogate without the high one before it";
    }
    if (!is_high_surrogate(unit)) {
        at = behind + 4;
        return nullptr;
    }
    if (behind[4] != '\\' || behind[5] != 'u' || !is_low_surrogate(hex_quad(behind + 6))) {
        return "a high surrogate without the low one after it";
    }
    at = behind + 10;
    return nullptr;
}

const char* check_escapes(const char* at, const char* end, const char*& where,
                          bool& control) noexcept {
    for (;;) {
        at = static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
        if (at == nullptr) {
            return nullptr;
        }
        where = at;
        if (const char* const message = check_escape(at, control)) {
            return message;
        }
    }
}

Fault explain_scalar(const char* text, std::uint32_t at) noexcept {
    const char* const begin = text + at;
    const auto fault = [&](const char* where, const char* message) {
        return Fault{static_cast<std::size_t>(where - text), message};
    };
    if (*begin == '"') {
        const char* end = begin + 1;
        while (*end != '"') {
            end += *end == '\\' ? 2 : 1;
        }
        const char* where = nullptr;
        bool control = false;
        const char* const message = check_escapes(begin + 1, end, where, control);
        return fault(where, message);
    }
    if (is_digit(*begin) || *begin == '-') {
        const Number number = scan_number(begin);
        return fault(number.end, number.message != nullptr ? number.message
                                                           : "unexpected character after a number");
    }
    return fault(begin, *begin == 't' || *begin == 'f' || *begin == 'n'
                            ? "expected true, false or null"
                            : "expected a value");
}

Fault find_lexical_fault(std::string_view text) noexcept {
    std::size_t quote = 0;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (!inside) {
            if (byte == '\\' || byte > 0x7e || (byte < 0x20 && !is_space(text[i]))) {
                return {i, "unexpected character"};
            }
            inside = byte == '"';
            quote = i;
        } else if (byte == '"') {
            inside = false;
        } else if (byte < 0x20) {
            return {i, "a control character in a string must be escaped"};
        } else if (byte == '\\') {
            // An escaped control character is still a control character.
            i += i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= 0x20 &&
                 static_cast<unsigned char>(text[i + 1]) < 0x80;
        } else if (byte >= 0x80) {
            const std::size_t length = utf8_length(text.substr(i));
            if (length == 0) {
                return {i, "invalid UTF-8"};
            }
            i += length - 1;
        }
    }
    return inside ? Fault{quote, "a string without its closing quote"}
                  : Fault{text.size(), "unexpected end"};
}

std::size_t original_offset(std::string_view text, std::size_t offset) noexcept {
    std::size_t at = 0;
    for (bool inside = false;; ++at) {
        if (!inside && is_space(text[at])) {
            continue;
        }
        if (offset-- == 0) {
            return at;
        }
        if (text[at] == '"') {
            inside = !inside;
        } else if (text[at] == '\\') {
            ++at;
            --offset;
        }
    }
}

Error describe(std::string_view text, const Fault& fault) {
    const Place place = place_of(text, fault.offset);
    return {
        Errc::invalid,
        fmt::format("invalid JSON at byte {} (line {}, column {}): {}", fault.offset, place.line,
                    place.column, fault.offset == text.size() ? "unexpected end" : fault.message)};
}

}  // namespace annals::json
