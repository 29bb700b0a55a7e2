// The small files that credentials are in.
//
// Layer:   net/auth.
// Threads: plain functions; they block.

#pragma once

#include "core/base/result.h"
#include "net/auth/key_set.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net::auth {

/// A whole file, not empty and of a MiB at most. Errors: usage: one line with `setting` and the file's name.
Result<std::string> read_file(std::string_view setting, const std::string& file);

/// The same without the line end that editors leave. Errors: as read_file(); nothing is left.
Result<std::string> read_secret(std::string_view setting, const std::string& file);

/// A JWK Set. Errors: as read_file(); it is none.
Result<KeySet> read_keys(std::string_view setting, const std::string& file);

/// When `file` was written last, to tell whether it has changed; what isn't there has a time as well.
std::filesystem::file_time_type write_time(const std::string& file);

/// The same of each of `files`.
std::vector<std::filesystem::file_time_type> write_times(const std::vector<std::string>& files);

}  // namespace annals::net::auth
