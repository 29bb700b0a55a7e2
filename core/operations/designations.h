// Designations: what concepts are called in other languages and for other uses.
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

/// Does a language ("de-CH") answer to what is asked for ("de", "de-CH, en;q=0.5": the first counts)?
bool is_language(std::string_view own, std::string_view asked);

/// What the concept is called in `language`: by the value set's element that lists it, else by the code system's, whose displays
/// are in `own`, if it says so; else in the language that it is a variant of (de of de-AT). Empty if neither says. Either may
/// be missing.
std::string display_in(std::string_view language, json::Value listed, json::Value item,
                       std::string_view own);

/// Does any of the tokens mean the designation? `urn:ietf:bcp:47|de` is a language, `system|code` a use, `code` either.
bool is_wanted(json::Value designation, std::span<const std::string> tokens);

/// Appends `,"designation":[...]` of both; nothing if there are none. With tokens only those that is_wanted().
void append_designations(std::string& out, json::Value listed, json::Value item,
                         std::span<const std::string> tokens = {});

}  // namespace annals::core
