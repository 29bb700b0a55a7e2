// TransactionNames: what the resources are called that a transaction writes, as others speak of them.
//
// Layer:   core/interactions.
// Spec:    docs/api/transaction.md, Conditions.
// Threads: plain values.

#pragma once

#include "core/base/result.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_state.h"
#include "storage/store.h"

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

namespace annals::core {

/// "Patient/1", and of what has a canonical URL that one, too.
class TransactionNames {
  public:
    /// Requires: all entries are decided. Lifetime: the arguments outlive it.
    TransactionNames(const storage::Store& store, std::span<const TransactionEntry> entries,
                     const TransactionState& state, std::string_view base_url);

    /// Whether `read`, which came to `refusal` while nothing was written, may come to something else then: it asks for the version
    /// that is to come, or for one that isn't there yet; the refusal says that one is lacking; or the operation was asked about
    /// one.
    bool concern(const TransactionEntry& read, const Error& refusal) const;

  private:
    bool is_to_come(const Target& version) const;
    bool are_in(std::string_view text) const;
    bool is_one(std::string_view word) const;

    const storage::Store& store_;
    std::span<const TransactionEntry> entries_;
    const TransactionState& state_;
    std::string_view base_url_;
    std::unordered_set<std::string> canonicals_;
};

}  // namespace annals::core
