// RunFacts: caches facts about runs that take a scan to find out.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/terms.h"
#include "storage/search_run.h"

#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace annals::core::search {

class RunFacts {
  public:
    /// The documents of a run that had died at `position`; null if none have died. Lifetime: until the next call.
    /// Cost: a scan of the blocks in which any have died since the last call, and of those in which any died after `position`.
    /// A block is scanned whole: one such document in each means to look at all of the run (about 0.4 ms for a million).
    const roaring_bitmap_t* dead(const std::shared_ptr<const storage::SearchRun>& run,
                                 Position position);

    /// Whether no document has several intervals in the column. Cost: a scan of the column the first time.
    bool is_single(const std::shared_ptr<const storage::SearchRun>& run, Column column);

    static RunFacts& of_thread();

  private:
    struct Block {
        std::uint32_t died_count = 0;  // SearchRun::died_count_in()
        Position last_death{0};
    };

    struct Facts {
        std::weak_ptr<const storage::SearchRun> run;  // does not keep the run alive
        const storage::SearchRun* address = nullptr;
        std::uint32_t died_count = 0;
        std::vector<Block> blocks;
        Position last_death{0};
        storage::SearchBitmap died;  // null if none have
        std::vector<std::pair<Column, bool>> single;
    };

    static void update(Facts& facts, const storage::SearchRun& run);
    Facts& facts_of(const std::shared_ptr<const storage::SearchRun>& run);

    std::list<Facts> facts_;      // most recently used first
    storage::SearchBitmap dead_;  // what dead() returned, if not all that have died
};

}  // namespace annals::core::search
