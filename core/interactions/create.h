// POST [base]/[type]: a new resource with an id chosen by the server, conditional by If-None-Exist.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#create, #ccreate; docs/api/create.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// 201 with Location; 200 with the one match of If-None-Exist; 412 if it matches several.
asio::awaitable<Response> create(const Service& service, const Request& request,
                                 const Target& target);

/// The same, answered before it is durable (EarlyHandler). None if create() must be used: there are conditions; the
/// body is larger than 1 MiB; restricted scopes require its references to be checked; validation would hold up the loop
/// (definitions that are not in memory, many steps); or another commit must settle first.
std::optional<Response> create_early(const Service& service, const Request& request,
                                     const Target& target);

/// "Patient/1 matches: nothing created".
std::string describe_match(TypeId type, std::string_view id);

}  // namespace annals::core
