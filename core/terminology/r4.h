// R4's own code systems and value sets, those of HL7 version 2 and 3 that it uses included.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 terminologies-systems.html, terminologies-valuesets.html; docs/schema.md.
// Threads: any.

#pragma once

#include "core/terminology/listed.h"
#include "core/terminology/source.h"

#include <vector>

namespace annals::terminology {

/// Cost: what is in the tables is unpacked when it is first asked (some 20 ms); a definition is parsed once.
const Source& r4_definitions();

/// All code systems among them. Cost: as of r4_definitions(); none is parsed.
const std::vector<ListedCodeSystem>& r4_code_systems();

}  // namespace annals::terminology
