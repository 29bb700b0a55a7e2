// A history bundle: versions of another server, kept with their ids, numbers, instants and bytes.
//
// Layer:   core/interactions.
// Spec:    docs/api/history-bundle.md.
// Threads: runs on the loop of its request; long bundles yield to it.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>

namespace annals::core {

/// Applies the entries in order, one commit each, and answers when all of them are durable: 200 with one
/// response entry per entry. An entry that is invalid gets its own 400; the rest are applied.
///
/// Requires: `bundle` is of type history; its `entry` is an array or absent.
/// Durability: if the store stops accepting writes meanwhile, the whole answer is 503, and earlier entries may
/// have been applied; submitting the bundle again is safe, because existing versions are ignored.
/// `end`: after it, 503 timeout at the first entry whose validation would have to wait for the worker or the device, or once
/// ignored entries are still being compared with the stored ones; what was applied remains.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> apply_history(
    const Service& service, const Request& request, const json::Document& bundle,
    std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max());

}  // namespace annals::core
