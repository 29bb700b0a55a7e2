#include "net/cors.h"

#include "core/base/text.h"
#include "core/interactions/media_type.h"
#include "core/service.h"
#include "core/target.h"

#include <fmt/format.h>

namespace annals::net {

namespace {

/// The headers that a script may read in addition to those that it always may.
constexpr std::string_view kExposed =
    "ETag, Location, Content-Location, Last-Modified, X-Request-Id, X-Correlation-Id, "
    "X-Annals-Position, X-Annals-Last-Position, X-Progress, Retry-After, RateLimit-Limit, "
    "RateLimit-Remaining, RateLimit-Reset, WWW-Authenticate, Expires, Accept-Ranges, "
    "Content-Range, Allow, Accept, Accept-Patch, Accept-Encoding, Preference-Applied, "
    "Content-Disposition, X-Security-Context";

/// The headers that a script may send; any others it asks for have no effect here.
constexpr std::string_view kTaken =
    "Accept, Authorization, Content-Encoding, Content-Type, If-Match, If-Modified-Since, "
    "If-None-Exist, If-None-Match, If-Range, If-Unmodified-Since, Last-Event-ID, Prefer, Range, "
    "X-API-Key, X-Annals-Min-Position, X-Request-Id, X-Security-Context";

/// Browsers may keep the response for less time.
constexpr std::string_view kMaxAge = "7200";

constexpr std::string_view kPreflightVary =
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

std::string lines_for(std::string_view origin) {
    // With `*` a browser rejects the response if the request has credentials of the browser's.
    return fmt::format(
        "Access-Control-Allow-Origin: {}\r\n{}"
        "Access-Control-Expose-Headers: {}\r\n",
        origin, origin == "*" ? "" : "Access-Control-Allow-Credentials: true\r\n", kExposed);
}

}  // namespace

std::string methods_of(const core::Config& config, std::string_view path) {
    const Result<core::Target> target = core::parse_target(path);
    std::string allow = target ? core::allowed_methods(config, *target) : "";
    return allow.empty() ? std::string(kAllMethods) : allow;
}

bool is_own_origin(const core::Request& request, std::string_view host) {
    const std::string_view origin = request.header("Origin").value_or("");
    const std::size_t scheme = origin.find("://");
    if (scheme == std::string_view::npos) {
        return false;
    }
    const std::string_view root = request.base_url;
    return (!host.empty() && origin.substr(scheme + 3) == host) ||
           (root.starts_with(origin) && root.substr(origin.size()).starts_with('/'));
}

Cors::Cors(const std::vector<std::string>& origins) {
    for (const std::string& origin : origins) {
        if (origin == "*") {
            any_lines_ = lines_for(origin);
        } else {
            by_origin_.emplace_back(origin, lines_for(origin));
        }
    }
}

std::string_view Cors::lines(const core::Request& request) const noexcept {
    if (by_origin_.empty()) {
        return any_lines_;
    }
    const auto origin = request.header("Origin");
    for (const auto& [known, lines] : by_origin_) {
        if (known == origin) {
            return lines;
        }
    }
    return any_lines_;
}

bool Cors::is_of_foreign_page(const core::Request& request, std::string_view host) const {
    if (request.method != core::HttpMethod::post || !request.header("Origin") ||
        !lines(request).empty() || is_own_origin(request, host) ||
        request.path.ends_with("/_search")) {
        return false;
    }
    // Scripts can't set it. It identifies the application's own pages behind a proxy that changes Host.
    if (request.header("Sec-Fetch-Site") == "same-origin") {
        return false;
    }
    const std::string_view type =
        core::read_media_type(request.header("Content-Type").value_or("")).name;
    return type.empty() || equal_ignoring_case(type, "text/plain") ||
           equal_ignoring_case(type, "application/x-www-form-urlencoded") ||
           equal_ignoring_case(type, "multipart/form-data");
}

std::optional<core::Response> Cors::preflight(const core::Config& config,
                                              const core::Request& request) const {
    if (request.method != core::HttpMethod::options || lines(request).empty() ||
        !request.header("Origin") || !request.header("Access-Control-Request-Method")) {
        return std::nullopt;
    }
    core::Response response;
    response.status = 204;
    response.headers.emplace_back("Access-Control-Allow-Methods", methods_of(config, request.path));
    std::string& taken =
        response.headers.emplace_back("Access-Control-Allow-Headers", kTaken).second;
    // Libraries add headers of their own to each request (Cache-Control, X-Requested-With, traceparent), and
    // a browser sends nothing unless all are allowed.
    if (const auto asked = request.header("Access-Control-Request-Headers");
        asked && !asked->empty()) {
        taken.append(", ").append(*asked);
    }
    response.headers.emplace_back("Access-Control-Max-Age", kMaxAge);
    response.headers.emplace_back("Vary", kPreflightVary);
    return response;
}

}  // namespace annals::net
