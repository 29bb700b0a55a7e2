// is_same: whether two JSON values are equal, however they are written.
//
// Layer:   codec; depends on nothing.
// Spec:    RFC 8259.
// Threads: a plain function.

#pragma once

#include "codec/json/document.h"

namespace annals::json {

/// True if two values are equal: strings with escapes resolved, members in any order; numbers digit by digit,
/// because FHIR's decimals have a precision. Two missing values are equal.
bool is_same(Value a, Value b);

}  // namespace annals::json
