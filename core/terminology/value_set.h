// ValueSet: what a ValueSet resource includes and excludes, ready to be asked.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#compositions.
// Threads: const after it was made.

#pragma once

#include "core/base/text.h"
#include "core/terminology/effort.h"
#include "core/terminology/filter.h"
#include "core/terminology/source.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace annals::terminology {

/// One compose.include or compose.exclude.
struct Include {
    struct Listed {
        std::string_view code;
        std::string_view display;  ///< empty: the code system's
        json::Value item;
    };

    std::string system;   ///< empty: of any
    std::string version;  ///< empty: the code system's newest
    bool lists = false;   ///< it has `concept`
    std::vector<Listed> concepts;
    std::unordered_map<std::string_view, std::uint32_t> by_code;  ///< of `concepts`
    std::unordered_set<std::string>
        in_lower_case;  ///< of `concepts`, those that are not so themselves
    std::vector<Filter> filters;
    std::vector<std::string> value_sets;

    /// All of its system, whatever that has.
    bool is_whole() const noexcept { return !lists && filters.empty(); }

    /// Whether it lists the code, in whatever case.
    bool lists_in_any_case(std::string_view code) const {
        const std::string lower = ascii_lower(code);
        return by_code.contains(lower) || in_lower_case.contains(lower);
    }
};

/// An element of expansion.contains that stands for a code.
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
    /// Takes a ValueSet apart. Errors: not_computable: a filter that isn't known; answer_too_costly; timeout.
    static Result<std::shared_ptr<const ValueSet>> make(Definition definition, Effort& effort);

    json::Value root() const noexcept { return definition_->root(); }

    const Definition& definition() const noexcept { return definition_; }

    const std::vector<Include>& includes() const noexcept { return includes_; }

    const std::vector<Include>& excludes() const noexcept { return excludes_; }

    bool has_compose() const noexcept { return has_compose_; }

    /// Whether inactive codes are left out (compose.inactive is false).
    bool active_only() const noexcept { return active_only_; }

    /// How many of its filters are regular expressions.
    std::size_t regexes() const noexcept { return regexes_; }

    /// Whether all codes of an expansion that came with it are there.
    bool has_expansion() const noexcept { return has_expansion_; }

    /// What the expansion that came with it has, if it is all there.
    const std::vector<Contained>& contained() const noexcept { return contained_; }

    /// Numbers in contained(); a code may be there of several systems.
    const std::unordered_multimap<std::string_view, std::uint32_t>& contained_by_code()
        const noexcept {
        return contained_by_code_;
    }

  private:
    explicit ValueSet(Definition definition) : definition_(std::move(definition)) {}

    std::string_view keep(json::Value text);
    Result<void> read(json::Value parts, std::vector<Include>& out, Effort& effort);
    Result<void> read_contained(json::Value contains, std::size_t depth, Effort& effort);

    Definition definition_;
    std::deque<std::string> texts_;  ///< what stands with escapes
    std::vector<Include> includes_;
    std::vector<Include> excludes_;
    std::vector<Contained> contained_;
    std::unordered_multimap<std::string_view, std::uint32_t> contained_by_code_;
    std::size_t regexes_ = 0;
    bool has_compose_ = false;
    bool has_expansion_ = false;
    bool active_only_ = false;
};

using ValueSetPointer = std::shared_ptr<const ValueSet>;

/// `definition` taken apart; kept a while, bounded in memory. Errors: of make(). Threads: any.
Result<ValueSetPointer> value_set_of(const Definition& definition, Effort& effort);

}  // namespace annals::terminology
