// Endpoints: where notifications may be sent, by what the configuration allows.
//
// Layer:   core/subscriptions.
// Spec:    docs/api/subscriptions.md, Where notifications may go; RFC 3986.
// Threads: plain functions and values.

#pragma once

#include "core/base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace annals::core {

/// The parts of a URL that say where a request goes.
struct Endpoint {
    bool encrypted = false;  ///< https
    std::string host;        ///< in lower case; of an IPv6 address with its brackets
    std::string port;        ///< decimal, without leading zeros
    std::string path;        ///< as it stands; begins with '/'
    bool has_query = false;
};

/// Reads an absolute http or https URL. Refused is what two readers could understand in two ways: user information,
/// fragments, segments of dots however they are written, backslashes, anything but visible ASCII.
/// Errors: value.
Result<Endpoint> read_endpoint(std::string_view url);

/// Whether `endpoint` lies below one of `allowed`, URLs of which scheme, host and port must be the same and whose path must be
/// the beginning of the endpoint's, ending where a segment ends.
bool is_allowed(const Endpoint& endpoint, std::span<const std::string> allowed);

}  // namespace annals::core
