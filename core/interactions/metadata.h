// GET [base]/metadata and OPTIONS [base]: the CapabilityStatement, made from the table that dispatches.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 capabilitystatement.html, http.html#capabilities; docs/api/metadata.md.
// Threads: runs on the loop of its request; never waits.

#pragma once

#include "core/config/config.h"
#include "core/search/parameters.h"
#include "core/service.h"

namespace annals::core {

/// 200 with a weak ETag that changes with the configuration; 304 by If-None-Match.
Response metadata(const Service& service, const Request& request, const Target& target);

/// `guides` are the canonical URLs of what is installed.
CapabilityStatement make_capability_statement(const Config& config,
                                              const search::ParameterSet& parameters,
                                              const std::vector<std::string>& guides,
                                              Instant started);

}  // namespace annals::core
