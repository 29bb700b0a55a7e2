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
    /// The documents of a run that have died.
    struct Died {
        storage::SearchBitmap bitmap;  ///< null if there are none
        Position last{0};              ///< when the last of them died
    };

    /// Some have perhaps died after the caller's snapshot. Lifetime: until the next call.
    /// Cost: a scan of the blocks in which any have died since the last call.
    const Died& died(const std::shared_ptr<const storage::SearchRun>& run);

    /// Whether no document has several intervals in the column. Cost: a scan of the column the first time.
    bool is_single(const std::shared_ptr<const storage::SearchRun>& run, Column column);

    static RunFacts& of_thread();

  private:
    struct Facts {
        std::weak_ptr<const storage::SearchRun> run;  // does not keep the run alive
        const storage::SearchRun* address = nullptr;
        std::uint32_t died_count = 0;
        std::vector<std::uint32_t> died_in;  // died_count_in() of each block
        Died died;
        std::vector<std::pair<Column, bool>> single;
    };

    Facts& facts_of(const std::shared_ptr<const storage::SearchRun>& run);

    std::list<Facts> facts_;  // most recently used first
};

}  // namespace annals::core::search
