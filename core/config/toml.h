// toml++ as this project uses it: errors are values.
//
// Layer:   core/config.

#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>

namespace annals::core {

/// What the library holds for impossible, and some files make possible (a table's name that begins with a brace, in 3.3).
struct TomlAssertion {};

}  // namespace annals::core

#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#undef TOML_EXCEPTIONS
#undef TOML_ASSERT
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(expr) ((expr) ? void() : throw annals::core::TomlAssertion())
#include <toml++/toml.h>

namespace annals::core {

/// What `text` says. Errors: usage: one line that names the line and the fault.
Result<toml::table> parse_toml(std::string_view text);

/// The same of a file. Errors: as parse_toml(); it can't be read.
Result<toml::table> read_toml(const std::string& file);

}  // namespace annals::core
