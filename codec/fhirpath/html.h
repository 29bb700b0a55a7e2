// What the narrative of a resource may be.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIR R4 narrative.html: txt-1 (only basic formatting elements and attributes), txt-2 (content).
// Threads: plain functions.

#pragma once

#include <string_view>

namespace annals::fhirpath {

/// True if `text` is one well-formed XHTML div with nothing in it but the elements and attributes that a
/// narrative may have, and has some text or an image.
bool is_narrative(std::string_view text);

}  // namespace annals::fhirpath
