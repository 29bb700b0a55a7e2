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

/// Those of subject, encounter, author, attester, custodian and event, and of the sections, however deep: author, focus and
/// entry; in this order. What is contained and what only says who it is (identifier, display) is left out.
std::vector<DocumentReference> document_references(json::Value composition);

}  // namespace annals::core
