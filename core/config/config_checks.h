// Checks of a configuration as a whole, and its error messages.
//
// Layer:   core/config.
// Threads: any.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"

#include <string>
#include <string_view>

namespace annals::core {

/// Whether the values go together. Errors: usage: one line.
Result<void> check_config(const Config& config);

/// Whether `url` is https, or http on a loopback address, where nobody can tamper with it, and contains no user name.
bool is_safe_url(std::string_view url);

/// An error in the configuration.
Error usage(std::string detail);

/// `text` as one line of at most 200 bytes, whatever a value or a parser's message contains.
std::string one_line(std::string_view text);

}  // namespace annals::core
