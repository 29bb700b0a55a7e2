// WriteWatch: records whether anything submitted since it began concerns a decision.
//
// A decision on something that has no terms (a name, a date) can't be guarded by terms. Instead each version of the type is
// tested against the query as it is submitted, so that unrelated writes never invalidate the decision.
//
// Layer:   storage; the sequencer keeps the list of watches.
// Threads: made and destroyed on any thread; its state is guarded by the sequencer's mutex.

#pragma once

#include "storage/search_entries.h"
#include "storage/types.h"

#include <cstdint>
#include <functional>

namespace annals::storage {

class Sequencer;

class WriteWatch {
  public:
    /// Whether a version, given by its entries and the term of its resource's identity, may affect the decision; false only if it
    /// certainly does not. Called with the sequencer's mutex held: it must be short and must not call the store.
    using Concerns = std::function<bool(const SearchEntries& entries, std::uint64_t identity)>;

    /// How many there can be at once; each costs every writer of its type.
    static constexpr std::size_t kWatchesMax = 128;

    /// Ends the watch.
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
    Position since_;   ///< versions after this were tested
    Position newest_;  ///< the newest version that concerned it; 0: none
    Ticket ticket_;    ///< of that version
};

}  // namespace annals::storage
