// The content of a store's files, packed segments unpacked.
//
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::test {

/// `file`; if it is a packed segment, its uncompressed image and dictionary are appended. Fails the test if
/// the segment is incomplete.
std::string unpacked(std::string_view file);

/// Whether `file` is a packed segment.
bool is_packed(std::string_view file);

}  // namespace annals::test
