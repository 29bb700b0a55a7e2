// Fixed-width little-endian numbers in byte buffers, whatever the alignment.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

namespace annals {

static_assert(std::endian::native == std::endian::little, "the on-disk format is little-endian");

/// Reads a T at `from`. Requires: sizeof(T) readable bytes.
template <typename T>
T load_le(const char* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Takes a T from the front of `bytes`. Requires: sizeof(T) bytes.
template <typename T>
T take_le(std::string_view& bytes) noexcept {
    const T value = load_le<T>(bytes.data());
    bytes.remove_prefix(sizeof(T));
    return value;
}

/// Writes `value` at `to`. Requires: sizeof(T) writable bytes.
template <typename T>
void store_le(char* to, T value) noexcept {
    std::memcpy(to, &value, sizeof value);
}

/// Appends `value` to `out`.
template <typename T>
void append_le(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace annals
