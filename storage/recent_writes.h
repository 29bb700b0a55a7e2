// RecentWrites: the terms of the newest versions, in flight or recently published, by which guards are decided.
//
// Layer:   storage; the sequencer owns one.
// Memory:  16 bytes per version and 8 per term: of what is in flight, and of kWritesKept versions or kValuesKept terms before,
//          whichever is less.
// Threads: one at a time (the sequencer's mutex).

#pragma once

#include "storage/types.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace annals::storage {

class RecentWrites {
  public:
    static constexpr std::size_t kWritesKept = 16'384;
    static constexpr std::size_t kValuesKept = 1 << 20;

    /// Knows nothing of versions at or before `last`.
    explicit RecentWrites(Position last) : next_{last.value + 1} {}

    /// Adds the next version: it has the terms and link targets of `entries`, which may be null, and the term `identity`.
    void add(TypeId type, Ticket ticket, std::uint64_t identity, const SearchEntries* entries);

    /// Versions at or before `through` are published: the oldest of them may be forgotten.
    void settle(Position through);

    /// Forgets every version after `last`: it was never written.
    void drop_after(Position last);

    /// Why a guard fails: the newest version that it forbids, or that what it asks about is forgotten.
    struct Hit {
        Position position;  ///< 0: forgotten
        Ticket ticket;
    };

    /// None: the guard holds. Cost: proportional to the versions after guard.as_of.
    std::optional<Hit> find(const Guard& guard) const;

  private:
    struct Write {
        Ticket ticket;
        TypeId type;
        std::uint32_t values_end = 0;  ///< in Chunk::values
    };

    /// Consecutive versions, which are forgotten together.
    struct Chunk {
        Position first;
        std::vector<Write> writes;
        std::vector<std::uint64_t> values;
    };

    static constexpr std::size_t kChunkWrites = 1024;
    static constexpr std::size_t kChunkValues = 1 << 16;

    void forget_oldest();

    std::deque<Chunk> chunks_;
    Chunk spare_;    ///< empty; keeps its memory
    Position next_;  ///< of the version to come
    std::size_t writes_ = 0;
    std::size_t values_ = 0;
};

}  // namespace annals::storage
