// ascii: classes and case of ASCII characters, whatever the locale.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <algorithm>
#include <string_view>

namespace annals {

/// Whether `c` is one of 0 to 9.
constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Whether `c` is one of A to Z or a to z.
constexpr bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether `c` is either.
constexpr bool is_letter_or_digit(char c) noexcept {
    return is_letter(c) || is_digit(c);
}

/// Whether `text` consists of digits, of one at least.
constexpr bool is_digits(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// `c`, in lower case if it is an ASCII letter.
constexpr char ascii_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

/// `c`, in upper case if it is an ASCII letter.
constexpr char ascii_upper(char c) noexcept {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace annals
