// The forms of references as text.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 references.html#literal.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <string_view>

namespace annals::validation {

/// The parts of [base/]Type/id[/_history/vid] that name the resource; `type` is missing if the text doesn't have that form.
struct Literal {
    std::string_view base;  ///< with the trailing slash; empty: relative
    std::string_view type_name;
    std::string_view id;
    schema::Type type;
};

/// Reads a literal reference or a fullUrl.
Literal parse_literal(std::string_view text);

/// Whether it begins with a scheme.
bool is_absolute(std::string_view text);

}  // namespace annals::validation
