// ServerUrl: where a FHIR server is, as a command line names it.
//
// Layer:   tools (commands and tests).
// Threads: plain values and functions.

#pragma once

#include "core/base/result.h"
#include "tools/commands/credentials.h"

#include <string>
#include <string_view>

namespace annals::tools {

/// A server's root: "http://host:port/fhir".
struct ServerUrl {
    std::string host;
    std::string port;
    std::string base_path;      ///< "/fhir": no slash at the end, empty for the root
    bool tls = false;           ///< https
    Credentials credentials{};  ///< go with each request; no part of text()

    /// "host:port" as Host has it; an IPv6 address in brackets.
    std::string authority() const;
    std::string text() const;
};

/// Reads a server's root. Errors: usage (neither http:// nor https://, no host, a query).
Result<ServerUrl> parse_server_url(std::string_view text);

/// The same, with what it is shown, which is settled. Errors: as parse_server_url() and settle_credentials(), and usage: a
/// certificate that plain HTTP would not show.
Result<ServerUrl> server_with(std::string_view text, Credentials credentials);

/// Path and query of `link` (a URL that the server gave), to be asked of the same connection whatever
/// name the server knows itself by. A relative one goes on from `asked`, the target that it answers.
std::string request_target(std::string_view link, std::string_view asked = {});

}  // namespace annals::tools
