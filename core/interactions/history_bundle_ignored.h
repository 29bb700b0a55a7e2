// The ignored entries of a history bundle: whether they are what is stored.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-bundle.md.
// Threads: on the loop of its request.

#pragma once

#include "codec/json/document.h"
#include "core/interactions/history_bundle_answer.h"
#include "core/interactions/turns.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <optional>
#include <vector>

namespace annals::core {

/// Entries that were ignored, until they are compared with the stored versions of the same numbers.
class IgnoredEntries {
  public:
    /// Lifetime: the arguments outlive it.
    IgnoredEntries(const Service& service, const Request& request, Turns& turns)
        : service_(service), request_(request), turns_(turns) {}

    /// Adds an entry that has a version number. Lifetime: until it is compared.
    void add(json::Value entry, HistoryOutcome& outcome) { entries_.push_back({entry, &outcome}); }

    bool empty() const noexcept { return entries_.empty(); }

    /// Compares those added since the last call, in turns, and removes them. The outcome of one whose version is not stored becomes
    /// `missing`, that of one with other content `differs`, which is also logged. False: it is late, and not all were compared.
    /// Requires: the stored versions have settled.
    asio::awaitable<bool> compare();

  private:
    struct Entry {
        json::Value value;
        HistoryOutcome* outcome;
    };

    /// Compares one. The position of its version if that is only on the device and this may not block: nothing was compared.
    std::optional<Position> compare_one(const Entry& ignored, bool may_block) const;

    const Service& service_;
    const Request& request_;
    Turns& turns_;
    std::vector<Entry> entries_;
};

}  // namespace annals::core
