// is_same: whether two JSON values say the same, however they are written.
//
// Layer:   codec; depends on nothing.
// Spec:    RFC 8259.
// Threads: a plain function.

#pragma once

#include "codec/json/document.h"

namespace annals::json {

/// True if two values say the same: strings with escapes resolved, members in any order; numbers by their digits, for FHIR's
/// decimals have a precision. Two missing values are the same.
bool is_same(Value a, Value b);

}  // namespace annals::json
