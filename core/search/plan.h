// Plan: what is asked of the search index of one type, as a tree of conditions.
//
// Layer:   core/search. query.h makes plans of requests, execute.h answers them.
// Threads: immutable once made.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/search/terms.h"
#include "storage/search_entries.h"

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
    ge,  ///< reaches into or above it: high >= asked low
    le,  ///< reaches into or below it: low <= asked high
    sa,  ///< begins after it: low > asked high
    eb,  ///< ends before it: high < asked low
    ap,  ///< overlaps it (it is widened already)
};

struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;

    bool operator==(const Range&) const = default;
};

/// Whether `own` compares to `asked` as `comparison` says.
constexpr bool compares(Comparison comparison, Range own, Range asked) noexcept {
    const bool inside = own.low >= asked.low && own.high <= asked.high;
    switch (comparison) {
        case Comparison::eq:
            return inside;
        case Comparison::ne:
            return !inside;
        case Comparison::gt:
            return own.high > asked.high;
        case Comparison::lt:
            return own.low < asked.low;
        case Comparison::ge:
            return own.high >= asked.low;
        case Comparison::le:
            return own.low <= asked.high;
        case Comparison::sa:
            return own.low > asked.high;
        case Comparison::eb:
            return own.high < asked.low;
        case Comparison::ap:
            return own.low <= asked.high && own.high >= asked.low;
    }
    return false;
}

struct Plan {
    enum class Kind : std::uint8_t {
        everything,
        nothing,
        all_of,    ///< of `parts`
        any_of,    ///< of `parts`
        negation,  ///< of parts[0]
        terms,     ///< carries any of `terms` (ascending, each once)
        prefix,    ///< has a text in `column` that begins with `text`
        contains,  ///< ... that contains `text`
        interval,  ///< has an interval in `column` that compares to `range` as `comparison` says
        quantity,  ///< the same for each unit in beside(column, ":units") for which `in_unit` gives a range, in the
        ///< column of that unit, beside(column, "=" + text)
        chain,     ///< refers by `column` to a resource of `type` that matches parts[0]
        has,       ///< is referred to by `column` of a resource of `type` that matches parts[0]
        verified,  ///< matches parts[0], and `check` says so of its body
        contained,  ///< matches parts[0], and `within` leads to an inner resource that matches one of the others
    };

    /// Whether what an inner resource can be found by, and it itself, match parts[part]; `container` has what it refers to by
    /// `#id`.
    using Judge = std::function<bool(std::size_t part, const storage::SearchEntries& entries,
                                     json::Value inner, json::Value container)>;

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
    /// Whether `judge` takes a resource to which `resource` leads inside of `container`, which it may itself be, or inside of
    /// itself.
    std::function<bool(json::Value resource, json::Value container, const Judge& judge)> within;
};

/// What matches anything, or nothing.
Plan everything();
Plan nothing();

/// What has any of these terms, in any order.
Plan carrying(std::vector<Term> terms);

/// Conjunction and disjunction, as flat as they can be: nested ones of the same kind are taken apart, terms under
/// any_of() become one condition, and what `everything` or `nothing` decides is decided.
Plan all_of(std::vector<Plan> parts);
Plan any_of(std::vector<Plan> parts);
Plan negation_of(Plan part);

Plan begins_with(Column column, std::string text);
Plan containing(Column column, std::string text);
Plan interval(Column column, Comparison comparison, Range range);
Plan chain(Column column, TypeId type, Plan of);
Plan has(Column column, TypeId type, Plan of);
Plan verified(Plan candidates, std::function<bool(json::Value resource)> check);
Plan contained(Plan candidates, std::vector<Plan> of, decltype(Plan::within) within);

/// Decides a chain or a has for the resource at hand: only who asks knows the other resources. The entries are its, or those
/// of a resource that it contains, for a chain.
using Related = std::function<bool(const Plan& part, const storage::SearchEntries& entries)>;

/// Whether one resource matches, of which these are the entries (terms ascending) and this is the body.
/// Its identity() term and its interval of `_lastUpdated` count if they were added to the entries. Without `related`
/// chains and has match nothing. `container` is what it stands in if it is a contained resource.
bool matches(const Plan& plan, const storage::SearchEntries& entries, json::Value resource,
             const Related& related = {}, json::Value container = {});

/// Whether an inner resource of `resource`, the body of one that matches its candidates, decides for `plan`.
/// Requires: `plan` was made by contained().
bool matches_within(const Plan& plan, json::Value resource, const Related& related);

/// Whether a version may match, of which these are the entries (terms ascending, without `_lastUpdated`) and
/// `identity` is the term of its resource: true wherever that takes other resources, its body or its instant to tell.
bool may_match(const Plan& plan, const storage::SearchEntries& entries, Term identity);

/// What must be watched for a decision that was made by a plan to stay true.
struct Watch {
    /// A new version of the plan's own type can only match if it carries one of these (identity() terms among
    /// them); none: any version of the type may.
    std::optional<std::vector<Term>> terms;
    std::vector<TypeId> others;  ///< related_types()
};

/// Other types that chains and has look at, ascending, each once; the plan's own type only if they do.
std::vector<TypeId> related_types(const Plan& plan);

/// With the fewest terms that every match carries one of.
Watch guard_terms(const Plan& plan);

}  // namespace annals::core::search
