// Query: what a search asks, read from its parameters.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html, search_filter.html; contract.md, Search; docs/search.md, What can be asked.
// Threads: plain functions and values.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"
#include "core/search/stored.h"
#include "core/search/view.h"
#include "core/subset.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core::search {

/// A decoded name and value of a query string or form, in order.
using QueryPair = std::pair<std::string, std::string>;

/// Decodes `a=b&c=d` (percent and plus). Errors: invalid; too_costly beyond kSearchPairsMax.
Result<std::vector<QueryPair>> decode_pairs(std::string_view text);

struct SortKey {
    const Parameter* parameter = nullptr;  ///< null: `_lastUpdated`, `_id` or `_score`, by `code`
    std::string code;
    bool descending = false;
    /// What the parameter is of each type that is searched: its expression finds nothing in resources of another one.
    std::vector<std::pair<TypeId, const Parameter*>> of_types{};
};

struct Include {
    std::optional<TypeId> source;          ///< none: `*`
    const Parameter* parameter = nullptr;  ///< null: `*`, every reference
    std::optional<TypeId> target;
    bool reverse = false;  ///< _revinclude
    bool iterate = false;
};

enum class TotalMode : std::uint8_t { unasked, none, estimate, accurate };

struct Query {
    /// For each type searched, what it must match. One for a type's search, several for the system's.
    struct TypePlan {
        TypeId type;
        Plan plan;
    };

    std::vector<TypePlan> types;
    std::vector<SortKey> sort;
    std::vector<Include> includes;
    std::optional<std::uint64_t> count;  ///< `_count` as asked; 0 of _summary=count, too
    TotalMode total = TotalMode::unasked;
    Subset subset;           ///< _summary and _elements; Summary::count also where `_count` is 0
    bool contained = false;  ///< _contained=true or both
    bool containing = true;  ///< false: contained resources alone are matched (_contained=true)
    bool contained_type = false;        ///< _containedType=contained
    std::optional<std::string> cursor;  ///< `_cursor`, opaque
    std::vector<QueryPair> used;        ///< for the self link: what was understood
    std::vector<std::string> warnings;  ///< one for each parameter that was passed over (lenient)
    /// The types that it looks at beside those that it searches: by chains and _has, and List by `_list`. One of its own
    /// only if these do. Whatever came of them: a condition beside them that nothing matches now may match another time.
    std::vector<TypeId> others;
};

/// How a query is read.
struct QueryContext {
    /// At the query's snapshot: value sets, code systems and lists are read there.
    const StoredResources& stored;
    /// Nothing else is found, nor followed by chains, nor are lists read that it doesn't show.
    const View& view;
    std::shared_ptr<const ParameterSet> parameters;
    std::string base_url;         ///< what is below it is local; may be empty
    Instant now = annals::now();  ///< what `ap` measures a date's distance from
    /// An unknown parameter is an error (Prefer: handling=strict).
    bool strict = false;
    /// Of a conditional interaction: criteria only, at least one, read strictly. Of result parameters `_format`,
    /// `_pretty`, `_summary` and `_elements` are passed over, for they are about the answer.
    bool conditional = false;
    /// Of what is contained, `_contained` asks without regard to the view: the caller finds nothing of whose container isn't
    /// in it.
    bool shown_by_container = false;
};

/// Reads the parameters of a search of `types` (empty: the whole system), narrowed by `_type`. The plans may be asked
/// as long as the context's parameters live.
///
/// Errors: invalid (a malformed value, naming the parameter), not_supported (a modifier, or what only some servers
///         can do), too_costly.
Result<Query> parse_query(const QueryContext& context, std::vector<TypeId> types,
                          std::span<const QueryPair> pairs);

/// `text` as a parameter's value, or a part of one, that means just this text (search.html#escaping).
std::string escape_value(std::string_view text);

/// Whether a parameter, by its name as sent, is about the result and no criterion.
bool is_result_parameter(std::string_view name) noexcept;

/// Bounds on what one query may ask.
inline constexpr std::size_t kSearchPairsMax = 1000;          ///< parameters
inline constexpr std::size_t kSearchNameBytesMax = 1000;      ///< of one name, chains and all
inline constexpr std::size_t kSearchValueBytesMax = 1 << 20;  ///< of one value
inline constexpr std::size_t kSearchChainMax = 10;            ///< links of a chain, _has among them
inline constexpr std::size_t kSearchConditionsMax =
    100'000;  ///< values, codes and targets, all in all, copies too
/// Targets of chains that plans are made for, copies of a plan (link_plan keeps two) counted with all that is in them.
inline constexpr std::size_t kSearchTargetsMax = 50'000;
/// `_text` and `_content` of one type: each takes every body apart.
inline constexpr std::size_t kFullTextsMax = 16;
inline constexpr std::size_t kFilterDepthMax = 50;  ///< parentheses, brackets and negations

}  // namespace annals::core::search
