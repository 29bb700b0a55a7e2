// Source: finds ValueSets, CodeSystems, ConceptMaps and StructureDefinitions by canonical URL.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 references.html#canonical.
// Threads: depend on the source.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"

#include <memory>
#include <string_view>

namespace annals::terminology {

/// A parsed conformance resource. Equal pointers mean equal content.
using Definition = std::shared_ptr<const json::Document>;

class Source {
  public:
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    virtual ~Source() = default;

    /// The resource of `type` ("ValueSet", "CodeSystem"...) with that `url` and, unless it is empty, that `version`; null if
    /// there is none. Errors: corrupt, expired: as from the store.
    virtual Result<Definition> find(std::string_view type, std::string_view url,
                                    std::string_view version) const = 0;
};

}  // namespace annals::terminology
