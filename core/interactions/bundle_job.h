// A Bundle that is answered later: its kick-off, and the job that does what it asks for.
//
// Layer:   core/interactions.
// Spec:    FHIR R4 async.html; docs/api/async-bundles.md. Format: docs/format.md, "Jobs".
// Threads: begin_bundle_job() on the loop of its request; bundle_job() on the job's thread, with a loop of its own.

#pragma once

#include "codec/json/document.h"
#include "core/exchange.h"
#include "core/jobs/job.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <chrono>
#include <string_view>

namespace annals::core {

enum class BundleType : std::uint8_t { batch, transaction, history };

/// 202 with Content-Location: the Bundle, which was found fit to be begun, is kept and done by a job. 429 when too much is
/// under way. Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> begin_bundle_job(const Service& service, const Request& request,
                                           BundleType type, const json::Document& bundle);

/// JobWork of "bundle". Its one file is the answer: a Bundle of type batch-response with one entry.
Result<JobResult> bundle_job(const Service& service, JobRun& run);

/// What a Bundle is answered with, at once. What is not begun by `end` of a batch, or committed of a transaction, is not done.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> answer_bundle(const Service& service, const Request& request,
                                        BundleType type, const json::Document& bundle,
                                        std::chrono::steady_clock::time_point end);

}  // namespace annals::core
