// API keys: who has one, as its digest, and what it permits.
//
// Layer:   core/config.
// Spec:    contract.md, auth.api_keys_file: TOML of [[key]] with id, sha256 (hex) and scopes.
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

/// Reads `file`. Errors: usage: one line that names the file and what is wrong with it, and no secret.
Result<std::vector<ApiKey>> read_api_keys(const std::string& file);

}  // namespace annals::core
