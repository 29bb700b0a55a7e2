// The TerminologyCapabilities: what operations of terminology can do here, and of which code systems the codes are known.
//
// Layer:   core.
// Spec:    FHIR R4 terminologycapabilities.html; docs/api/metadata.md.
// Threads: plain functions.

#pragma once

#include "core/descriptions.h"

#include <string>

namespace annals::core {

/// JSON with kBaseUrlMark in it, for who may not know what is stored: of R4's own code systems and those of packages.
/// None is called the default, since one that is stored goes first.
std::string make_carried_terminology(const Described& described);

/// The same of those that are stored as well.
std::string make_whole_terminology(const Described& described);

}  // namespace annals::core
