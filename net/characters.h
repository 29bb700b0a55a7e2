// The characters that are allowed in a request's head.
//
// Layer:   net; used by RequestReader and Connection.
// Spec:    RFC 9110 section 5.6.2, RFC 3986 section 3.2.
// Threads: plain functions.

#pragma once

#include "core/base/limits.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace annals::net {

inline constexpr std::size_t kAuthorityBytesMax = 255;
inline constexpr std::size_t kCorrelationIdBytesMax = 1024;

/// For each byte, whether it is in the set.
using CharacterSet = std::array<bool, 256>;

/// ASCII's letters and digits, and the characters in `others`.
constexpr CharacterSet letters_digits_and(std::string_view others) {
    CharacterSet set{};
    for (const std::string_view part :
         {std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
          others}) {
        for (const char c : part) {
            set[static_cast<unsigned char>(c)] = true;
        }
    }
    return set;
}

inline constexpr CharacterSet kToken = letters_digits_and(kTokenMarks);
inline constexpr CharacterSet kAuthority =
    letters_digits_and("-._~:[]");  // names, addresses, a port
inline constexpr CharacterSet kRequestId = letters_digits_and("-._~:/+=@");

inline bool is_in(const CharacterSet& set, char c) noexcept {
    return set[static_cast<unsigned char>(c)];
}

inline bool all_in(const CharacterSet& set, std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [&set](char c) { return is_in(set, c); });
}

/// Whether `text` may be a Host or the authority of a request's target: checks the characters and the port, but not the order
/// of a name's or an address's characters.
inline bool is_authority(std::string_view text) noexcept {
    if (text.empty() || text.size() > kAuthorityBytesMax || !all_in(kAuthority, text)) {
        return false;
    }
    const std::size_t colon = text.rfind(':');
    return colon == std::string_view::npos ||
           text.find(']', colon) != std::string_view::npos ||  // the colon is part of an address
           text.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

/// Whether a client's X-Request-Id is used; otherwise the request gets another.
inline bool is_request_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kRequestIdBytesMax && all_in(kRequestId, text);
}

/// Whether a client's X-Request-Id that is not used is sent back, as X-Correlation-Id.
inline bool is_correlation_id(std::string_view text) noexcept {
    return !text.empty() && text.size() <= kCorrelationIdBytesMax &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Compares without case. Requires: `lower` is in lower case.
inline bool same(std::string_view text, std::string_view lower) noexcept {
    if (text.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (ascii_lower(text[i]) != lower[i]) {
            return false;
        }
    }
    return true;
}

}  // namespace annals::net
