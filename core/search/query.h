// Query: what a search asks, read from its parameters.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html, search_filter.html; contract.md, Search.
// Threads: plain functions and values.

#pragma once

#include "core/base/result.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"
#include "storage/store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
class Service;
}

namespace annals::core::search {

/// A decoded name and value of a query string or form, in order.
using QueryPair = std::pair<std::string, std::string>;

/// Decodes `a=b&c=d` (percent and plus). Errors: invalid.
Result<std::vector<QueryPair>> decode_pairs(std::string_view text);

struct SortKey {
    const Parameter* parameter = nullptr;  ///< null: `_lastUpdated`, `_id` or `_score`, by `code`
    std::string code;
    bool descending = false;
};

struct Include {
    std::optional<TypeId> source;          ///< none: `*`
    const Parameter* parameter = nullptr;  ///< null: `*`, every reference
    std::optional<TypeId> target;
    bool reverse = false;  ///< _revinclude
    bool iterate = false;
};

enum class TotalMode : std::uint8_t { unasked, none, estimate, accurate };
enum class Summary : std::uint8_t { unasked, true_, text, data, count, false_ };

struct Query {
    /// For each type searched, what it must match. One for a type's search, several for the system's.
    struct TypePlan {
        TypeId type;
        Plan plan;
    };

    std::vector<TypePlan> types;
    std::vector<SortKey> sort;
    std::vector<Include> includes;
    std::optional<std::uint64_t> count;  ///< `_count` as asked
    TotalMode total = TotalMode::unasked;
    bool contained = false;  ///< _contained=true or both
    bool containing = true;  ///< false: contained resources alone are matched (_contained=true)
    bool contained_type = false;        ///< _containedType=contained
    std::optional<std::string> cursor;  ///< `_cursor`, opaque
    std::vector<QueryPair> used;        ///< for the self link: what was understood
    std::vector<std::string> warnings;  ///< one for each parameter that was passed over (lenient)
};

/// How a query is read.
struct QueryContext {
    const Service& service;
    std::shared_ptr<const ParameterSet> parameters;
    Position bound;  ///< the snapshot that value sets, lists and code systems are read at
    std::string_view base_url;
    bool strict =
        false;  ///< an unknown parameter is an error (Prefer: handling=strict; conditional interactions)
    bool conditional =
        false;  ///< only criteria are allowed: no result parameters but those about the answer
};

/// Reads the parameters of a search of `types` (empty: the whole system, narrowed by `_type`), within a
/// compartment's plan if `within` is given for each type.
///
/// Errors: invalid (a malformed value, naming the parameter), not_supported (a modifier), too_costly.
Result<Query> parse_query(const QueryContext& context, std::vector<TypeId> types,
                          std::span<const QueryPair> pairs);

}  // namespace annals::core::search
