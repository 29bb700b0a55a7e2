// Criteria: the queries of conditional interactions and conditional references, answered by search and decided at commit.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#ccreate, #cond-update, search.html; docs/api/conditional.md.
// Threads: plain functions, on the loop of their request.

#pragma once

#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/interactions/turns.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"
#include "core/search/query.h"
#include "core/service.h"
#include "storage/types.h"
#include "storage/write_watch.h"

#include <asio/awaitable.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::core {

class QueryNeeds;

/// What a resource must be to match: of the type, live, and a match of the plan.
struct Criteria {
    TypeId type;
    std::shared_ptr<const search::ParameterSet> parameters;  ///< what the plan refers to
    search::Plan plan;
    search::Watch watch;  ///< what new versions must not contain for a decision to remain valid
    /// Until when matches are sought, at most.
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
    /// Also used, if no term decides; created by the first search for matches. Null: there is none (yet).
    mutable std::shared_ptr<storage::WriteWatch> writes = {};
};

/// Reads the query of a conditional interaction, percent-encoded, without '?'. Conditional interactions are always
/// strict, whatever Prefer says. `_format`, `_pretty`, `_summary` and `_elements` are about the answer and skipped.
/// References below the request's base URL are local, and the sender must be permitted to search the types that
/// chains lead to.
///
/// `needs`: receives what is lacking of the resources that the query names; unless they are met, the result is meaningless. Null:
/// waits for the device, and takes as long as it takes.
/// `links`: as in search::QueryContext.
/// Errors: invalid, not_supported: no criterion, or a parameter, modifier or value that search does not accept
/// (named); too_costly; those of require_search().
Result<Criteria> parse_criteria(const Service& service, const Request& request, TypeId type,
                                std::string_view query, QueryNeeds* needs,
                                const search::Links& links = {});

/// The same, providing first what the query names, while others have their turn. That, all searches for matches and what the caller
/// does between, as waiting for the device, together have one `limits.request_timeout`. Lifetime: all arguments outlive the await.
asio::awaitable<Result<Criteria>> read_criteria(const Service& service, const Request& request,
                                                TypeId type, std::string_view query);

/// The query in an If-None-Exist header or Bundle.entry.request.ifNoneExist: `identifier=x`, also with `?`, `Patient?` or an
/// absolute URL before it. Errors: invalid: the type is another one. Lifetime: that of `text`.
Result<std::string_view> query_of_if_none_exist(TypeId type, std::string_view text);

/// Refuses criteria on a create, or on a write to a resource that is named in the URL: the sender expects something else than
/// would be written. Only `_format`, `_pretty`, `_summary` and `_elements` may be in the query. Errors: invalid, naming the
/// first other parameter.
Result<void> check_no_criteria(const Request& request, const Target& target);

/// True for a reference of the form `Type?query`: it names a resource by criteria.
bool is_conditional_reference(std::string_view reference) noexcept;

/// Reads a conditional reference. Errors: as parse_criteria(), also for the type that it names.
Result<Criteria> parse_conditional_reference(const Service& service, const Request& request,
                                             std::string_view reference, QueryNeeds* needs,
                                             const search::Links& links = {});

/// Matches are counted at least up to this, for messages.
inline constexpr std::size_t kMatchesCountedMax = 100;

/// The matches among all durable resources.
struct CriteriaMatches {
    std::vector<storage::StoredVersion> found;  ///< newest first; at most as many as were wanted
    std::size_t count = 0;  ///< of all matches, up to kMatchesCountedMax or the number wanted
    bool more = false;      ///< there are more than were wanted
    Position as_of;         ///< everything durable up to here was searched

    /// For the commit that is based on these matches: it is accepted only if the same resources still match;
    /// otherwise the submission is `busy`: await its ticket and search again. A match itself is protected by
    /// Expect::version. Lifetime: that of the criteria.
    std::vector<storage::Guard> guards;
};

/// Finds at most `limit` matches, taking turns with the other work of the loop, within `limits.request_timeout` and until
/// `criteria.end`. Errors: corrupt, timeout, too_costly.
asio::awaitable<Result<CriteriaMatches>> find_matches(const Service& service, Loop& loop,
                                                      const Criteria& criteria,
                                                      std::size_t limit = 1);

/// The same within one turn. None if that is not enough, or if something to be read is not in memory: then use
/// find_matches().
Result<std::optional<CriteriaMatches>> find_matches_now(const Service& service,
                                                        const Criteria& criteria,
                                                        std::size_t limit);

/// The error for a conditional interaction with several matches.
Error several_matches(const Criteria& criteria, std::size_t count);

}  // namespace annals::core
