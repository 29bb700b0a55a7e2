// The answer to a transaction: a response entry for each entry, in the order in which they came.
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

/// Answers once `attempt` is durable. All is done by then: what has no room is left out, or refused where it is only read.
/// Lifetime: the arguments outlive the await.
asio::awaitable<Response> answer_transaction(const Service& service, const Request& request,
                                             std::span<const TransactionEntry> entries,
                                             const TransactionAttempt& attempt);

/// Runs an entry that reads, as far as there is room for its answer. `seen_at`: as of Request.
/// Lifetime: the arguments outlive the await.
asio::awaitable<Response> answer_read_entry(const Service& service, const TransactionEntry& entry,
                                            std::optional<Position> seen_at, AnswerBudget& budget,
                                            Turns& turns);

/// What the answers to the writes will have together, but for numbers and instants in their bodies.
std::size_t answered_bytes(const Request& request, const TransactionAttempt& attempt);

}  // namespace annals::core
