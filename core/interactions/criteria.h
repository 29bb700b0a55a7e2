// Criteria: the search parameters that decide conditional interactions and conditional references.
//
// Layer:   core.
// Spec:    FHIR R4 http.html#ccreate, #cond-update, search.html#token, #escaping; docs/api/conditional.md.
// Threads: plain functions; they read the store and never wait.

#pragma once

#include "codec/json/document.h"
#include "core/base/resource_types.h"
#include "core/base/result.h"
#include "storage/store.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// One value of an `identifier` parameter: `value`, `system|value` or `|value`.
struct IdentifierToken {
    std::optional<std::string> system;  ///< none: any or no system; empty: without a system
    std::string value;

    bool operator==(const IdentifierToken&) const = default;
};

/// One parameter: the resource has one of these ids, or one of these identifiers. One list is empty.
struct Criterion {
    std::vector<std::string> ids;
    std::vector<IdentifierToken> identifiers;

    bool operator==(const Criterion&) const = default;
};

/// What a resource must be to match: of the type, live, and as every criterion says.
struct Criteria {
    TypeId type;
    std::vector<Criterion> all;  ///< never empty

    bool operator==(const Criteria&) const = default;
};

/// Reads the query of a conditional interaction, percent-encoded, without '?'. Conditional interactions are
/// strict whatever Prefer says. `_format`, `_pretty`, `_summary` and `_elements` are about the answer and are
/// passed over.
///
/// Errors: invalid: no criterion, an empty value, or a parameter other than `_id` and `identifier` (named).
Result<Criteria> parse_criteria(TypeId type, std::string_view query);

/// Reads an If-None-Exist header or Bundle.entry.request.ifNoneExist: `identifier=x`, also with
/// `?`, `Patient?` or an absolute URL before it. Errors: as parse_criteria(); another type.
Result<Criteria> parse_if_none_exist(TypeId type, std::string_view text);

/// True for a reference of the form `Type?query`: it names a resource by criteria.
bool is_conditional_reference(std::string_view reference) noexcept;

/// Reads a conditional reference. Errors: as parse_criteria().
Result<Criteria> parse_conditional_reference(std::string_view reference);

/// True if a live `resource` of the criteria's type with this id matches.
bool matches_criteria(const Criteria& criteria, std::string_view id, json::Value resource);

/// At most so many matches are looked for: enough for a message.
inline constexpr std::size_t kCriteriaMatchesMax = 100;

/// What matches among all that is durable.
struct CriteriaMatches {
    std::vector<storage::StoredVersion> found;  ///< at most kCriteriaMatchesMax

    /// Put these into the commit that acts on the decision: it is then accepted only while the same resources
    /// match, otherwise the submission is `busy`: await its ticket and call find_matches() again.
    std::vector<storage::Guard> guards;

    /// Not 0: a resource named by `_id` has a write under way; await it and call find_matches() again.
    storage::Ticket pending;
};

/// Evaluates `criteria`. A write to the one match belongs into a commit with the guards and Expect::live.
/// Errors: corrupt.
Result<CriteriaMatches> find_matches(const storage::Store& store, const Criteria& criteria);

/// The error for a conditional interaction with several matches.
Error several_matches(const Criteria& criteria, std::size_t count);

}  // namespace annals::core
