// The TerminologyCapabilities: what the terminology operations support, and the code systems whose codes are known.
//
// Layer:   core.
// Spec:    FHIR R4 terminologycapabilities.html; docs/api/metadata.md.
// Threads: plain functions.

#pragma once

#include "core/descriptions.h"

#include <string>

namespace annals::core {

/// JSON that contains kBaseUrlMark, for callers that may not know what is stored: lists R4's own code systems and those of
/// packages. None is marked as the default, since a stored one would take precedence.
std::string make_carried_terminology(const Described& described);

/// The same, including the stored code systems.
std::string make_whole_terminology(const Described& described);

}  // namespace annals::core
