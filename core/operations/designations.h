// Designations: names of concepts in other languages and for other uses.
//
// Layer:   core/operations.
// Spec:    FHIR R4 codesystem.html, valueset.html (designation).
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <span>
#include <string>
#include <string_view>

namespace annals::core {

/// The name of the concept in `language`: from the value set's element that lists it, else from the code
/// system, whose displays are in `own`, if it says so; else in the language that `language` is a variant of
/// (de for de-AT). Empty if there is none. Either may be missing.
std::string display_in(std::string_view language, json::Value listed, json::Value item,
                       std::string_view own);

/// Appends `,"designation":[...]` of both; nothing if there are none. If there are tokens, only those that one of them
/// matches: `urn:ietf:bcp:47|de` is a language, `system|code` a use, `code` either.
void append_designations(std::string& out, json::Value listed, json::Value item,
                         std::span<const std::string> tokens);

}  // namespace annals::core
