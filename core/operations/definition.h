// OperationDefinitions of this server's own operations.
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

/// The URL of an operation's definition: HL7's, or one below {base_url} (kBaseUrlMark).
std::string definition_url(const Operation& operation);

/// The OperationDefinition with that `id`; none if no enabled operation of this server's own has it.
std::optional<std::string> operation_definition(std::string_view id, std::string_view base_url,
                                                const Config& config);

}  // namespace annals::core
