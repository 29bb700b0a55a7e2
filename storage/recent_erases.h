// RecentErases: the newest hard deletes of live resources, in flight or lately published; guards are decided on them.
//
// A hard delete writes no version and has no position: hard deletes are counted, and who decides something says how many
// were visible when he looked.
//
// Layer:   storage; the sequencer owns one.
// Memory:  24 bytes for each that is in flight, and of kKept before.
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

    /// The next one. `identity` is the term of its resource's identity.
    void add(TypeId type, Ticket ticket, std::uint64_t identity);

    /// Those of `ticket` and before are visible.
    void settle(Ticket ticket);

    /// Forgets all that are not: they were never written.
    void drop();

    /// How many there were.
    std::uint64_t visible() const noexcept { return visible_.load(std::memory_order_acquire); }

    /// The ticket to wait for if the guard fails, 0 if nothing is to be waited for; none: it holds.
    /// Cost: of those after Guard::hard_deletes.
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
