// $meta, $meta-add, $meta-delete: the profiles, tags and security labels in use, and changes of them.
//
// Layer:   core/operations.
// Spec:    FHIR R4 resource-operation-meta.html; docs/api/meta.md.
// Threads: runs on the loop of its request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// GET at every level: 200 with Parameters, `return` is a Meta: a version's own, or the union of all live resources'.
/// POST on an instance with a parameter `meta` is $meta-add.
///
/// Status: 404, 410 without the resource or version; 413 if the union has too many values or resources; 503 if it
/// takes too long.
asio::awaitable<Response> meta_operation(const Service& service, const Request& request,
                                         const Target& target);

/// POST type/id/$meta-add, $meta-delete: 200 with the resulting Meta. Makes a new version if something changes.
///
/// Status: 400 without `meta` (required); 404, 410; 412 by If-Match; 422 if validation rejects it.
asio::awaitable<Response> meta_add_operation(const Service& service, const Request& request,
                                             const Target& target);
asio::awaitable<Response> meta_delete_operation(const Service& service, const Request& request,
                                                const Target& target);

}  // namespace annals::core
