// GET [base]/metadata, OPTIONS [base] and GET [base]/openapi.json: the server's descriptions of itself.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#capabilities; docs/api/metadata.md, docs/api/openapi.md.
// Threads: run on the loop of their request.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 200 with a weak ETag that changes with the contents; 304 by If-None-Match. With mode=terminology the TerminologyCapabilities.
asio::awaitable<Response> metadata(const Service& service, const Request& request,
                                   const Target& target);

/// 200 or 304 with the OpenAPI document, which is JSON whichever FHIR format is accepted. As an entry of a Bundle: 400.
Response openapi(const Service& service, const Request& request, const Target& target);

}  // namespace annals::core
