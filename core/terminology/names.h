// Names: what a concept may be called.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 codesystem.html, valueset.html (display, designation).
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <initializer_list>
#include <string_view>

namespace annals::terminology {

/// Whether a concept is called `name`: by a display or designation of one of `elements` (the CodeSystem's element for the
/// concept, the ValueSet's), ignoring case, accents and white space. True if none of them has a display.
bool is_called(std::string_view name, std::initializer_list<json::Value> elements);

}  // namespace annals::terminology
