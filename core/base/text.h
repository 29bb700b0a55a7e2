// text: small helpers for protocol text.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include "core/base/ascii.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals {

/// What some programs write before text in UTF-8. Readers of JSON may ignore it (RFC 8259 section 8.1).
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// `text` with its ASCII letters in lower case.
inline std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        c = ascii_lower(c);
    }
    return lower;
}

/// Whether `a` and `b` are equal except for the case of ASCII letters.
inline bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (ascii_lower(a[i]) != ascii_lower(b[i])) {
            return false;
        }
    }
    return true;
}

/// `text` without blanks, tabs and line ends at its start and end.
inline std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view kBlanks = " \t\r\n";
    while (!text.empty() && kBlanks.find(text.front()) != std::string_view::npos) {
        text.remove_prefix(1);
    }
    while (!text.empty() && kBlanks.find(text.back()) != std::string_view::npos) {
        text.remove_suffix(1);
    }
    return text;
}

/// The number that all of `text` represents; none if it isn't one, or exceeds Number.
template <std::integral Number = std::uint64_t>
std::optional<Number> parse_number(std::string_view text, int base = 10) noexcept {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number, base);
    return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

/// What a token may have besides ASCII's letters and digits (RFC 9110 section 5.6.2).
inline constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

/// Whether `text` is a token, as the names of headers and media types are.
inline bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_letter_or_digit(c) || kTokenMarks.find(c) != std::string_view::npos;
    });
}

}  // namespace annals
