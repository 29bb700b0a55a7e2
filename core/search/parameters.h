// Search parameters: R4's own from the schema tables, and those that SearchParameter resources add.
//
// Layer:   core/search.
// Spec:    FHIR R4 searchparameter.html, searchparameter-registry.html.
// Threads: a ParameterSet is immutable and shared; a new one takes the place of the old.

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

/// R4's parameter that names a query. There is no query that it could name: each use is refused, and it is announced nowhere.
inline constexpr std::string_view kNamedQuery = "_query";

struct Parameter {
    std::string code;
    std::string url;  ///< of its definition
    schema::SearchType type = schema::SearchType::string;
    std::string expression;       ///< the part for this resource type
    std::vector<TypeId> targets;  ///< of a reference; empty: any type

    struct Component {
        const Parameter* parameter = nullptr;  ///< its type
        std::string expression;                ///< relative to what `expression` gives
    };

    std::vector<Component> components;  ///< of a composite
    Column column = 0;                  ///< column_of(code)
    bool standard = true;               ///< R4's own; else made by a SearchParameter
    bool ready = true;                  ///< false: what is stored is not all indexed by it yet
};

/// The types that a reference parameter leads to: all of them if it names none.
std::vector<TypeId> targets_of(const Parameter& parameter);

/// Which references a resource can be found by.
enum class References : std::uint8_t {
    as_searched,  ///< those that parameters lead to
    all,  ///< besides, each of them (reference_terms.h): for referential_integrity.on_delete
};

class ParameterSet {
  public:
    /// R4's own. Made once.
    static std::shared_ptr<const ParameterSet> standard();

    /// R4's own and what SearchParameter resources add; one of theirs does not take the place of another with the
    /// same code. What can't be used of them is left out and said in `faults` (Error::expression: "SearchParameter"
    /// and its id), if that is given. Those whose url is in `unready` are not ready. Only active ones count. Dates without
    /// a zone are in `zone`; null: in UTC.
    static std::shared_ptr<const ParameterSet> with(std::span<const json::Value> resources,
                                                    std::span<const std::string> unready = {},
                                                    std::vector<Error>* faults = nullptr,
                                                    References references = References::as_searched,
                                                    std::shared_ptr<const TimeZone> zone = nullptr);

    ParameterSet(const ParameterSet&) = delete;
    ParameterSet& operator=(const ParameterSet&) = delete;

    /// All parameters of a type, those of Resource and DomainResource included, by code.
    std::span<const Parameter> of(TypeId type) const noexcept;

    /// Null if the type has none of that code.
    const Parameter* find(TypeId type, std::string_view code) const noexcept;

    References references() const noexcept { return references_; }

    /// What dates without a zone are in; null: UTC.
    const TimeZone* zone() const noexcept { return zone_.get(); }

    /// What the entries of a type depend on: changes when an expression, a type, the zone or the vocabulary does.
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

    std::vector<std::vector<Parameter>> of_type_;  // by TypeId, by code
    std::vector<std::uint64_t> fingerprints_;
    std::uint64_t fingerprint_ = 0;
    References references_ = References::as_searched;
    std::shared_ptr<const TimeZone> zone_;
};

/// The part of `expression` that is for resources of `type`: of a union those operands that begin with the type, one
/// that it is derived from, or no type at all. Empty if there is none.
std::string expression_for(std::string_view expression, schema::Type type);

}  // namespace annals::core::search
