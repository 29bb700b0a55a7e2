// If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since, checked against the current version.
//
// Layer:   core/interactions.
// Spec:    RFC 9110 section 13; FHIR R4 http.html#concurrency, #cread.
// Threads: plain functions.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/exchange.h"
#include "storage/types.h"

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
    std::vector<std::string_view> opaque;  ///< the parts between the quotes

    /// True if one of the tags names `version` (not for *).
    bool names(VersionNumber version) const;

    /// "3" or "3 or 4": for diagnostics.
    std::string describe() const;
};

/// What a write requires of the version that it replaces or deletes.
struct Preconditions {
    std::optional<EntityTags> match;
    std::optional<EntityTags> none_match;
    std::optional<Instant> unmodified_since;  ///< whole seconds; ignored if `match` is set

    bool none() const noexcept { return !match && !none_match && !unmodified_since; }
};

/// Errors: invalid (a malformed tag). An invalid date is ignored (RFC 9110 section 13.1.4).
Result<Preconditions> read_preconditions(const Request& request);

/// The Head of a resource with the durable newest version `newest`; without erased_through.
storage::Head head_of(const storage::VersionInfo& newest) noexcept;

/// Checks that `head`, of `type`/`id`, meets `required`. A deletion is a version like others, but `*` doesn't match it.
/// Errors: precondition: "If-Match: expected version 3, actual version 5".
Result<void> check_preconditions(const Preconditions& required, TypeId type, std::string_view id,
                                 const storage::Head& head);

/// True if If-None-Match says that the client has the version `version` in the representation that it asks for.
bool is_kept(const Request& request, VersionNumber version);

/// True if the request's conditions say that the client has this version already (304). A malformed condition
/// is ignored.
bool not_modified(const Request& request, VersionNumber version, Instant last_updated);

/// The same for a file, whose tag is a hash of its bytes instead of a number; `tag` is without quotes.
bool file_not_modified(const Request& request, std::string_view tag, Instant written);

}  // namespace annals::core
