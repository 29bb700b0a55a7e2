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

/// How a transaction is run that the server has made itself.
struct TransactionManner {
    /// References of the form Type?criteria are looked up. False: nobody sent them, they stand in what was stored before.
    bool resolves = true;
    /// Nothing is committed: 200, without a body, says that all of it could be.
    bool rehearsed = false;
    /// Why it is refused is said in words of the Bundle's entries. False: of their resources, since nobody has sent it.
    bool sent = true;
};

/// Answers a transaction: 200 with one response entry per entry, in order, once its commit is durable; or 400
/// with an OperationOutcome that names the entry at fault, and nothing is applied; nor is it if it could not be committed by
/// `end`: 503.
///
/// Requires: `bundle` has the type transaction with an array `entry`, or none.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> run_transaction(const Service& service, const Request& request,
                                          const json::Document& bundle,
                                          std::chrono::steady_clock::time_point end,
                                          TransactionManner manner = {});

}  // namespace annals::core
