// Cors: which responses scripts from other origins may read.
//
// Layer:   net.
// Spec:    the Fetch standard, "CORS protocol"; docs/security.md, "Browsers".
// Threads: immutable once made.

#pragma once

#include "core/config/config.h"
#include "core/exchange.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::net {

/// All methods in use on any path, as in an Allow header.
inline constexpr std::string_view kAllMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";

/// The methods allowed on `path` below /fhir, as in an Allow header; all of them if the path leads nowhere,
/// so that the script sees the response that says so.
std::string methods_of(const core::Config& config, std::string_view path);

/// Whether a page of this server sent the request, by its Origin and its `host`, so that no proxy needs configuration
/// for it.
bool is_own_origin(const core::Request& request, std::string_view host);

class Cors {
  public:
    /// `origins` as configured; if there are none, every method here does nothing.
    explicit Cors(const std::vector<std::string>& origins);

    /// The header lines for every response to `request` below /fhir; empty if its origin is not configured, or it
    /// has none. With `*` every request gets them: a browser may cache a response requested without an origin, and
    /// could not give it to a script later if they were missing. Lifetime: as long as this.
    std::string_view lines(const core::Request& request) const noexcept;

    /// Whether a browser sent it for a page of an origin that is not allowed, without the preflight that would
    /// have prevented it (CORS-safelisted requests). Hiding the response would be too late: the page would have
    /// written already, from inside its user's network and with the user's certificate.
    bool is_of_foreign_page(const core::Request& request, std::string_view host) const;

    /// Whether responses depend on the request's origin, which caches must be told.
    bool varies() const noexcept { return !by_origin_.empty(); }

    /// The response to a preflight request (OPTIONS from a configured origin): what the path
    /// allows. None if it isn't one.
    std::optional<core::Response> preflight(const core::Config& config,
                                            const core::Request& request) const;

  private:
    std::string any_lines_;                                       ///< those for `*`
    std::vector<std::pair<std::string, std::string>> by_origin_;  ///< origins and their lines
};

}  // namespace annals::net
