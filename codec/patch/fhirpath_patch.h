// FHIRPath Patch: a resource and Parameters that say what to change make the next resource.
//
// Layer:   codec; depends on codec/fhirpath, codec/schema and core/base only.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "core/base/result.h"

#include <string>

namespace annals::patch {

/// The text of `resource` after all operations of `parameters`, minified; each one sees what those before it made.
/// All of them hold or none. What no operation touches keeps its bytes and its order. An element goes with its id
/// and extensions, also where JSON keeps them beside it (_birthDate); an object or array that loses its last
/// child goes, too.
///
/// - add: the path must lead to one element; what is there already and does not repeat can't be added.
/// - insert, move: the path must lead to all elements of one list. Into an empty list index 0 can be inserted.
/// - replace: the path must lead to one element. delete: to one or none.
///
/// Errors: invalid: no Parameters, more than kPatchOperationsMax, a malformed operation, a path that can't be
///         evaluated or leads elsewhere, an unknown element, a value of the wrong type, a result beyond `limits`.
///         The detail names the operation by number and path, the expression is the path.
/// Cost:   a parse of the resource for each operation; in all bounded by `limits`.
Result<std::string> apply_fhirpath_patch(json::Value resource, json::Value parameters,
                                         const Limits& limits = {});

}  // namespace annals::patch
