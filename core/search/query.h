// Query: what a search asks, read from its parameters.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html, search_filter.html; docs/search.md, What can be asked.
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
#include <functional>
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

/// The type that an element of `_type` names. Errors: invalid.
Result<TypeId> read_type(std::string_view name);

/// The types of a whole `_type`, separated by commas; none if it is empty. Errors: invalid.
Result<std::vector<TypeId>> read_types(std::string_view list);

struct SortKey {
    const Parameter* parameter = nullptr;  ///< null: `code` is `_lastUpdated`, `_id` or `_score`
    std::string code;
    bool descending = false;
    /// The parameter of each searched type: its expression finds nothing in resources of other types.
    std::vector<std::pair<TypeId, const Parameter*>> of_types{};
    bool without_first = false;  ///< what has no value comes first instead of last
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
    std::size_t sort_names = 0;  ///< how many `_sort` gave, known or not
    std::vector<Include> includes;
    std::optional<std::uint64_t> count;  ///< `_count` as sent; 0 also for _summary=count
    TotalMode total = TotalMode::unasked;
    Subset subset;                ///< _summary and _elements; Summary::count also for `_count=0`
    bool contained = false;       ///< _contained=true or both
    bool containing = true;       ///< false: only contained resources match (_contained=true)
    bool contained_type = false;  ///< _containedType=contained
    std::vector<QueryPair> used;  ///< what was understood, for the self link; also `_cursor`
    std::vector<std::string> warnings;  ///< one for each ignored parameter (lenient)
    /// The types that chains, _has and `_list` (List) look at; includes a searched type only if these look at it.
    /// Complete even if a plan was simplified away because another condition matches nothing now: that may change.
    std::vector<TypeId> others;
};

/// Returns the name of the resource ("Patient/1") that a link stands for, if it stands for one.
using Links = std::function<std::optional<std::string>(std::string_view link)>;

/// How a query is read.
struct QueryContext {
    /// Where value sets, code systems and lists are read, at the query's snapshot.
    const StoredResources& stored;
    /// Limits what is found, what chains follow and which lists are read.
    const View& view;
    std::shared_ptr<const ParameterSet> parameters;
    std::string base_url;         ///< URLs below it are local; may be empty
    Instant now = annals::now();  ///< reference time for `ap` on dates
    /// An unknown parameter is an error (Prefer: handling=strict).
    bool strict = false;
    /// For a conditional interaction: strict, only criteria, and at least one. `_format`, `_pretty`, `_summary` and
    /// `_elements` are ignored, because they concern only the answer; other result parameters are refused.
    bool conditional = false;
    /// With `_contained`, the plans ignore the view: the caller must check that the container of each match is in it.
    bool shown_by_container = false;
    /// What the value of a reference parameter stands for: "Patient/1" for a link of a transaction. Null, or none: for itself.
    Links links = {};
};

/// Reads the parameters of a search of `types` (empty: the whole system), narrowed by `_type`. The plans are valid
/// while the context's parameters live.
///
/// Errors: invalid (a malformed value; names the parameter), not_supported (a modifier, or an optional feature),
/// too_costly.
Result<Query> parse_query(const QueryContext& context, std::vector<TypeId> types,
                          std::span<const QueryPair> pairs);

/// Escapes `text` for use as a parameter's value or part of one (search.html#escaping).
std::string escape_value(std::string_view text);

/// Whether a parameter, by its name as sent, is a result parameter, not a criterion.
bool is_result_parameter(std::string_view name) noexcept;

/// Limits of one query.
inline constexpr std::size_t kSearchPairsMax = 1000;          ///< parameters
inline constexpr std::size_t kSearchNameBytesMax = 1000;      ///< of one name, including chains
inline constexpr std::size_t kSearchValueBytesMax = 1 << 20;  ///< of one value
inline constexpr std::size_t kSearchChainMax = 10;            ///< links of a chain, including _has
inline constexpr std::size_t kSearchConditionsMax =
    100'000;  ///< values, codes and targets in total, including copies
/// Plans made for targets of chains, including copies (link_plan keeps two) and everything in them.
inline constexpr std::size_t kSearchTargetsMax = 50'000;
/// `_text` and `_content` conditions on one type: each parses every body.
inline constexpr std::size_t kFullTextsMax = 16;
inline constexpr std::size_t kFilterDepthMax = 50;  ///< parentheses, brackets and negations

}  // namespace annals::core::search
