// A batch: every entry of the Bundle is a request of its own.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 http.html#transaction, "batch"; docs/api/batch.md.
// Threads: runs on the loop of its request; long batches yield to it.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>

namespace annals::core {

/// Answers a batch: 200 with one response entry per entry, in order. Entries that don't touch the same
/// resource wait for durability together. What they are answered with has the room of one AnswerBudget. Those that have not
/// begun by `end` are not done.
///
/// Requires: `bundle` has a batch with an array `entry`, or none.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> run_batch(const Service& service, const Request& request,
                                    const json::Document& bundle,
                                    std::chrono::steady_clock::time_point end);

}  // namespace annals::core
