// RunFacts: what can be told of a run by going through it once, kept for the next who asks.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/terms.h"
#include "storage/search_run.h"

#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace annals::core::search {

class RunFacts {
  public:
    /// The documents that have died, some of them perhaps after the snapshot at hand, ascending. Lifetime: until the
    /// next call. Cost: of a look at every document, if any has died since the last time.
    std::span<const std::uint32_t> died(const std::shared_ptr<const storage::SearchRun>& run);

    /// Whether no document has several intervals in the column. Cost: of a look at all of them, the first time.
    bool is_single(const std::shared_ptr<const storage::SearchRun>& run, Column column);

    static RunFacts& of_thread();

  private:
    struct Facts {
        std::weak_ptr<const storage::SearchRun> run;  // a run may go while this is kept
        const storage::SearchRun* address = nullptr;
        std::uint32_t died_count = 0;
        std::vector<std::uint32_t> died;
        std::vector<std::pair<Column, bool>> single;
    };

    Facts& facts_of(const std::shared_ptr<const storage::SearchRun>& run);

    std::list<Facts> facts_;  // last used first
};

}  // namespace annals::core::search
