// References as texts: their forms.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 references.html#literal.
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <string_view>

namespace annals::validation {

/// [base/]Type/id[/_history/vid] in its parts; `type` is missing where it isn't of that form.
struct Literal {
    std::string_view base;  ///< with the slash behind it; empty: relative
    std::string_view type_name;
    std::string_view id;
    std::string_view version;
    schema::Type type;
};

/// Reads a literal reference or a fullUrl.
Literal parse_literal(std::string_view text);

/// Does it begin with a scheme?
bool is_absolute(std::string_view text);

}  // namespace annals::validation
