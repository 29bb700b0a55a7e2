// Rewriting: a new version computed from the newest one, again if another writer was faster.
//
// Layer:   core/interactions. Patch, and operations that change what is stored.
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

/// What is to be rewritten, and how.
///
/// Lifetime: what it points at outlives the rewriting.
struct Rewrite {
    TypeId type;
    std::string_view id;                 ///< or:
    const Criteria* criteria = nullptr;  ///< the one resource that matches these
    storage::Method method = storage::Method::put;
    bool deleted_too = false;  ///< a deleted resource is rewritten, too: its version has no body

    /// The resource that becomes the next version of `base`; none if there shall be none. Called once or more.
    std::function<Result<std::optional<json::Document>>(const storage::StoredVersion& base)> make;
};

/// Makes a new version by If-Match, checks it as every write is checked, and answers as an update does; without a new
/// version, 200 with the newest one's ETag and Last-Modified and no body.
///
/// Status: 404, 410 without the resource; 412 by If-Match or criteria; what `make` refuses; 422 for what
///         validation refuses.
asio::awaitable<Response> rewrite_resource(const Service& service, const Request& request,
                                           const Rewrite& rewrite);

}  // namespace annals::core
