// Terminology: whether codes are in value sets and code systems, as far as is known.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 valueset.html, codesystem.html, terminologies.html.
// Threads: one thread, for the time of one validation.

#pragma once

#include "core/validation/context.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::validation {

inline constexpr std::string_view kSnomed = "http://snomed.info/sct";

/// A code as it stands in an element; without a system where the element has none to give.
struct Code {
    std::optional<std::string> system;
    std::string code;
    std::string display;
    std::string version{};  ///< of the system; empty: any
};

/// Is `code` in the value set? Nothing if that can't be told. Cost: what the value set lists.
std::optional<bool> member_of(Context& context, std::string_view value_set, const Code& code);

/// Checks the value at `spot` (code, string, uri, Coding, CodeableConcept, Quantity) against a binding.
void check_binding(Context& context, const Spot& spot, schema::Strength strength,
                   std::string_view value_set);

/// Is the value in the value set (of a CodeableConcept, any of its codings)? Nothing if that can't be told.
std::optional<bool> value_in(Context& context, const Spot& spot, std::string_view value_set);

/// Checks that the code of a Coding or Quantity is one of its system, if the system is known.
void check_coding(Context& context, const Spot& spot);

/// The same of a code whose system is said elsewhere; `node` is where it stands.
void check_code(Context& context, std::uint32_t node, const Code& code);

/// Is this a SNOMED CT identifier (its length, its check digit), or else an expression with such?
bool is_snomed_code(std::string_view code);

}  // namespace annals::validation
