// HeadsInFlight: how resources stand once the commits that are in flight are durable; commits are decided on it.
//
// Layer:   storage; the sequencer owns one.
// Memory:  that of what landed is kept for what comes next, as far as kSparesMax.
// Threads: one at a time (the sequencer's mutex).

#pragma once

#include "core/base/digest.h"
#include "storage/types.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace annals::storage {

class HeadsInFlight {
  public:
    /// What one thread allocates and another frees goes the long way, and those in flight are always about as many.
    static constexpr std::size_t kSparesMax = 4096;

    struct Entry {
        Head head;  ///< its ticket is that of the newest commit in flight
        bool erased =
            false;  ///< an erase is in flight: what it leaves is known when it has settled
    };

    /// Null if nothing of the resource is in flight. Lifetime: until the next change.
    const Entry* find(const Hash128& key) const noexcept;

    /// The resource's entry, made if there is none. Lifetime: until it lands.
    Entry& at(const Hash128& key);

    /// `ticket` has settled: forgets the resource unless more of it is in flight.
    void land(const Hash128& key, Ticket ticket);

    void clear() noexcept { entries_.clear(); }

  private:
    struct KeyHash {
        std::size_t operator()(const Hash128& key) const noexcept { return key.low; }
    };

    using Entries = std::unordered_map<Hash128, Entry, KeyHash>;

    Entries entries_;
    std::vector<Entries::node_type> spares_;
};

}  // namespace annals::storage
