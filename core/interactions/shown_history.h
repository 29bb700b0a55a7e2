// A page of a history that not all versions are shown of: those that the asker's scopes permit, and with `_at` those that
// were current then; and how many there are.
//
// Layer:   core/interactions.
// Spec:    docs/security.md, Scopes of a patient, and granular ones; docs/api/history.md.
// Threads: on the loop of its request.

#pragma once

#include "core/base/instant.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "storage/history_walk.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace annals::core {

/// Looks at every version that `query` asks for, in turns (Turns::finish()). Lifetime: the arguments outlive it.
class ShownHistory {
  public:
    /// `at`: only what was live then, as `query.bound` knows. `query.total`: how many are shown of all, if that is known.
    ShownHistory(const storage::Store& store, const ScopedView& view,
                 const storage::HistoryQuery& query, std::optional<Instant> at = {});

    /// Goes on until the turn is over (false) or all is found (true).
    Result<bool> advance(const search::Pace& pace);

    /// As Store::history() gives it.
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
    bool fills_;   ///< the page; else all are counted
    bool counts_;  ///< what is found is counted
    bool then_counts_ = false;
    std::uint64_t skip_;
    std::optional<storage::VersionInfo> after_;
    std::optional<storage::HistoryWalk> walk_;  ///< to the next ones; none: to be begun
    int asked_ =
        0;  ///< whether what it came to has to be fetched: versions, then what deletions among them deleted
    std::size_t taken_ = 0;  ///< of what it came to
    storage::HistoryPage page_;
};

}  // namespace annals::core
