#include "core/subscriptions/endpoint.h"

#include "core/base/ascii.h"
#include "core/base/text.h"

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::size_t kUrlBytesMax = 2048;

Error malformed(std::string_view why) {
    return {Errc::value, std::string(why)};
}

bool is_host(std::string_view host) noexcept {
    const bool address = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (address) {
        host = host.substr(1, host.size() - 2);
    }
    return !host.empty() && std::all_of(host.begin(), host.end(), [address](char c) {
        const bool hex = is_digit(c) || (c >= 'a' && c <= 'f');
        return address ? hex || c == ':' || c == '.'
                       : is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
    });
}

bool read_port(std::string_view text, std::string& port) {
    if (!parse_number<std::uint16_t>(text) || text.front() == '0') {
        return false;
    }
    port = text;
    return true;
}

// Whether it is "." or "..", with dots plain or as %2e, also with parameters, which some servers strip first.
bool is_dots(std::string_view segment) noexcept {
    segment = segment.substr(0, segment.find(';'));
    std::size_t dots = 0;
    while (!segment.empty()) {
        if (segment.front() == '.') {
            segment.remove_prefix(1);
        } else if (segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' &&
                   ascii_lower(segment[2]) == 'e') {
            segment.remove_prefix(3);
        } else {
            return false;
        }
        ++dots;
    }
    return dots == 1 || dots == 2;
}

// The length of the slash that `path` begins with: plain, or as %2f or %5c, as some servers decode before they split.
std::size_t slash_size(std::string_view path) noexcept {
    if (path.starts_with('/')) {
        return 1;
    }
    const bool hidden = path.size() >= 3 && path[0] == '%' &&
                        ((path[1] == '2' && ascii_lower(path[2]) == 'f') ||
                         (path[1] == '5' && ascii_lower(path[2]) == 'c'));
    return hidden ? 3 : 0;
}

bool has_dots(std::string_view path) noexcept {
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= path.size(); ++at) {
        const std::size_t slash = slash_size(path.substr(at));
        if (slash == 0 && at < path.size()) {
            continue;
        }
        if (is_dots(path.substr(begin, at - begin))) {
            return true;
        }
        begin = at + slash;
    }
    return false;
}

}  // namespace

Result<Endpoint> read_endpoint(std::string_view url) {
    if (url.size() > kUrlBytesMax) {
        return malformed("the URL is too long");
    }
    if (!std::all_of(url.begin(), url.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != '#'; })) {
        return malformed("the URL has characters that are not allowed in URLs");
    }
    Endpoint endpoint;
    const std::size_t scheme_end = url.find("://");
    const std::string scheme = ascii_lower(url.substr(0, std::min(scheme_end, url.size())));
    if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
        return malformed("it is not an http or https URL");
    }
    endpoint.encrypted = scheme == "https";
    url.remove_prefix(scheme_end + 3);
    const std::size_t authority_end = std::min(url.find_first_of("/?"), url.size());
    const std::string authority = ascii_lower(url.substr(0, authority_end));
    url.remove_prefix(authority_end);

    const std::size_t bracket = authority.rfind(']');
    const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
    endpoint.host = authority.substr(0, colon);
    endpoint.port = endpoint.encrypted ? "443" : "80";
    if (!is_host(endpoint.host) ||
        (colon != std::string::npos && !read_port(authority.substr(colon + 1), endpoint.port))) {
        return malformed("the URL's host is malformed");
    }
    const std::size_t query = std::min(url.find('?'), url.size());
    endpoint.path = url.substr(0, query);
    endpoint.has_query = query != url.size();
    if (endpoint.path.empty()) {
        endpoint.path = "/";
    }
    if (has_dots(endpoint.path)) {
        return malformed("the URL's path has . or .. as a segment");
    }
    return endpoint;
}

bool is_allowed(const Endpoint& endpoint, std::span<const std::string> allowed) {
    return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& prefix) {
        const Result<Endpoint> wanted = read_endpoint(prefix);
        return wanted && wanted->encrypted == endpoint.encrypted && wanted->host == endpoint.host &&
               wanted->port == endpoint.port && endpoint.path.starts_with(wanted->path) &&
               (wanted->path.ends_with('/') || endpoint.path.size() == wanted->path.size() ||
                endpoint.path[wanted->path.size()] == '/');
    });
}

}  // namespace annals::core
