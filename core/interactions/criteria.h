// Criteria: what conditional interactions and conditional references ask, answered by search and decided at commit.
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
#include "core/service.h"
#include "storage/types.h"
#include "storage/write_watch.h"

#include <asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace annals::core {

/// What a resource must be to match: of the type, live, and as the plan says.
struct Criteria {
    TypeId type;
    std::shared_ptr<const search::ParameterSet> parameters;  ///< the plan asks of them
    search::Plan plan;
    search::Watch watch;  ///< what new versions must not bring for a decision to stay true
    /// Beside it, where no term tells: begun by who first looks for matches. Null: there is none (yet).
    mutable std::shared_ptr<storage::WriteWatch> writes = {};
};

/// Reads the query of a conditional interaction, percent-encoded, without '?'. Conditional interactions are
/// strict whatever Prefer says. `_format`, `_pretty`, `_summary` and `_elements` are about the answer and are
/// passed over. What is below the request's base URL is local, and whoever sends it must be permitted to search the
/// types that chains look at.
///
/// `unread`: where the positions go of what the query names and is on the device only; what is returned then means nothing. Null:
/// it is waited for.
/// Errors: invalid, not_supported: no criterion, a parameter, modifier or value that search does not take (named);
///         unauthenticated, forbidden.
Result<Criteria> parse_criteria(const Service& service, const Request& request, TypeId type,
                                std::string_view query, std::vector<Position>* unread);

/// The same, when what the query names has been fetched. Lifetime: all of these outlive the await.
asio::awaitable<Result<Criteria>> read_criteria(const Service& service, const Request& request,
                                                TypeId type, std::string_view query);

/// Reads an If-None-Exist header or Bundle.entry.request.ifNoneExist: `identifier=x`, also with
/// `?`, `Patient?` or an absolute URL before it. Errors: as parse_criteria(); another type.
Result<Criteria> parse_if_none_exist(const Service& service, const Request& request, TypeId type,
                                     std::string_view text, std::vector<Position>* unread);

/// A write that names its resource, or a create, is about no criteria: who sends some expects something else to be written
/// than would be. Of the query only `_format`, `_pretty`, `_summary` and `_elements` pass. Errors: invalid, naming the first.
Result<void> check_no_criteria(const Request& request, const Target& target);

/// True for a reference of the form `Type?query`: it names a resource by criteria.
bool is_conditional_reference(std::string_view reference) noexcept;

/// Reads a conditional reference. Errors: as parse_criteria(), of its own type as well.
Result<Criteria> parse_conditional_reference(const Service& service, const Request& request,
                                             std::string_view reference,
                                             std::vector<Position>* unread);

/// Matches are counted so far at least, for messages.
inline constexpr std::size_t kMatchesCountedMax = 100;

/// What matches among all that is durable.
struct CriteriaMatches {
    std::vector<storage::StoredVersion> found;  ///< newest first; at most as many as were wanted
    std::size_t count = 0;  ///< all that match, up to kMatchesCountedMax or what was wanted
    bool more = false;      ///< there are more than were wanted
    Position as_of;         ///< all that is durable up to here was looked at
    std::uint64_t hard_deletes = 0;  ///< those that had been seen then: Guard::hard_deletes

    /// Put these into the commit that acts on the decision: it is then accepted only while the same resources
    /// match, otherwise the submission is `busy`: await its ticket and find the matches again. A match itself is
    /// held by Expect::version. Lifetime: of the criteria.
    std::vector<storage::Guard> guards;
};

/// Finds at most `limit` matches, in turns with the others of the loop. Errors: corrupt, timeout, too_costly.
asio::awaitable<Result<CriteriaMatches>> find_matches(const Service& service, Loop& loop,
                                                      const Criteria& criteria,
                                                      std::size_t limit = 1);

/// The same within one turn. None if that is not enough, or if what it looks at is on the device only: that is for
/// find_matches().
Result<std::optional<CriteriaMatches>> find_matches_now(const Service& service,
                                                        const Criteria& criteria,
                                                        std::size_t limit);

/// The error for a conditional interaction with several matches.
Error several_matches(const Criteria& criteria, std::size_t count);

}  // namespace annals::core
