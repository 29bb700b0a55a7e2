// parts: takes a text apart at its separators.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <algorithm>
#include <string_view>

namespace annals {

/// The text before `separator`, which is removed from `rest` together with the separator; all of `rest` if it has none.
inline std::string_view take_until(std::string_view& rest, char separator) noexcept {
    const std::string_view part = rest.substr(0, rest.find(separator));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    return part;
}

/// Whether one of the words in `list`, which are separated by blanks, is `word`.
inline bool has_word(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        if (take_until(list, ' ') == word) {
            return true;
        }
    }
    return false;
}

}  // namespace annals
