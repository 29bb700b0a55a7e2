// Names that clients give to files and folders.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <string_view>

namespace annals {

/// Whether `name` is up to `chars_max` of A-Z a-z 0-9 - _ . without a leading dot: a name rather than a path, so that it can't
/// refer to anything outside of its folder.
inline bool is_plain_name(std::string_view name, std::size_t chars_max) noexcept {
    return !name.empty() && name.size() <= chars_max && name.front() != '.' &&
           name.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") ==
               std::string_view::npos;
}

}  // namespace annals
