// check_structure: whether a JSON resource has the structure that FHIR R4 defines for its type.
//
// Layer:   codec; depends on codec/json and core/base.
// Spec:    FHIR R4 json.html, datatypes.html, references.html, domainresource.html; docs/validation.md says what is
//          and isn't checked.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <cstddef>
#include <string_view>

namespace annals::schema {

/// The most faults reported for one resource; the walk ends there.
inline constexpr std::size_t kFaultsMax = 100;

struct StructureRules {
    bool allow_unknown_elements = true;
    /// Also check the values of the resource's own id, meta.versionId and meta.lastUpdated, which a write
    /// replaces by the server's.
    bool as_stored = false;
};

/// Walks over `resource` once and checks it and all resources in it: types, JSON kinds, cardinalities,
/// choices, formats of primitives, null and the members with an underscore, emptiness, contained resources,
/// references.
///
/// `prefix` replaces the resource's type at the start of expressions: "Bundle.entry[3].resource".
///
/// Errors: structure, value, required: the first fault in text order, all others in Error::others.
/// Cost:   linear; no allocation except for faults and for strings with escapes in formats that don't expect any.
Result<void> check_structure(json::Value resource, const StructureRules& rules,
                             std::string_view prefix = {});

}  // namespace annals::schema
