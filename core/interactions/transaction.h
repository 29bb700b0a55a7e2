// A transaction: all entries of the Bundle in one commit, or none.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#transaction, #trules; docs/api/transaction.md.
// Threads: runs on the loop of its request; long transactions yield to it.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>

namespace annals::core {

/// Options for a transaction that the server itself has composed.
struct TransactionManner {
    /// References of the form Type?criteria are resolved. False: nobody has sent them, they were in stored resources
    /// before.
    bool resolves = true;
    /// Nothing is committed: 200 without a body means that all of it could be.
    bool rehearsed = false;
    /// Errors refer to the Bundle's entries. False: to their resources, because nobody has sent the Bundle. Then it is an
    /// error that bytes of what it erased are left, although it is applied: nobody sees the answer to the entry, only
    /// the access log tells it (Response::entries).
    bool sent = true;
};

/// Answers a transaction: 200 with one response entry per entry, in order, once its commit is durable; 202 in those of
/// deletions if bytes of what is erased could not be removed. Otherwise nothing is applied: 400 with an
/// OperationOutcome that names the entry at fault, or 503 if it could not be committed by `end`.
///
/// Requires: `bundle` is a transaction; its `entry` is an array or absent.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> run_transaction(const Service& service, const Request& request,
                                          const json::Document& bundle,
                                          std::chrono::steady_clock::time_point end,
                                          TransactionManner manner = {});

}  // namespace annals::core
