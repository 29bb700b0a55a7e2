// DELETE [base]/[type]/[id] and DELETE [base]/[type]?criteria.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#delete, #cdelete; docs/api/delete.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 204, or 200 with an OperationOutcome if preferred: writes a deletion version (hard_delete off) or leaves no
/// version (hard_delete on). Deleting a deleted resource again writes no new version. 404 (delete_absent), 412.
asio::awaitable<Response> delete_resource(const Service& service, const Request& request,
                                          const Target& target);

/// The same, answered before it is durable (EarlyHandler). None if delete_resource() must be used: hard_delete or
/// referential_integrity.on_delete is on; scopes are restricted; there is nothing to delete, or the request is refused;
/// or another commit must settle first.
std::optional<Response> delete_early(const Service& service, const Request& request,
                                     const Target& target);

/// The same for the one match of the criteria; 204 without a match, 412 with several.
asio::awaitable<Response> conditional_delete(const Service& service, const Request& request,
                                             const Target& target);

/// Whether an answer may say that there is nothing to delete, or nothing to revert by deleting: with hard_delete that promises
/// that no byte is left of what was erased before. Errors: those of Loop::all_erased().
asio::awaitable<Result<void>> check_erased(const Service& service, const Request& request);

/// Refuses a DELETE with a body. Errors: invalid.
Result<void> check_no_body(const Request& request);

/// The outcome's text for one deletion: "1 resource deleted: Patient/1 version 2"; `version` 0: all `versions_erased` versions
/// are gone.
std::string describe_deletion(TypeId type, std::string_view id, VersionNumber version,
                              std::uint64_t versions_erased);

/// The same if there was nothing to delete; `head` is the resource's.
std::string describe_no_deletion(TypeId type, std::string_view id, const storage::Head& head);

/// The same if the criteria matched nothing.
inline constexpr std::string_view kNothingMatched = "Nothing matches: nothing deleted";

}  // namespace annals::core
