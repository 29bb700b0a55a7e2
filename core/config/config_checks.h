// What a configuration must be as a whole, and the words for what is wrong with one.
//
// Layer:   core/config.
// Threads: any.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"

#include <string>
#include <string_view>

namespace annals::core {

/// Whether the values go together. Errors: usage, one line.
Result<void> check_config(const Config& config);

/// Whether `url` is https, or http on a loopback address, where nobody can put other bytes in, and names no user.
bool is_safe_url(std::string_view url);

/// An Error of the one who configures.
Error usage(std::string detail);

/// One line of 200 bytes at most, whatever a value or a parser's message contains.
std::string one_line(std::string_view text);

/// Whether `text` is one of `choices`, which have blanks between them.
bool is_choice(std::string_view choices, std::string_view text);

}  // namespace annals::core
