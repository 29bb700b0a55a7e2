// Functions on the text of search parameters' expressions, before they are parsed.
//
// Layer:   core/search.
// Spec:    FHIR R4 fhirpath.html and formats.html#choice.
// Threads: plain functions.

#pragma once

#include "core/base/ascii.h"

#include <string>
#include <string_view>

namespace annals::core::search {

/// Whether the character may occur in a FHIRPath identifier (which doesn't begin with a digit).
constexpr bool is_identifier_char(char c) noexcept {
    return is_letter_or_digit(c) || c == '_';
}

/// Replaces `valueDateTime` and the like by `value.ofType(dateTime)`: FHIRPath doesn't know them, but guides use them
/// (US Core's asserted-date, CARIN's service-start-date).
std::string with_options_as_types(std::string_view expression);

}  // namespace annals::core::search
