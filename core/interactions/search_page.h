// One page of a search: its matches, the total number, and whether there are pages before and after it.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 search.html#sort, #count, #total; docs/search.md, How a search is answered.
// Threads: on the loop of its request.

#pragma once

#include "core/interactions/turns.h"
#include "core/search/cursor.h"
#include "core/search/query.h"
#include "core/search/snapshot.h"
#include "storage/types.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace annals::core {

struct SearchPage {
    std::vector<storage::VersionInfo> matches;
    std::optional<std::uint64_t> total;
    bool begins_inside = false;  ///< there are matches before these
    bool ends_inside = false;    ///< there are matches after these
    bool by_instant = true;      ///< for the cursors of other pages

    /// Where the page before this one ends, and the one after it begins, as in a Cursor; none: there is no such page. `own`: that
    /// of this page. If all of it was erased while it was made, they lead to what is left in its place.
    std::optional<Position> previous_edge(const std::optional<search::Cursor>& own) const;
    std::optional<Position> next_edge(const std::optional<search::Cursor>& own) const;
};

/// The page of `count` matches at `cursor`, or the first one. Lifetime: the arguments outlive the call.
/// Errors: timeout, too_costly, expired.
asio::awaitable<Result<SearchPage>> find_page(search::Snapshot& snapshot,
                                              const search::Query& query,
                                              const std::optional<search::Cursor>& cursor,
                                              std::size_t count, Turns& turns);

}  // namespace annals::core
