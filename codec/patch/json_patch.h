// JSON Patch: applies a patch to a document.
//
// Layer:   codec; depends on codec/json and core/base.
// Spec:    RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer).
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "core/base/result.h"

#include <string>

namespace annals::patch {

/// The minified text of `document` after all operations of `patch`. Either all are applied or none: nothing is changed
/// in place. Everything that no operation touches keeps its bytes and its order; new members are appended to their object.
///
/// Errors: processing (a `test` failed, or there is nothing at its path); invalid (anything else: not an array of
///         operations, more than kPatchOperationsMax, a malformed operation or pointer, a target that does not
///         exist, a result beyond `limits` or nested deeper than kJsonDepthMax). The detail names the operation
///         by number and path; if the document is a resource, the expression is its place in FHIRPath.
/// Cost:   O(objects and arrays on the way to each target, bytes of the result).
Result<std::string> apply_json_patch(json::Value document, json::Value patch,
                                     const Limits& limits = {});

}  // namespace annals::patch
