// HistoryWalk: a page of history and its total, found in steps where many versions must be examined.
//
// Layer:   storage; made by Store::walk_history().
// Threads: belongs to one thread; the log writer may go on meanwhile.

#pragma once

#include "core/base/digest.h"
#include "storage/store.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace annals::storage {

class Index;
struct VersionList;

/// The rank of a version in an order by instant; ascending, whichever way the order goes.
struct HistoryRank {
    std::int64_t instant = 0;
    std::uint64_t position = 0;

    auto operator<=>(const HistoryRank&) const = default;
};

/// Finds the same as Index::history(), among what is visible when it is made; versions erased meanwhile may still be found.
///
/// Lifetime: the index outlives it.
class HistoryWalk {
  public:
    /// Parameters as of Index::history(); for one resource (`key`) the page is found at once.
    HistoryWalk(const Index& index, const HistoryQuery& query, const std::optional<Hash128>& key);

    /// Continues until the page is complete (true, and again if it is called again), or until `looks` versions, and at most a
    /// block more, were examined (false).
    bool advance(std::uint64_t looks);

    /// Requires: advance() returned true.
    HistoryPage& page() noexcept { return page_; }

  private:
    struct Block {
        std::int64_t first;  ///< no member's rank has a smaller instant
        std::uint64_t number;
    };

    static bool is_later(const Block& a, const Block& b) noexcept { return a.first > b.first; }

    // Each is true when it is done, and again if it is called again; what it looked at goes off `looks`.
    bool count(std::uint64_t& looks);
    bool fill_by_position(std::uint64_t& looks);
    bool find_blocks(std::uint64_t& looks);
    bool fill_by_instant(std::uint64_t& looks);

    const Index& index_;
    const VersionList& list_;
    HistoryQuery query_;
    HistoryPage page_;
    std::uint64_t size_ = 0;     ///< of the list, as far as it is looked at
    std::uint64_t counted_ = 0;  ///< members that are in the total, if they must be
    bool by_instant_ = false;    ///< else in the order of positions
    std::uint64_t next_ = 0;     ///< by position: the member to go on with, downwards one beyond it
    std::uint64_t searched_ =
        0;  ///< by instant: members whose blocks are in `blocks_`, if they must be
    std::vector<Block> blocks_;      ///< heap: the earliest on top
    std::vector<HistoryRank> best_;  ///< heap of the page so far and one more: the last on top
};

}  // namespace annals::storage
