// Breaks what is shown on a terminal into lines.
//
// Layer:   tools.
// Threads: plain functions.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace annals::tools {

/// How many columns help and tables take.
inline constexpr std::size_t kColumns = 80;

/// `text`, one line, broken at blanks into lines of at most `columns` characters (longer where a word is).
/// Each but the first begins with `indent`.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent = {});

}  // namespace annals::tools
