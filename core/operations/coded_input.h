// CodedInput: the codes that a request to a terminology operation gives.
//
// Layer:   core/operations.
// Spec:    FHIR R4 terminology-service.html: code and system, coding, or codeableConcept.
// Threads: plain values.

#pragma once

#include "core/operations/input.h"

#include <optional>
#include <string>
#include <vector>

namespace annals::core {

/// A code as a request gives it.
struct GivenCode {
    std::optional<std::string> system;  ///< nothing: not given
    std::string version;
    std::string code;
    std::string display;
};

/// The code in a Coding; empty members for what it lacks.
GivenCode given_coding(json::Value coding);

/// A key that only codes with the same system and code have in common; keys are ordered by system, then code.
std::string coding_key(std::string_view system, std::string_view code);

/// The same for a Coding.
std::string coding_key(json::Value coding);

/// A key for what only a text names; no code has it.
std::string text_key(std::string_view text);

/// The same for a CodeableConcept without a code: by its text, otherwise by the first display of its codings.
std::string text_key(json::Value codeable_concept);

/// The names of the parameters that give a code.
struct CodedNames {
    std::string_view code = "code";
    std::string_view system = "system";
    std::string_view version = "version";
    std::string_view coding = "coding";
    std::string_view concept_name = "codeableConcept";  ///< empty: the operation takes none
};

/// One code, or those of a CodeableConcept. Errors: invalid; required if there is none.
Result<std::vector<GivenCode>> read_codes(const OperationInput& input,
                                          const CodedNames& names = {});

/// "'a' of http://s", for messages.
std::string described(const GivenCode& code);

}  // namespace annals::core
