// Source: where ValueSets, CodeSystems, ConceptMaps and StructureDefinitions are found by their canonical URLs.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 references.html#canonical.
// Threads: a source says its own.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <memory>
#include <string_view>

namespace annals::terminology {

/// A conformance resource, parsed. Equal pointers mean the same content.
using Definition = std::shared_ptr<const json::Document>;

class Source {
  public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    /// The resource of `type` ("ValueSet", "CodeSystem"...) that `url` names, of `version` unless that is
    /// empty; null if there is none. Errors: corrupt, expired: the store's own.
    virtual Result<Definition> find(std::string_view type, std::string_view url,
                                    std::string_view version) const = 0;
};

}  // namespace annals::terminology
