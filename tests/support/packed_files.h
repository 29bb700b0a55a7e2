// What a file of a store says, when it is a packed segment.
//
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::test {

/// `file`; if it is a packed segment, all that is compressed in it follows: its image and its dictionary. Fails the test if
/// it is one that is not whole.
std::string unpacked(std::string_view file);

/// Whether it is one.
bool is_packed(std::string_view file);

}  // namespace annals::test
