// GET and HEAD [base]/[type]/[id]: the current version.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#read, #cread; docs/api/read.md.
// Threads: runs on the loop of its request; never waits.

#pragma once

#include "core/service.h"

namespace annals::core {

/// 200 with the stored bytes, 304 by If-None-Match or If-Modified-Since, 404, 410.
Response read(const Service& service, const Request& request, const Target& target);

}  // namespace annals::core
