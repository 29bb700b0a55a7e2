// FHIRPath diff: the operations of a FHIRPath Patch that make one version of a resource another.
//
// Layer:   codec; depends on codec/json, codec/schema and core/base.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <string>

namespace annals::patch {

struct DiffOptions {
    bool meta = false;  ///< includes meta, but never versionId and lastUpdated
};

/// Returns Parameters for apply_fhirpath_patch(), with a part `previousValue` where something is removed or replaced. Applied to
/// `from`, they give a resource that equals `to` except for the order of members, escapes in strings, `id`, and elements that R4
/// doesn't have, all of which are ignored. Of two lists, the common elements at both ends stay; a contained resource is replaced
/// as a whole.
///
/// Requires: two resources of one type, as R4 defines it.
std::string diff_resources(json::Value from, json::Value to, const DiffOptions& options = {});

}  // namespace annals::patch
