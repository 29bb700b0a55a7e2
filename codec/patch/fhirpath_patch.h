// FHIRPath Patch: applies the operations in Parameters to a resource.
//
// Layer:   codec; depends on codec/fhirpath, codec/json, codec/schema and core/base.
// Spec:    FHIR R4 fhirpatch.html.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "core/base/result.h"

#include <string>

namespace annals::patch {

/// The minified text of `resource` after all operations of `parameters`, each of which sees the results of those before
/// it. Either all are applied or none. Everything that no operation touches keeps its bytes and its order. An element
/// is removed together with its id and extensions, even if JSON keeps them beside it (_birthDate); an object or array
/// that loses its last child is removed as well.
///
/// - add: the path must lead to one element; an element that exists and does not repeat can't be added.
/// - insert, move: the path must lead to all elements of one list. Index 0 can be inserted into an empty list.
/// - replace: the path must lead to one element. delete: to one or none.
///
/// Errors: invalid: not Parameters, more than kPatchOperationsMax, a malformed operation, a path that can't be
///         evaluated or leads elsewhere, an unknown element, a value of the wrong type, a result beyond `limits`.
///         The detail names the operation by number and path, the expression is the path.
///         too_costly: it takes more evaluation steps than `limits` grant, which are fewer than kEvaluationStepsMax.
/// Cost:   one parse of the resource per operation; bounded in total by `limits`.
Result<std::string> apply_fhirpath_patch(json::Value resource, json::Value parameters,
                                         const Limits& limits = {});

}  // namespace annals::patch
