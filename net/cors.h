// Cors: which answers the scripts of other origins may read.
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

/// All methods that any path takes, as Allow has them.
inline constexpr std::string_view kAllMethods = "GET, HEAD, POST, PUT, PATCH, DELETE";

/// The methods that `path` below /fhir takes, as Allow has them; all there are where it leads nowhere, so that whoever asks sees the
/// answer that says so.
std::string methods_of(const core::Config& config, std::string_view path);

class Cors {
  public:
    /// `origins` as configured; none: every method here does nothing.
    explicit Cors(const std::vector<std::string>& origins);

    /// The header lines that every answer to `request` below /fhir gets; empty if its origin is none of those, or it
    /// has none. With `*` whoever asks gets them: a browser keeps an answer that it asked for without an origin, and
    /// may not give it to a script of one without them. Lifetime: of this.
    std::string_view lines(const core::Request& request) const noexcept;

    /// Whether what is answered depends on who asks, so that caches must know.
    bool varies() const noexcept { return !by_origin_.empty(); }

    /// The answer to a preflight request (OPTIONS of an origin that may call): what the path takes. None: it is none.
    std::optional<core::Response> preflight(const core::Config& config,
                                            const core::Request& request) const;

  private:
    std::string any_lines_;                                       ///< those of `*`
    std::vector<std::pair<std::string, std::string>> by_origin_;  ///< their lines
};

}  // namespace annals::net
