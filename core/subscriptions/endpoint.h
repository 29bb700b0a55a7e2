// Endpoints: where notifications may be sent according to the configuration.
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

/// The parts of a URL that determine where a request goes.
struct Endpoint {
    bool encrypted = false;  ///< https
    std::string host;        ///< in lower case; an IPv6 address has its brackets
    std::string port;        ///< decimal, without leading zeros
    std::string path;        ///< unchanged; begins with '/'
    bool has_query = false;
};

/// Reads an absolute http or https URL. Refuses anything that two parsers might interpret differently: user information,
/// fragments, dot segments in any spelling, backslashes, anything but visible ASCII. Errors: value.
Result<Endpoint> read_endpoint(std::string_view url);

/// Whether `endpoint` is below one of the URLs in `allowed`: scheme, host and port are equal, and its path begins with theirs,
/// up to the end of a segment.
bool is_allowed(const Endpoint& endpoint, std::span<const std::string> allowed);

}  // namespace annals::core
