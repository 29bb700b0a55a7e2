// A page of a history of which not all versions are shown: those that the client's scopes permit, and with `_at` those
// that were current then; and their number.
//
// Layer:   core/interactions.
// Spec:    docs/security.md, A part of a type; docs/api/history.md.
// Threads: on the loop of its request.

#pragma once

#include "core/base/instant.h"
#include "core/scoped_view.h"
#include "core/search/pace.h"
#include "storage/history_walk.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace annals::core {

/// Checks every version that `query` asks for, in turns (Turns::finish()). Lifetime: the arguments outlive it.
class ShownHistory {
  public:
    /// `at`: shows only what was live then, as known at `query.bound`. `query.total`: the number of shown versions, if
    /// known.
    ShownHistory(const storage::Store& store, const ScopedView& view,
                 const storage::HistoryQuery& query, std::optional<Instant> at = {});

    /// Continues until the turn is over (false) or everything is found (true).
    Result<bool> advance(const search::Pace& pace);

    /// As returned by Store::history().
    storage::HistoryPage& page() noexcept { return page_; }

  private:
    bool must_fetch(const search::Pace& pace);
    std::vector<storage::VersionInfo> deleted();
    bool shows(const storage::VersionInfo& info) const;
    bool take(const storage::HistoryPage& found, const search::Pace& pace);
    void take(const storage::VersionInfo& info);

    const storage::Store& store_;
    const ScopedView& view_;
    const storage::HistoryQuery& query_;
    const std::optional<Instant> at_;
    bool fills_;   ///< fills the page; otherwise only counts
    bool counts_;  ///< counts what is shown
    bool then_counts_ = false;
    std::uint64_t skip_;
    std::optional<storage::VersionInfo> after_;
    std::optional<storage::HistoryWalk> walk_;  ///< through the next versions; none: to be begun
    int asked_ = 0;          ///< fetches done: of the versions, then of what deletions deleted
    std::size_t taken_ = 0;  ///< of these versions
    storage::HistoryPage page_;
};

}  // namespace annals::core
