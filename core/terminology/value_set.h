// ValueSet: what a ValueSet resource includes and excludes, ready for queries.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#compositions.
// Threads: const once made.

#pragma once

#include "core/base/text.h"
#include "core/base/text_map.h"
#include "core/terminology/effort.h"
#include "core/terminology/filter.h"
#include "core/terminology/source.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::terminology {

/// One compose.include or compose.exclude.
struct Include {
    struct Listed {
        std::string_view code;
        std::string_view display;  ///< empty: that of the code system
        json::Value item;
    };

    std::string system;   ///< empty: none given
    std::string version;  ///< empty: the newest
    bool lists = false;   ///< it has `concept`
    std::vector<Listed> concepts;
    TextMap<std::uint32_t, std::string_view> by_code;  ///< indexes into `concepts`
    TextSet<> in_lower_case;  ///< of those in `concepts` that aren't in lower case
    std::vector<Filter> filters;
    std::vector<std::string> value_sets;

    /// Whether it includes its whole system.
    bool is_whole() const noexcept { return !lists && filters.empty(); }

    /// Whether it lists the code, ignoring case.
    bool lists_in_any_case(std::string_view code) const {
        const std::string lower = ascii_lower(code);
        return by_code.contains(lower) || in_lower_case.contains(lower);
    }
};

/// A code in expansion.contains.
struct Contained {
    std::string_view system;
    std::string_view code;
    std::string_view display;
    json::Value item;
    bool is_abstract = false;
    bool inactive = false;
};

class ValueSet {
  public:
    /// Reads a ValueSet. Errors: not_computable (an unknown filter); answer_too_costly; timeout.
    static Result<std::shared_ptr<const ValueSet>> make(Definition definition, Effort& effort);

    json::Value root() const noexcept { return definition_->root(); }

    const Definition& definition() const noexcept { return definition_; }

    const std::vector<Include>& includes() const noexcept { return includes_; }

    const std::vector<Include>& excludes() const noexcept { return excludes_; }

    bool has_compose() const noexcept { return has_compose_; }

    /// Whether inactive codes are excluded (compose.inactive is false).
    bool active_only() const noexcept { return active_only_; }

    /// The number of its filters that are regular expressions.
    std::size_t regexes() const noexcept { return regexes_; }

    /// Whether it came with a complete expansion.
    bool has_expansion() const noexcept { return has_expansion_; }

    /// The codes of the expansion that came with it.
    const std::vector<Contained>& contained() const noexcept { return contained_; }

    /// Indexes into contained(); several systems may have the same code.
    const TextMultimap<std::uint32_t, std::string_view>& contained_by_code() const noexcept {
        return contained_by_code_;
    }

  private:
    explicit ValueSet(Definition definition) : definition_(std::move(definition)) {}

    Result<void> read(json::Value parts, std::vector<Include>& out, Effort& effort);
    Result<void> read_contained(json::Value contains, std::size_t depth, Effort& effort);

    Definition definition_;
    std::deque<std::string> texts_;  ///< texts with resolved escapes
    std::vector<Include> includes_;
    std::vector<Include> excludes_;
    std::vector<Contained> contained_;
    TextMultimap<std::uint32_t, std::string_view> contained_by_code_;
    std::size_t regexes_ = 0;
    bool has_compose_ = false;
    bool has_expansion_ = false;
    bool active_only_ = false;
};

using ValueSetPointer = std::shared_ptr<const ValueSet>;

/// Reads `definition`; the result is cached, bounded in memory. Errors: as make(). Threads: any.
Result<ValueSetPointer> value_set_of(const Definition& definition, Effort& effort);

}  // namespace annals::terminology
