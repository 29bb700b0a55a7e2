// Cursor: where a search goes on, in the text that stands in `_cursor` of a page's links.
//
// Layer:   core/search.
// Format:  docs/search.md, How a search is answered. Nothing is kept in the server for it.
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
    Position snapshot;  ///< what the first page saw, all pages see
    Position edge;  ///< the match that the page before ended with, or the page after begins with
    bool backwards = false;              ///< the page ends before the edge
    std::optional<std::uint64_t> total;  ///< as the first page told it
    std::uint32_t query = 0;             ///< a digest of what is searched; the reader compares it
    std::uint64_t carried = 0;           ///< how many carried resources the first page saw
    Instant now;                         ///< when the first page was asked for: `ap` goes by it
};

/// Only characters that need no escape in a URL.
std::string write_cursor(const Cursor& cursor);

/// Errors: invalid (not one of write_cursor()).
Result<Cursor> read_cursor(std::string_view text);

/// What is said of a cursor that is damaged, or of another search.
Error malformed_cursor();

}  // namespace annals::core::search
