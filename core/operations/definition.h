// OperationDefinitions of the operations that are ours alone.
//
// Layer:   core/operations.
// Spec:    FHIR R4 operationdefinition.html; docs/api/operations.md, "Definitions".
// Threads: plain functions.

#pragma once

#include "core/operations/operations.h"

#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// Where the definition of an operation is found: HL7's URL, or below {base_url} (kBaseUrlMark).
std::string definition_url(const Operation& operation);

/// The OperationDefinition that is read by `id`; none if no operation of ours that is on has it.
std::optional<std::string> operation_definition(std::string_view id, std::string_view base_url,
                                                const Config& config);

}  // namespace annals::core
