// HeadsInFlight: the heads of resources once the commits in flight are durable, by which further commits are decided.
//
// Layer:   storage; the sequencer owns one.
// Memory:  entries that are no longer needed are reused, up to kSparesMax.
// Threads: one at a time (the sequencer's mutex).

#pragma once

#include "core/base/digest.h"
#include "storage/types.h"

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace annals::storage {

class HeadsInFlight {
  public:
    /// Reused because freeing on another thread than the allocating one is slow, and the number in flight varies little.
    static constexpr std::size_t kSparesMax = 4096;

    struct Entry {
        Head head;  ///< its ticket is that of the newest commit in flight
        /// An erase is in flight; what it leaves is known only once it has settled.
        bool erased = false;
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
