// If-Match, If-None-Match and If-Modified-Since: is the version that stands there the one meant?
//
// Layer:   core/interactions.
// Spec:    RFC 9110 section 13; FHIR R4 http.html#concurrency, #cread.
// Threads: plain functions.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/exchange.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The entity tags of one header: weak, strong or bare, one or a list, or *.
///
/// Lifetime: views point into the request.
struct EntityTags {
    bool any = false;                      ///< *
    std::vector<std::string_view> opaque;  ///< what stands between the quotes

    /// True if one of the tags names `version` (not for *).
    bool names(VersionNumber version) const;

    /// "3" or "3 or 4": for diagnostics.
    std::string describe() const;
};

/// Reads all headers `name` of the request as one list; none if there is no such header.
/// Errors: invalid (a malformed tag).
Result<std::optional<EntityTags>> read_entity_tags(const Request& request, std::string_view name);

/// The error of a failed If-Match: "If-Match: expected version 3, actual version 5".
Error match_failed(const EntityTags& expected, std::optional<VersionNumber> actual);

/// True if the request's conditions say that the client has this version already: 304.
/// A malformed condition is no condition.
bool not_modified(const Request& request, VersionNumber version, Instant last_updated);

}  // namespace annals::core
