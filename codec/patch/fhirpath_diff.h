// FHIRPath diff: the operations of a FHIRPath Patch that make one version of a resource another.
//
// Layer:   codec; depends on codec/schema and core/base only.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <string>

namespace annals::patch {

struct DiffOptions {
    bool meta = false;  ///< meta, too; never versionId and lastUpdated
};

/// Parameters that apply_fhirpath_patch() takes, with a part `previousValue` where something goes. Applied to `from` they
/// make what equals `to` but for the order of members, escapes in strings, `id`, and elements that R4 doesn't have: these are passed over.
/// Of two lists, what they have in common at both ends stays; a contained resource is replaced as a whole.
///
/// Requires: two resources of one type, as R4 defines it.
std::string diff_resources(json::Value from, json::Value to, const DiffOptions& options = {});

}  // namespace annals::patch
