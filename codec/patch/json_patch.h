// JSON Patch: a document and a patch make the next document.
//
// Layer:   codec; depends on core/base only.
// Spec:    RFC 6902 (JSON Patch), RFC 6901 (JSON Pointer).
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "core/base/result.h"

#include <string>

namespace annals::patch {

/// The text of `document` after all operations of `patch`, minified. All of them hold or none: nothing is changed
/// in place. What no operation touches keeps its bytes and its order; new members go to the end of their object.
///
/// Errors: processing (a `test` failed, or there is nothing at its path); invalid (anything else: no array of
///         operations, more than kPatchOperationsMax, a malformed operation or pointer, a target that is not
///         there, a result beyond `limits` or nested deeper than kJsonDepthMax). The detail names the operation
///         by number and path, the expression its place in FHIRPath where the document is a resource.
/// Cost:   of the objects and arrays on the way to each target, and of the result's bytes.
Result<std::string> apply_json_patch(json::Value document, json::Value patch,
                                     const Limits& limits = {});

}  // namespace annals::patch
