// Escapes of JSON strings, and UTF-8.
//
// Layer:   codec; for everything that decodes escaped characters or quotes texts from outside.
// Spec:    RFC 8259 section 7, RFC 3629.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::json {

/// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The value of the four hexadecimal digits at `digits`, or -1. Requires: `digits` is readable up to and
/// including the first character that is no such digit.
constexpr std::int32_t hex_quad(const char* digits) noexcept {
    std::int32_t value = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_value(digits[i]);
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

constexpr bool is_high_surrogate(std::int32_t unit) noexcept {
    return unit >= 0xd800 && unit < 0xdc00;
}

constexpr bool is_low_surrogate(std::int32_t unit) noexcept {
    return unit >= 0xdc00 && unit < 0xe000;
}

/// Appends `code_point` as UTF-8.
void append_utf8(std::string& out, std::uint32_t code_point);

/// Length of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) noexcept;

/// True if `text` is UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// A position in a text as editors count it: from 1, columns in characters.
struct Place {
    std::size_t line = 1;
    std::size_t column = 1;
};

/// The position of the byte at `offset`. Requires: offset <= text.size().
Place place_of(std::string_view text, std::size_t offset) noexcept;

/// The position right after `text`, which begins at `begin`.
Place place_behind(Place begin, std::string_view text) noexcept;

/// Appends `raw` with its escapes resolved. Requires: they are well-formed.
void append_unescaped(std::string& out, std::string_view raw);

/// Appends `text` escaped for a JSON string, without quotes. Requires: UTF-8.
void append_escaped(std::string& out, std::string_view text);

}  // namespace annals::json
