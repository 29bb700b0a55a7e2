// API keys: for each key, its id, its digest and its scopes.
//
// Layer:   core/config.
// Spec:    docs/security.md, API keys: a TOML file of [[key]] tables with id, sha256 (hex) and scopes.
// Threads: plain values.

#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace annals::core {

struct ApiKey {
    std::string id;
    std::string sha256;  ///< 64 hex digits, lower case
    std::string scopes;  ///< separated by blanks
};

/// Reads `file`. Errors: usage: one line that names the file and the fault, but contains no secret.
Result<std::vector<ApiKey>> read_api_keys(const std::string& file);

}  // namespace annals::core
