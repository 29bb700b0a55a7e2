// Plan: what is asked of the search index of one type, as a tree of conditions.
//
// Layer:   core/search. query.h makes plans of requests, execute.h answers them.
// Threads: immutable once made.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/search/terms.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// How an interval [low, high] of a resource is held against the one asked for (search.html#prefix).
enum class Comparison : std::uint8_t {
    eq,  ///< lies inside it
    ne,  ///< does not
    gt,  ///< reaches above it: high > asked high
    lt,  ///< reaches below it: low < asked low
    ge,  ///< gt or eq
    le,  ///< lt or eq
    sa,  ///< begins after it: low > asked high
    eb,  ///< ends before it: high < asked low
    ap,  ///< overlaps it (it is widened already)
};

struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

struct Plan {
    enum class Kind : std::uint8_t {
        everything,
        nothing,
        all_of,    ///< of `parts`
        any_of,    ///< of `parts`
        negation,  ///< of parts[0]
        terms,     ///< carries any of `terms` (ascending)
        prefix,    ///< has a text in `column` that begins with `text`
        contains,  ///< ... that contains `text`
        interval,  ///< has an interval in `column` that compares to `range` as `comparison` says
        quantity,  ///< the same for each unit in beside(column, ":units") for which `in_unit` gives a range, in the
        ///< column of that unit, beside(column, "=" + text)
        chain,     ///< refers by `column` to a resource of `type` that matches parts[0]
        has,       ///< is referred to by `column` of a resource of `type` that matches parts[0]
        verified,  ///< matches parts[0], and `check` says so of its body
    };

    Kind kind = Kind::everything;
    std::vector<Plan> parts;
    std::vector<Term> terms;
    Column column = 0;
    std::string text;
    Comparison comparison = Comparison::eq;
    Range range;
    std::function<std::optional<Range>(std::string_view unit)> in_unit;
    TypeId type;
    std::function<bool(json::Value resource)> check;
};

}  // namespace annals::core::search
