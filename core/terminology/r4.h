// R4's own code systems and value sets, including those from HL7 versions 2 and 3 that it uses.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 terminologies-systems.html, terminologies-valuesets.html; docs/schema.md.
// Threads: any.

#pragma once

#include "core/terminology/listed.h"
#include "core/terminology/source.h"

#include <vector>

namespace annals::terminology {

/// Cost: the tables are unpacked on first use (some 20 ms); each definition is parsed once.
const Source& r4_definitions();

/// All code systems among them. Cost: as r4_definitions(), but nothing is parsed.
const std::vector<ListedCodeSystem>& r4_code_systems();

}  // namespace annals::terminology
