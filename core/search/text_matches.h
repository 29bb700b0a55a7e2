// TextMatches: caches which texts of a run's column contain a given text.
//
// Layer:   core/search.
// Threads: belongs to one thread.

#pragma once

#include "core/search/terms.h"
#include "storage/search_run.h"

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// Scans a column's texts once for each needle; keeps the most recently used results.
class TextMatches {
  public:
    using Texts = std::shared_ptr<const std::vector<std::uint32_t>>;

    /// The texts of `column` that contain `needle`, sorted. Requires: `needle` is not empty.
    /// Cost: a scan of all of the column's texts, if not cached.
    Texts get(const std::shared_ptr<const storage::SearchRun>& run, Column column,
              std::string_view needle);

    static TextMatches& of_thread();

  private:
    struct Entry {
        std::weak_ptr<const storage::SearchRun> run;  // does not keep the run alive
        const storage::SearchRun* address;
        Column column;
        std::string needle;
        Texts texts;
    };

    std::list<Entry> entries_;  // most recently used first
    std::size_t kept_texts_ = 0;
};

}  // namespace annals::core::search
