// Cursor: where a search continues, as the text of `_cursor` in a page's links.
//
// Layer:   core/search.
// Format:  docs/search.md, How a search is answered. The server keeps no state for it.
// Threads: plain functions and values.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core::search {

struct Cursor {
    Position snapshot;       ///< the first page's snapshot, which all pages see
    Position edge;           ///< the last match of the previous page, or the first of the next
    bool backwards = false;  ///< the page ends before the edge
    /// The order without `_sort` is by `_lastUpdated`. False: it is that of commits, because instants ascended in it when the page was
    /// made, or because a version of this server that knew no other wrote the cursor.
    bool by_instant = true;
    std::optional<std::uint64_t> total;  ///< as given on the first page
    std::uint32_t query = 0;             ///< a digest of the search; the reader compares it
    std::uint64_t carried = 0;           ///< how many carried resources the first page saw
    Instant now;                         ///< the time of the first page's request, for `ap`
};

/// The result needs no escapes in a URL.
std::string write_cursor(const Cursor& cursor);

/// Errors: invalid (not one of write_cursor()).
Result<Cursor> read_cursor(std::string_view text);

/// The error for a cursor that is damaged, or belongs to another search.
Error malformed_cursor();

}  // namespace annals::core::search
