// Filter: the expression language of `_filter`, parsed into a tree.
//
// Layer:   core/search, behind query.h; filter_plan() (reading.h) turns it into a plan.
// Spec:    FHIR R4 search_filter.html: and, or (from the left, equal precedence), not (...), parentheses,
//          paths with [filters], all operators; names with _has and :Type as elsewhere in search.
// Threads: plain values.

#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

struct Filter {
    enum class Kind : std::uint8_t {
        test,      ///< `path operation value`
        negation,  ///< not parts[0]
        sequence,  ///< parts[0], then by conjunctions[i] parts[i + 1], from the left
    };

    enum class Operation : std::uint8_t {
        eq,
        ne,
        co,
        sw,
        ew,
        gt,
        lt,
        ge,
        le,
        ap,
        sa,
        eb,
        pr,
        po,
        ss,
        sb,
        in,
        ni,
        re
    };

    struct Step {
        std::string name;  ///< "subject", "subject:Patient", "_has:Observation:patient:code"
        std::vector<Filter> where;  ///< at most one: the filter in brackets after it
    };

    Kind kind = Kind::test;
    std::vector<Filter> parts;
    std::vector<bool> conjunctions;  ///< of a sequence: true for `and`

    std::vector<Step> path;
    Operation operation = Operation::eq;
    std::string value;
};

/// Parses a filter. Errors: invalid, with the place; too_costly beyond kFilterDepthMax or kFilterTestsMax.
Result<Filter> parse_filter(std::string_view text);

inline constexpr std::size_t kFilterTestsMax = 1000;

}  // namespace annals::core::search
