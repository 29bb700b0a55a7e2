// Search parameters: R4's own from the schema tables, and those that SearchParameter resources add.
//
// Layer:   core/search.
// Spec:    FHIR R4 searchparameter.html, searchparameter-registry.html.
// Threads: a ParameterSet is immutable and shared; a new one takes the place of the old.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/schema/schema.h"
#include "core/base/resource_types.h"
#include "core/search/terms.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

struct Parameter {
    std::string code;
    std::string url;
    schema::SearchType type = schema::SearchType::string;
    std::string expression;       ///< the part for this resource type
    std::vector<TypeId> targets;  ///< of a reference; empty: any type

    struct Component {
        const Parameter* parameter = nullptr;  ///< its type
        std::string expression;                ///< relative to what `expression` gives
    };

    std::vector<Component> components;  ///< of a composite
    Column column = 0;                  ///< column_of(code)
    bool ready =
        true;  ///< false: made by a SearchParameter whose resources are not all indexed yet
};

class ParameterSet {
  public:
    /// R4's own. Lifetime: the program's.
    static std::shared_ptr<const ParameterSet> standard();

    /// All parameters of a type, those of Resource and DomainResource included, by code.
    std::span<const Parameter> of(TypeId type) const noexcept;

    /// Null if the type has none of that code.
    const Parameter* find(TypeId type, std::string_view code) const noexcept;

    /// What the entries depend on: changes when an expression, a type or the vocabulary does.
    std::uint64_t fingerprint() const noexcept;
};

}  // namespace annals::core::search
