// Sorting: matches in the order that `_sort` asks for.
//
// Layer:   core/search.
// Spec:    FHIR R4 search.html#sort; docs/search.md, How a search is answered.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "core/search/execute.h"
#include "core/search/query.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace annals::core::search {

/// The place of each match by each key. What has no value for a key comes last whichever way it is sorted; what is
/// equal in all keys comes newest first.
class Sorter {
  public:
    /// Lifetime: the arguments outlive this; `matches` stay as they are.
    Sorter(Snapshot& snapshot, std::span<const SortKey> keys, std::span<const Match> matches);
    ~Sorter();

    /// Finds the values of the keys: true when all are found, false when the turn is over.
    /// Errors: too_costly (too many bodies would have to be read).
    Result<bool> advance(const Pace& pace);

    /// The first `count` matches, as indexes, that come after the one at `edge`, or the last ones before it,
    /// in order; from the beginning if the edge is 0. Requires: advance() was true. `found_edge` is false if there
    /// is no match at `edge`.
    std::vector<std::uint32_t> page(Position edge, bool backwards, std::size_t count,
                                    bool& found_edge) const;

  private:
    struct Values;

    bool before(std::uint32_t a, std::uint32_t b) const;
    void take_dates(const SortKey& key, Values& values);
    void take_texts(const SortKey& key, Values& values);
    bool take_bodies(const Pace& pace);
    bool must_fetch(const Pace& pace);

    Snapshot& snapshot_;
    std::span<const SortKey> keys_;
    std::span<const Match> matches_;
    std::vector<Values> values_;  // one for each key
    std::size_t next_body_ = 0;
    std::size_t asked_about_ = 0;  // whether their bodies are in memory
    bool prepared_ = false;
};

/// At most so many bodies are read for keys that the index has no order of.
inline constexpr std::size_t kSortedBodiesMax = 50'000;

}  // namespace annals::core::search
