// Plan: a query on the search index of one type, as a tree of conditions.
//
// Layer:   core/search. query.h turns requests into plans, execute.h evaluates them.
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

/// How an interval [low, high] of a resource is compared to the one in the query (search.html#prefix).
enum class Comparison : std::uint8_t {
    eq,  ///< lies within it
    ne,  ///< does not lie within it
    gt,  ///< reaches above it: high > asked high
    lt,  ///< reaches below it: low < asked low
    ge,  ///< reaches into or above it: high >= asked low
    le,  ///< reaches into or below it: low <= asked high
    sa,  ///< begins after it: low > asked high
    eb,  ///< ends before it: high < asked low
    ap,  ///< overlaps it (which has been widened)
    co,  ///< contains it: low <= asked low and high >= asked high
};

struct Range {
    std::int64_t low = 0;
    std::int64_t high = 0;

    bool operator==(const Range&) const = default;
};

/// Whether `comparison` holds between a resource's interval `own` and the query's `asked`.
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
        case Comparison::co:
            return own.low <= asked.low && own.high >= asked.high;
    }
    return false;
}

class Container;

struct Plan {
    enum class Kind : std::uint8_t {
        everything,
        nothing,
        all_of,    ///< of `parts`
        any_of,    ///< of `parts`
        negation,  ///< of parts[0]
        terms,     ///< has any of `terms` (sorted, unique)
        prefix,    ///< has a text in `column` that begins with `text`
        contains,  ///< ... that contains `text`
        interval,  ///< has an interval in `column` for which `comparison` to `range` holds
        quantity,  ///< the same for each unit in beside(column, ":units") with an in_unit(), in
        chain,     ///< refers to a resource of `type` that matches parts[0], by `column`
        has,       ///< a resource of `type` that matches parts[0] refers to it, by `column`
        verified,  ///< matches parts[0], and `check` accepts its body
        contained,  ///< matches parts[0], and an inner resource found by `within` matches another part
    };

    /// Extracts the entries of an inner resource.
    using Extract = std::function<void(storage::SearchEntries& entries)>;
    /// Whether an inner resource matches parts[part]. Its references `#id` lead into `container`. Only the first time that
    /// it is asked about, it is extracted.
    using Judge = std::function<bool(std::size_t part, json::Value inner, Container& container,
                                     const Extract& extract)>;

    Kind kind = Kind::everything;
    std::vector<Plan> parts;
    std::vector<Term> terms;
    Column column = 0;
    /// What prefix and contains look for. Of verified: occurs in the JSON of every body that `check` accepts.
    std::string text;
    Comparison comparison = Comparison::eq;
    Range range;
    std::function<std::optional<Range>(std::string_view unit)> in_unit;
    TypeId type;
    std::function<bool(json::Value resource)> check;
    /// Whether `judge` accepts a resource that `resource` refers to and that is inside `container` (perhaps `resource`
    /// itself) or inside `resource`.
    std::function<bool(json::Value resource, Container& container, const Judge& judge)> within;
};

/// Matches everything, or nothing.
Plan everything();
Plan nothing();

/// Matches what has any of these terms, given in any order.
Plan carrying(std::vector<Term> terms);

/// Conjunction and disjunction, simplified: nested ones of the same kind are flattened, terms under any_of() are merged
/// into one condition, and `everything` and `nothing` are folded.
Plan all_of(std::vector<Plan> parts);
Plan any_of(std::vector<Plan> parts);

/// The same for two. (A list of values in braces would copy them.)
Plan all_of(Plan a, Plan b);
Plan any_of(Plan a, Plan b);

Plan negation_of(Plan part);

Plan begins_with(Column column, std::string text);
Plan containing(Column column, std::string text);
Plan interval(Column column, Comparison comparison, Range range);
Plan chain(Column column, TypeId type, Plan of);
Plan has(Column column, TypeId type, Plan of);
/// `text`: what the JSON of every resource contains that `check` accepts, such as `"contained":`.
Plan verified(Plan candidates, std::function<bool(json::Value resource)> check,
              std::string text = {});
Plan contained(Plan candidates, std::vector<Plan> of, decltype(Plan::within) within);

/// Decides whether a resource matches a chain or has, which takes other resources and is therefore up to the caller.
/// `entries` are those of the resource or, for a chain, of one that it contains.
using Related = std::function<bool(const Plan& part, const storage::SearchEntries& entries)>;

/// Whether a resource with these entries (terms sorted) and this body matches. Its identity() term and its interval of
/// `_lastUpdated` are only considered if the caller added them to the entries. Without `related`, chains and has match
/// nothing. `container`: the resource that contains it, if any.
bool matches(const Plan& plan, const storage::SearchEntries& entries, json::Value resource,
             const Related& related = {}, Container* container = nullptr);

/// Whether an inner resource of `resource`, which is the body of a candidate, matches as `plan` requires.
/// Requires: `plan` was made by contained(); the candidate matches its parts[0].
bool matches_within(const Plan& plan, json::Value resource, const Related& related);

/// Whether a version with these entries (terms sorted, no `_lastUpdated`) may match; `identity` is the term of its
/// resource. True for whatever depends on other resources, its body or its instant.
bool may_match(const Plan& plan, const storage::SearchEntries& entries, Term identity);

/// What must be watched to notice that a plan's result may have changed.
struct Watch {
    /// A new version of the plan's own type can only match if it has one of these terms (including identity()); none:
    /// any version of the type may match.
    std::optional<std::vector<Term>> terms;
    std::vector<TypeId> others;  ///< related_types()
};

/// The types that chains and has refer to, sorted and unique; includes the plan's own type only if they refer to it.
std::vector<TypeId> related_types(const Plan& plan);

/// Chooses the smallest set of terms of which every match has at least one.
Watch guard_terms(const Plan& plan);

}  // namespace annals::core::search
