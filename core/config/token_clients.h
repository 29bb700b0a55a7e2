// The clients that may get tokens here, as auth.token_endpoint.clients_file names them.
//
// Layer:   core/config.
// Spec:    docs/security.md, "Tokens of its own".
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace annals::core {

/// One client. Of the three places of its keys one is given.
struct TokenClient {
    std::string id;
    std::string scopes;     ///< what it may have at most, separated by blanks
    std::string jwks;       ///< a JWK Set as it stands
    std::string jwks_file;  ///< a file with one
    std::string jwks_url;   ///< https, or http on a loopback address
};

inline constexpr std::size_t kTokenClientsMax = 1000;

/// Those with a jwks_url: each is fetched by itself.
inline constexpr std::size_t kFetchedClientsMax = 32;

/// Reads a TOML file of `[[client]]` entries. Errors: usage: one line that names the setting, the file and the fault.
Result<std::vector<TokenClient>> read_token_clients(const std::string& file);

}  // namespace annals::core
