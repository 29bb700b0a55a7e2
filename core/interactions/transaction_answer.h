// The answer to a transaction: one response entry per entry, in the order of the Bundle.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#transaction-response; docs/api/transaction.md.
// Threads: on the loop of its request, in turns.

#pragma once

#include "core/exchange.h"
#include "core/interactions/entry_answer.h"
#include "core/interactions/transaction_attempt.h"
#include "core/interactions/transaction_entry.h"
#include "core/interactions/turns.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace annals::core {

/// Whether no byte is left on disk of what a transaction's deletions are about. If one is, they are answered with 202.
struct ErasedBytes {
    Result<void> own;      ///< of what the transaction erased
    Result<void> earlier;  ///< of what was erased before it, perhaps by the same deletion
};

/// Answers once `attempt` is durable. It can't fail any more: what exceeds the budget is left out of a write's answer, and
/// is an error for a read.
/// Lifetime: the arguments outlive the await.
asio::awaitable<Response> answer_transaction(const Service& service, const Request& request,
                                             std::span<const TransactionEntry> entries,
                                             const TransactionAttempt& attempt,
                                             const ErasedBytes& erased);

/// Carries out an entry that reads, as far as `budget` has room for its answer. `seen_at`: as in Request.
/// Lifetime: the arguments outlive the await.
asio::awaitable<Response> answer_read_entry(const Service& service, const TransactionEntry& entry,
                                            std::optional<Position> seen_at, AnswerBudget& budget,
                                            Turns& turns);

/// The total size of the bodies that answer the writes, apart from numbers and instants in them.
std::size_t answered_bytes(const Request& request, const TransactionAttempt& attempt);

}  // namespace annals::core
