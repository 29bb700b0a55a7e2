// One entry of a transaction: what it asks for, checked as far as possible without the store.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#trules.
// Threads: plain functions and values.

#pragma once

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "core/base/text_map.h"
#include "core/interactions/bundle_entry.h"
#include "core/interactions/criteria.h"
#include "core/interactions/patch_document.h"
#include "core/interactions/preconditions.h"
#include "core/interactions/submitted_resource.h"
#include "core/service.h"
#include "core/target.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// Entries that are processed before the loop's other requests get their turn.
inline constexpr std::size_t kEntriesPerTurn = 256;

/// In the order in which FHIR processes them; a PATCH is an update.
enum class EntryKind : std::uint8_t { remove, create, update, read };

/// A resource to be written, and what the transaction needs to know about it.
struct EntryResource {
    json::ResourceFacts facts;
    std::vector<json::ReferenceSite> sites;
    TextSet<> stood;  ///< of a PATCH: conditional references stored before, which nobody has sent
};

/// Reads `resource`, which must be of the `type` in the URL. `prefix` replaces the type at the beginning of
/// expressions in structural errors. `unfinished`: as for check_resource(). Errors: those of a PUT.
Result<EntryResource> read_entry_resource(const Service& service, json::Value resource, TypeId type,
                                          std::string_view prefix, Unfinished& unfinished);

/// An entry. Not movable. Lifetime: points into the bundle's Document and into itself.
struct TransactionEntry {
    json::Value value;
    EntryRequest asked;
    Request request;  ///< what it asks for, as a request of its own without a body
    Target target;
    EntryKind kind = EntryKind::read;
    std::optional<Criteria> criteria;  ///< of a conditional create, update, patch or delete
    bool criteria_link = false;        ///< they refer to something by a URL, which may be a fullUrl
    Preconditions conditions;

    // Of create and update.
    std::string full_url;                ///< empty: none
    EntryResource resource;              ///< not of a PATCH
    std::optional<PatchDocument> patch;  ///< of a PATCH
    std::string new_id;                  ///< the id if a resource is created that has none
};

/// Reads `value`, the entry at `index`, into `entry`. Errors: any 4xx that the request alone would get; errors in the
/// resource's structure have expressions below Bundle.entry[index].
/// `unfinished`: as for check_resource(); also receives what else the entry names. `needs`: as for parse_criteria().
Result<void> read_transaction_entry(const Service& service, json::Value value, std::size_t index,
                                    const Request& outer, TransactionEntry& entry,
                                    Unfinished& unfinished, QueryNeeds& needs);

/// Reads the criteria of an entry that has some. Errors: as parse_criteria() and query_of_if_none_exist().
Result<Criteria> read_entry_criteria(const Service& service, const TransactionEntry& entry,
                                     QueryNeeds& needs, const search::Links& links);

/// An error in a transaction, and the entry that it is in.
struct TransactionFault {
    std::size_t entry = 0;
    Error error;
};

/// 400 that names the entry: "Bundle.entry[3] PUT Patient/9: 412 ...; transaction rolled back". Errors of the server
/// itself keep their own status.
Response transaction_failed(const TransactionFault& fault, json::Value entry);

/// The same for a Bundle that nobody has sent or knows: "Patient/9: ...", and expressions within that resource.
/// Requires: each of `entries` names a resource.
Response resource_refused(const TransactionFault& fault, std::span<const TransactionEntry> entries);

}  // namespace annals::core
