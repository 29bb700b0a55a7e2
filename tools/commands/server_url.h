// ServerUrl: the address of a FHIR server, as given on a command line.
//
// Layer:   tools (commands, bench and tests).
// Threads: plain values and functions.

#pragma once

#include "core/base/result.h"
#include "tools/commands/credentials.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace annals::tools {

/// Compression of what is exchanged with a server, by all connections to it.
struct Compression {
    std::atomic<bool> taken{false};    ///< the server has taken a compressed body
    std::atomic<bool> refused{false};  ///< it takes none
};

/// A server's root: "http://host:port/fhir".
struct ServerUrl {
    std::string host;
    std::string port;
    std::string base_path;                       ///< "/fhir": no trailing slash, empty for the root
    bool tls = false;                            ///< https
    Credentials credentials{};                   ///< sent with each request; not part of text()
    std::shared_ptr<Compression> compression{};  ///< null: none; not part of text()

    /// "host:port" as in the Host header; an IPv6 address in brackets.
    std::string authority() const;
    std::string text() const;
};

/// Reads a server's root. Errors: usage (neither http:// nor https://, no host, a query).
Result<ServerUrl> parse_server_url(std::string_view text);

/// The same with credentials, which it settles, and with compression if it `compresses`. Errors: as parse_server_url() and
/// settle_credentials(), and usage (a certificate for plain HTTP, which can't use it).
Result<ServerUrl> server_with(std::string_view text, Credentials credentials,
                              bool compresses = false);

/// The server of a command that takes `--data` or `--server`; nothing if `data` is given. Errors: usage (not exactly one of them
/// is given, or `data` with what goes with a server), and as server_with().
Result<std::optional<ServerUrl>> asked_server(const std::string& data, const std::string& server,
                                              Credentials credentials, bool compresses);

/// Path and query of `link` (a URL from the server), to be requested on the same connection whatever
/// name the server gives itself. A relative one is resolved against `asked`, the target that returned it.
std::string request_target(std::string_view link, std::string_view asked = {});

}  // namespace annals::tools
