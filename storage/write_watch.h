// WriteWatch: what has been submitted since it began that concerns a decision.
//
// A decision by what no term tells (a name, a date) can't be guarded by terms. Instead each version of the type is held
// against what was asked as it is submitted, so that writes that have nothing to do with it never make it void.
//
// Layer:   storage; the sequencer keeps the list of those that there are.
// Threads: made and destroyed on any thread; what it holds belongs to the sequencer's mutex.

#pragma once

#include "storage/search_entries.h"
#include "storage/types.h"

#include <cstdint>
#include <functional>

namespace annals::storage {

class Sequencer;

class WriteWatch {
  public:
    /// Whether a version may bear on the decision: its entries, and the term of its resource's identity. Never false
    /// where it does. Called with the sequencer's mutex held: short, and calls nothing of the store.
    using Concerns = std::function<bool(const SearchEntries& entries, std::uint64_t identity)>;

    /// How many there can be at once: each costs every writer of its type.
    static constexpr std::size_t kWatchesMax = 128;

    /// Ends it.
    ~WriteWatch();

    WriteWatch(const WriteWatch&) = delete;
    WriteWatch& operator=(const WriteWatch&) = delete;

  private:
    friend class Sequencer;

    WriteWatch(Sequencer& sequencer, TypeId type, Concerns concerns, Position since)
        : sequencer_(sequencer), type_(type), concerns_(std::move(concerns)), since_(since) {}

    Sequencer& sequencer_;
    const TypeId type_;
    const Concerns concerns_;
    Position since_;   ///< knows of what came after
    Position newest_;  ///< that concerned it; 0: none
    Ticket ticket_;    ///< of that
};

}  // namespace annals::storage
