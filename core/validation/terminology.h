// Terminology: whether codes belong to value sets and code systems, as far as can be told.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 valueset.html, codesystem.html, terminologies.html.
// Threads: one thread, for the duration of one validation.

#pragma once

#include "core/validation/context.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::validation {

inline constexpr std::string_view kSnomed = "http://snomed.info/sct";

/// The code in an element; without a system if the element has none.
struct Code {
    std::optional<std::string> system;
    std::string code;
    std::string display;
    std::string version{};  ///< of the system; empty: any
};

/// Whether `code` is in the value set; none if that can't be told. Cost: proportional to what the value set lists.
std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code);

/// Checks the value at `spot` (code, string, uri, Coding, CodeableConcept, Quantity) against a binding that is required or
/// extensible; others permit everything.
void check_binding(Context& context, const Spot& spot, schema::Strength strength,
                   std::string_view value_set);

/// Checks it against the maximum value set of an extensible or preferred binding (elementdefinition-maxValueSet), which the
/// code, or one of a CodeableConcept's, must be in. With a preferred binding, plain text is still permitted.
void check_max_binding(Context& context, const Spot& spot, schema::Strength strength,
                       std::string_view value_set);

/// Whether the value (or any coding of a CodeableConcept) is in the value set; none if that can't be told.
std::optional<bool> value_in(Context& context, const Spot& spot, std::string_view value_set);

/// Checks that the code of a Coding or Quantity is one of its system, if the system is known.
void check_coding(Context& context, const Spot& spot);

/// The same for a code whose system is given elsewhere; `node` is its place.
void check_code(Context& context, std::uint32_t node, const Code& code);

/// Whether it is a SNOMED CT identifier (length and check digit), or an expression that begins like one.
bool is_snomed_code(std::string_view code);

}  // namespace annals::validation
