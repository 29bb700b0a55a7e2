// Search parameters: R4's own from the schema tables, and those that SearchParameter resources add.
//
// Layer:   core/search.
// Spec:    FHIR R4 searchparameter.html, searchparameter-registry.html.
// Threads: a ParameterSet is immutable and shared; changes are made by a new one.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "core/base/time_zone.h"
#include "core/search/terms.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// R4's parameter for named queries. There are none: every use is refused, and it isn't in the CapabilityStatement.
inline constexpr std::string_view kNamedQuery = "_query";

struct Parameter {
    std::string code;
    std::string url;  ///< of its definition
    schema::SearchType type = schema::SearchType::string;
    std::string expression;       ///< the part for this resource type
    std::vector<TypeId> targets;  ///< of a reference; empty: any type

    struct Component {
        const Parameter* parameter = nullptr;  ///< its type
        std::string expression;                ///< relative to the results of `expression`
    };

    std::vector<Component> components;  ///< of a composite
    Column column = 0;                  ///< column_of(code)
    bool standard = true;               ///< false: from a SearchParameter resource
    bool ready = true;                  ///< false: not everything stored is indexed by it yet
};

/// The types that a reference parameter can lead to: all types if it names none.
std::vector<TypeId> targets_of(const Parameter& parameter);

/// Which references are indexed.
enum class References : std::uint8_t {
    as_searched,  ///< those that parameters find
    all,          ///< also all others (reference_terms.h), for referential_integrity.on_delete
};

class ParameterSet {
  public:
    /// R4's own parameters. Made once.
    static std::shared_ptr<const ParameterSet> standard();

    /// R4's own parameters and those of active SearchParameter resources, which can't replace an earlier one of the same code.
    /// Those that can't be used are left out and reported in `faults` (Error::expression: "SearchParameter/" and the id),
    /// unless it is null. Those whose url is in `unready` are not ready. Dates without a time zone are in `zone`; null: UTC.
    static std::shared_ptr<const ParameterSet> with(std::span<const json::Value> resources,
                                                    std::span<const std::string> unready = {},
                                                    std::vector<Error>* faults = nullptr,
                                                    References references = References::as_searched,
                                                    std::shared_ptr<const TimeZone> zone = nullptr);

    ParameterSet(const ParameterSet&) = delete;
    ParameterSet& operator=(const ParameterSet&) = delete;

    /// All parameters of a type, including those of Resource and DomainResource, sorted by code.
    std::span<const Parameter> of(TypeId type) const noexcept;

    /// Null if the type has no parameter of that code.
    const Parameter* find(TypeId type, std::string_view code) const noexcept;

    /// The same, but only if a search can use it: it is ready and has an expression.
    const Parameter* find_usable(TypeId type, std::string_view code) const noexcept;

    References references() const noexcept { return references_; }

    /// The zone of dates without a time zone; null: UTC.
    const TimeZone* zone() const noexcept { return zone_.get(); }

    /// A hash of everything that the entries of a type depend on: expressions, types, the time zone, the vocabulary.
    std::uint64_t fingerprint(TypeId type) const noexcept { return fingerprints_[type.value]; }

    /// The same for all types.
    std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  private:
    ParameterSet() = default;

    struct Definition;
    using Definitions = std::vector<const Definition*>;
    static std::vector<Definition> standard_definitions();
    static std::vector<Definitions> by_type(const std::vector<Definition>& definitions);
    static Result<Definition> read(json::Value resource);
    static Result<Parameter> parameter_of(const Definition& definition, schema::Type type,
                                          std::size_t& added);
    static void add_components(schema::Type type, Definitions composites,
                               std::vector<Parameter>& own, std::vector<Error>& faults);
    void add(const std::vector<Definition>& definitions, std::vector<Error>& faults);
    void take_fingerprints();

    std::vector<std::vector<Parameter>> of_type_;  // by TypeId, sorted by code
    std::vector<std::uint64_t> fingerprints_;
    std::uint64_t fingerprint_ = 0;
    References references_ = References::as_searched;
    std::shared_ptr<const TimeZone> zone_;
};

/// The part of `expression` that applies to resources of `type`: of a union, the operands that begin with the type, a
/// type that it is derived from, or no type at all. Empty if there are none.
std::string expression_for(std::string_view expression, schema::Type type);

}  // namespace annals::core::search
