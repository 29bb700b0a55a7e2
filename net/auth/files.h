// Reads the small files that hold credentials.
//
// Layer:   net/auth.
// Threads: plain functions; they block.

#pragma once

#include "core/base/result.h"
#include "net/auth/key_set.h"

#include <string>
#include <string_view>

namespace annals::net::auth {

/// A whole file, which must have between one byte and 1 MiB. Errors: usage: one line with
/// `setting` and the file's name.
Result<std::string> read_file(std::string_view setting, const std::string& file);

/// The same without the line break that editors leave. Errors: as read_file(), and if nothing is left.
Result<std::string> read_secret(std::string_view setting, const std::string& file);

/// A JWK Set. Errors: as read_file(), and if it isn't one.
Result<KeySet> read_keys(std::string_view setting, const std::string& file);

}  // namespace annals::net::auth
