// The continuation of a history: the contents of `_cursor`, opaque to clients.
//
// Layer:   core/interactions.
// Spec:    docs/api/history.md.
// Threads: plain functions.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/target.h"
#include "storage/store.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {

/// Where a history continues, and everything that its first request has decided.
struct HistoryCursor {
    storage::HistoryOrder order = storage::HistoryOrder::newest_first;
    bool backwards = false;  ///< the page ends before `edge` instead of beginning after it
    /// Position and instant only; none: an end of the history.
    std::optional<storage::VersionInfo> edge;
    Position bound;  ///< 0: what is written later is included, too
    std::optional<Instant> since;
    std::optional<Instant> at;
    std::uint64_t total = 0;
    bool counted = false;  ///< `total` was counted for the first page
};

/// Uses only unreserved characters. `target` is the history that the cursor belongs to.
std::string write_cursor(const HistoryCursor& cursor, const Target& target);

/// Errors: invalid (not made by write_cursor(), or for another history).
Result<HistoryCursor> read_cursor(std::string_view text, const Target& target);

}  // namespace annals::core
