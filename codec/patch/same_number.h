// same_number: whether two JSON numbers are equal, as `test` of RFC 6902 compares them.
//
// Layer:   codec; depends on nothing.
// Spec:    RFC 6902 section 4.6.
// Threads: a plain function.

#pragma once

#include <string_view>

namespace annals::patch {

/// True if two JSON numbers have the same value, however written: 1, 1.0, 10e-1. Exponents of more than 18
/// digits make them equal only if they are written the same.
bool same_number(std::string_view a, std::string_view b) noexcept;

}  // namespace annals::patch
