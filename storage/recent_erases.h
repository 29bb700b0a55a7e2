// RecentErases: the newest hard deletes of live resources, in flight or recently published, by which guards are decided.
//
// A hard delete writes no version and has no position. So hard deletes are counted, and a guard states how many were visible
// when the decision was made.
//
// Layer:   storage; the sequencer owns one.
// Memory:  24 bytes for each hard delete in flight, and for kKept earlier ones.
// Threads: visible() from any thread, the rest one at a time (the sequencer's mutex).

#pragma once

#include "storage/types.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>

namespace annals::storage {

class RecentErases {
  public:
    static constexpr std::size_t kKept = 16'384;

    /// Adds the next one. `identity` is the term of its resource's identity.
    void add(TypeId type, Ticket ticket, std::uint64_t identity);

    /// Those up to and including `ticket` have become visible.
    void settle(Ticket ticket);

    /// Forgets all that are not visible: they were never written.
    void drop();

    /// How many have become visible so far.
    std::uint64_t visible() const noexcept { return visible_.load(std::memory_order_acquire); }

    /// The ticket to wait for if the guard fails, 0 if there is none to wait for; none: the guard holds.
    /// Cost: O(hard deletes after Guard::hard_deletes).
    std::optional<Ticket> find(const Guard& guard) const;

  private:
    struct Erased {
        std::uint64_t identity;
        Ticket ticket;
        TypeId type;
    };

    std::deque<Erased> erased_;
    std::uint64_t forgotten_ = 0;  ///< before erased_.front()
    std::atomic<std::uint64_t> visible_{0};
};

}  // namespace annals::storage
