// DELETE [base]/[type]/[id] and DELETE [base]/[type]?criteria.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#delete, #cdelete; docs/api/delete.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

namespace annals::core {

/// 204, or 200 with an OperationOutcome if preferred: a deletion version (hard_delete off) or no version left
/// (hard_delete on). A deleted resource is deleted again without a new version. 404 (delete_absent), 412.
asio::awaitable<Response> delete_resource(const Service& service, const Request& request,
                                          const Target& target);

/// The same for a deletion version that no references and no scopes have a say in, where nothing stands in the way of the commit.
std::optional<Response> delete_early(const Service& service, const Request& request,
                                     const Target& target);

/// The same for the one match of the criteria; 204 without a match, 412 with several.
asio::awaitable<Response> conditional_delete(const Service& service, const Request& request,
                                             const Target& target);

/// What a client who asks for an outcome is told of one deletion: "1 resource deleted: Patient/1 version 2"; with `version` 0 all
/// `versions_erased` are gone.
std::string describe_deletion(TypeId type, std::string_view id, VersionNumber version,
                              std::uint64_t versions_erased);

/// The same where there was nothing to delete; `head`: of the resource.
std::string describe_no_deletion(TypeId type, std::string_view id, const storage::Head& head);

/// The same where the criteria matched nothing.
inline constexpr std::string_view kNothingMatched = "Nothing matches: nothing deleted";

}  // namespace annals::core
