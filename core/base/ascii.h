// ascii: classes and case of ASCII characters, whatever the locale.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <algorithm>
#include <string_view>

namespace annals {

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_letter_or_digit(char c) noexcept {
    return is_letter(c) || is_digit(c);
}

/// Whether `text` consists of digits, of one at least.
constexpr bool is_digits(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// `c`, an ASCII letter in upper case.
constexpr char ascii_upper(char c) noexcept {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace annals
