#include "tools/commands/server_url.h"

#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace annals::tools {

std::string ServerUrl::authority() const {
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

std::string ServerUrl::text() const {
    return (tls ? "https://" : "http://") + authority() + base_path;
}

Result<ServerUrl> parse_server_url(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        return Error{Errc::usage, fmt::format("'{}': {}", text, why)};
    };
    const bool tls = text.starts_with("https://");
    if (!tls && !text.starts_with("http://")) {
        return refuse("a server's root must be http://HOST:PORT/fhir or https://HOST:PORT/fhir");
    }
    std::string_view rest = text.substr(text.find("//") + 2);
    const bool plain = std::none_of(rest.begin(), rest.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '?' || c == '#';
    });
    if (!plain) {
        return refuse("a server's root must not have a query, blanks or line breaks");
    }
    const std::size_t slash = rest.find('/');
    std::string_view authority = rest.substr(0, slash);
    std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash);
    if (authority.find('@') != std::string_view::npos) {
        // Without the text: messages go to logs.
        return Error{Errc::usage,
                     "a server's root must not contain credentials: send them in a header"};
    }
    while (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    ServerUrl url;
    url.tls = tls;
    url.base_path = path;
    std::size_t host_end = authority.rfind(':');
    if (authority.starts_with('[')) {
        const std::size_t bracket = authority.find(']');
        if (bracket == std::string_view::npos) {
            return refuse("the closing bracket is missing");
        }
        if (bracket + 1 < authority.size() && authority[bracket + 1] != ':') {
            return refuse("after the bracket, only a port may follow");
        }
        url.host = authority.substr(1, bracket - 1);
        host_end = bracket + 1 < authority.size() ? bracket + 1 : std::string_view::npos;
    } else {
        url.host = authority.substr(0, host_end);
    }
    url.port =
        host_end == std::string_view::npos ? (tls ? "443" : "80") : authority.substr(host_end + 1);
    if (url.host.empty()) {
        return refuse("there is no host");
    }
    // The system would take 99999 for 34463, where another server may listen.
    const auto port = parse_number(url.port);
    if (!port || *port == 0 || *port > std::numeric_limits<std::uint16_t>::max()) {
        return refuse("the port must be a number from 1 to 65535");
    }
    return url;
}

Result<ServerUrl> server_with(std::string_view text, Credentials credentials, bool compresses) {
    ANNALS_TRY(ServerUrl server, parse_server_url(text));
    if (!server.tls && !credentials.cert_file.empty()) {
        return Error{Errc::usage,
                     fmt::format("'{}': a client certificate needs TLS, that is https://", text)};
    }
    ANNALS_TRY_VOID(settle_credentials(credentials));
    server.credentials = std::move(credentials);
    server.compression = compresses ? std::make_shared<Compression>() : nullptr;
    return server;
}

Result<std::optional<ServerUrl>> asked_server(const std::string& data, const std::string& server,
                                              Credentials credentials, bool compresses) {
    if (data.empty() == server.empty()) {
        return Error{Errc::usage, "give either --data or --server"};
    }
    if (server.empty() && !credentials.none()) {
        return Error{Errc::usage, "--header, --token-file, --cert and --key need --server"};
    }
    if (server.empty() && compresses) {
        return Error{Errc::usage, "--compress goes with --server"};
    }
    if (server.empty()) {
        return std::optional<ServerUrl>();
    }
    ANNALS_TRY(ServerUrl url, server_with(server, std::move(credentials), compresses));
    return std::optional(std::move(url));
}

std::string request_target(std::string_view link, std::string_view asked) {
    const std::size_t scheme = link.find("://");
    if (scheme != std::string_view::npos && link.find_first_of("/?#") == scheme + 1) {
        const std::size_t path = link.find('/', scheme + 3);
        return path == std::string_view::npos ? "/" : std::string(link.substr(path));
    }
    if (link.starts_with('/')) {
        return std::string(link);
    }
    const std::string_view path = asked.substr(0, asked.find('?'));
    if (link.starts_with('?')) {
        return fmt::format("{}{}", path, link);
    }
    if (link.starts_with("./")) {
        link.remove_prefix(2);
    }
    return fmt::format("{}/{}", path.substr(0, path.rfind('/')), link);
}

}  // namespace annals::tools
