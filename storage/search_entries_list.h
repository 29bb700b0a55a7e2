// SearchEntriesList: the search entries of many versions, one after the other in a few arrays.
//
// Layer:   storage.
// Memory:  kept by clear(), so that a list that is used again allocates nothing.
// Threads: plain values.

#pragma once

#include "storage/search_entries.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace annals::storage {

class SearchEntriesList {
  public:
    /// Appends the entries of a version.
    void add(const SearchEntriesView& entries);

    /// Adds an entry to the version that was added last.
    void add_term(std::uint64_t term) {
        terms_.push_back(term);
        ends_.back().terms = terms_.size();
    }

    void add_interval(const SearchEntries::Interval& interval) {
        intervals_.push_back(interval);
        ends_.back().intervals = intervals_.size();
    }

    /// The entries of version number `index`, in the order of add(). Lifetime: until the list is changed.
    SearchEntriesView operator[](std::size_t index) const noexcept;

    std::size_t size() const noexcept { return ends_.size(); }

    /// Size of its contents in memory.
    std::size_t bytes() const noexcept;

    /// Allocated memory.
    std::size_t capacity_bytes() const noexcept;

    void clear() noexcept;

  private:
    /// Where a version's entries end; they begin where those of the one before end.
    struct End {
        std::size_t terms = 0;
        std::size_t intervals = 0;
        std::size_t links = 0;
        std::size_t texts = 0;
        std::size_t characters = 0;
    };

    std::vector<End> ends_;
    std::vector<std::uint64_t> terms_;
    std::vector<SearchEntries::Interval> intervals_;
    std::vector<SearchEntries::Link> links_;
    std::vector<SearchEntries::Text> texts_;
    std::string characters_;
};

}  // namespace annals::storage
