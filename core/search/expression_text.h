// What search parameters' expressions are read for as texts, before they are parsed.
//
// Layer:   core/search.
// Spec:    FHIR R4 fhirpath.html and formats.html#choice.
// Threads: plain functions.

#pragma once

#include <string>
#include <string_view>

namespace annals::core::search {

/// Whether a name in FHIRPath, which begins with no digit, may have the character.
constexpr bool is_identifier_char(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// `expression` with `value.ofType(dateTime)` for `valueDateTime` and its like, which FHIRPath doesn't know and guides write all
/// the same: US Core's asserted-date, CARIN's service-start-date.
std::string with_options_as_types(std::string_view expression);

}  // namespace annals::core::search
