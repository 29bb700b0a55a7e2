// Rewriting: a new version computed from the newest one, repeated if another writer came first.
//
// Layer:   core/interactions. For patch, and operations that change stored resources.
// Spec:    FHIR R4 http.html#patch, #concurrency.
// Threads: runs on the loop of its request.

#pragma once

#include "codec/json/document.h"
#include "core/interactions/criteria.h"
#include "core/service.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <functional>
#include <optional>

namespace annals::core {

struct Unfinished;

/// What is to be rewritten, and how.
///
/// Lifetime: what it points to outlives the rewriting.
struct Rewrite {
    TypeId type;
    std::string_view id;                 ///< or:
    const Criteria* criteria = nullptr;  ///< the one resource that matches these
    storage::Method method = storage::Method::put;
    bool deleted_too = false;  ///< also rewrite a deleted resource, whose version has no body

    /// The resource that becomes the next version after `base`; none: no new version. May be called several
    /// times. `unfinished`: receives what would hold up the loop; the result is then meaningless.
    std::function<Result<std::optional<json::Document>>(const storage::StoredVersion& base,
                                                        Unfinished& unfinished)>
        make;
};

/// Makes a new version, subject to If-Match, with the checks of every write, and answers as an update does; without a
/// new version, 200 with the newest one's ETag and Last-Modified and no body.
///
/// Status: 404, 410 without the resource; 412 by If-Match or criteria; the errors of `make`; 422 for what
/// validation refuses.
asio::awaitable<Response> rewrite_resource(const Service& service, const Request& request,
                                           const Rewrite& rewrite);

}  // namespace annals::core
