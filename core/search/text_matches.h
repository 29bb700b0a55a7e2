// TextMatches: which texts of a run's column contain a text, kept for the next who asks.
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

/// Looks through a column's texts once for each needle; keeps what was used last.
class TextMatches {
  public:
    using Texts = std::shared_ptr<const std::vector<std::uint32_t>>;

    /// The texts of `column` that contain `needle`, ascending.
    /// Cost: of a look through all of the column's texts, if it isn't kept.
    Texts get(const std::shared_ptr<const storage::SearchRun>& run, Column column,
              std::string_view needle);

    static TextMatches& of_thread();

  private:
    struct Entry {
        std::weak_ptr<const storage::SearchRun> run;  // a run may go while this is kept
        const storage::SearchRun* address;
        Column column;
        std::string needle;
        Texts texts;
    };

    std::list<Entry> entries_;  // last used first
    std::size_t kept_texts_ = 0;
};

}  // namespace annals::core::search
