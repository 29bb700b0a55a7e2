// Filter: a condition on the concepts of a code system, as in ValueSet.compose.include.filter.
//
// Layer:   core/terminology.
// Spec:    FHIR R4 valueset.html#compositions, valueset-filter-operator.
// Threads: const once made.

#pragma once

#include "core/terminology/code_system.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace annals::terminology {

inline constexpr std::size_t kRegexMemoryMax = 1 << 20;  ///< for one regular expression

class Filter {
  public:
    enum class Operator : std::uint8_t {
        equal,
        is_a,
        descendent_of,
        is_not_a,
        regex,
        in,
        not_in,
        generalizes,
        exists
    };

    /// Reads an element of `filter`. Errors: not_computable (an operator unknown to R4, or an invalid regular expression).
    static Result<Filter> read(json::Value filter);

    Filter(Filter&&) noexcept;
    Filter& operator=(Filter&&) noexcept;
    ~Filter();

    /// Whether it is a regular expression, which takes up to kRegexMemoryMax bytes.
    bool is_regex() const noexcept { return regex_ != nullptr; }

    /// The property that it is about.
    std::string_view property() const noexcept { return property_; }

    /// For = and in: what the property may be; empty for other operators.
    std::span<const std::string> accepted() const noexcept {
        return operator_ == Operator::equal || operator_ == Operator::in
                   ? values_
                   : std::span<const std::string>();
    }

    /// Whether the concept matches. Cost: a step for each property of the concept or each concept above it. Errors: as
    /// `effort`; answer_too_costly also if a regular expression may take more than a second for one text.
    Result<bool> passes(const CodeSystem& system, CodeSystem::Number number, Effort& effort) const;

    /// For a filter by hierarchy: which concepts match, as one flag each; none for other filters. Errors: as `effort`.
    Result<std::optional<std::vector<bool>>> passing(const CodeSystem& system,
                                                     Effort& effort) const;

  private:
    Filter();
    bool is_by_hierarchy() const noexcept;
    bool holds(std::string_view own) const;
    Result<bool> has_value(const CodeSystem& system, CodeSystem::Number number,
                           Effort& effort) const;

    Operator operator_ = Operator::equal;
    std::string property_;
    std::string value_;
    std::vector<std::string> values_;  ///< for =, in and not-in, ascending
    std::unique_ptr<re2::RE2> regex_;
    std::uint64_t steps_per_byte_ = 0;  ///< of the regular expression, at worst
};

}  // namespace annals::terminology
