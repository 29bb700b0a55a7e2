// The clients that can get tokens from this server, as listed in auth.token_endpoint.clients_file.
//
// Layer:   core/config.
// Spec:    docs/security.md, "Tokens of its own".
// Threads: plain functions.

#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace annals::core {

/// A client. Exactly one of the sources of its keys is given.
struct TokenClient {
    std::string id;
    std::string scopes;     ///< the most that it can get, separated by blanks
    std::string jwks;       ///< a JWK Set
    std::string jwks_file;  ///< a file that contains a JWK Set
    std::string jwks_url;   ///< https, or http on a loopback address
};

inline constexpr std::size_t kTokenClientsMax = 1000;

/// The maximum number of clients with a jwks_url, each of which is fetched separately.
inline constexpr std::size_t kFetchedClientsMax = 32;

/// Reads a TOML file of `[[client]]` entries. Errors: usage: one line that names the setting, the file and the fault.
Result<std::vector<TokenClient>> read_token_clients(const std::string& file);

}  // namespace annals::core
