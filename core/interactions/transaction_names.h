// TransactionNames: the names of the resources that a transaction writes, by which other entries may refer to them.
//
// Layer:   core/interactions.
// Spec:    docs/api/transaction.md, Conditions.
// Threads: plain values.

#pragma once

#include "core/base/result.h"
#include "core/base/text_map.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/transaction_state.h"
#include "storage/store.h"

#include <span>
#include <string_view>

namespace annals::core {

/// "Patient/1", and the canonical URL of resources that have one.
class TransactionNames {
  public:
    /// Requires: all entries are decided. Lifetime: the arguments outlive it.
    TransactionNames(const storage::Store& store, std::span<const TransactionEntry> entries,
                     const TransactionState& state, std::string_view base_url);

    /// Whether `read`, answered with `refusal` while nothing was written yet, may get another answer after the transaction: if
    /// it asks for the version to be written or for a resource that was not found or deleted, if the refusal says that a
    /// written resource is lacking, or if an operation was asked about one.
    bool concern(const TransactionEntry& read, const Error& refusal) const;

  private:
    bool is_to_come(const Target& version) const;
    bool are_in(std::string_view text) const;
    bool is_one(std::string_view word) const;

    const storage::Store& store_;
    std::span<const TransactionEntry> entries_;
    const TransactionState& state_;
    std::string_view base_url_;
    TextSet<> canonicals_;
};

}  // namespace annals::core
