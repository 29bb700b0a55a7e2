// The parameters of a history request, read strictly: unknown, repeated or malformed ones are refused.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#history; docs/api/history.md.
// Threads: plain functions.

#pragma once

#include "core/interactions/history_cursor.h"
#include "core/service.h"

#include <cstdint>
#include <string>

namespace annals::core {

/// What a history request asks for. `cursor` has the order, `_since` and `_at`, whether the request begins a
/// history or continues one.
struct HistoryParameters {
    HistoryCursor cursor;
    bool continued = false;   ///< a `_cursor` was given
    std::uint64_t count = 0;  ///< lowered to max_page_size
    std::uint64_t offset = 0;
    /// `_count=2&_sort=_position`: as given, with the values used; no `_cursor`.
    std::string own_query;
};

/// Clamps an instant that a time zone has shifted out of the years 1 to 9999, where no version can be, to the nearest
/// representable one.
Instant within_years(Instant instant) noexcept;

/// Reads the query of a history request. Errors: invalid, naming the parameter.
Result<HistoryParameters> read_history_parameters(const Config& config, const Request& request,
                                                  const Target& target);

}  // namespace annals::core
