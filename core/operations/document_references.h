// The references of a Composition whose targets its document must have.
//
// Layer:   core/operations.
// Spec:    FHIR R4 documents.html#content.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"

#include <string>
#include <vector>

namespace annals::core {

struct DocumentReference {
    std::string text;  ///< Reference.reference
    std::string expression;
};

/// In this order: those of subject, encounter, author, attester, custodian and event, then of all sections,
/// nested ones included: author, focus and entry. References to contained resources, and those with only an
/// identifier or display, are left out.
std::vector<DocumentReference> document_references(json::Value composition);

}  // namespace annals::core
