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

/// Answers a batch: 200 with one response entry per entry, in order. An entry sees what those before it did, and waits for them
/// only if it could not otherwise: writes wait for durability together, also those of one resource. All answers share one
/// AnswerBudget. Entries that have not begun by `end` are not carried out.
///
/// Requires: `bundle` is a batch; its `entry` is an array or absent.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> run_batch(const Service& service, const Request& request,
                                    const json::Document& bundle,
                                    std::chrono::steady_clock::time_point end);

}  // namespace annals::core
