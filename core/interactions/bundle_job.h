// A Bundle that is processed asynchronously: its kick-off, and the job that carries it out.
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

namespace annals::core {

enum class BundleType : std::uint8_t { batch, transaction, history };

/// 202 with Content-Location: the Bundle, whose checks have passed, is stored and carried out by a job. 429 if too many
/// jobs are running, or too many are kept in all or by the sender. Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> begin_bundle_job(const Service& service, const Request& request,
                                           BundleType type, const json::Document& bundle);

/// The JobWork of "bundle". Its only file is the answer: a Bundle of type batch-response with one entry.
Result<JobResult> bundle_job(const Service& service, JobRun& run);

/// Carries out a Bundle immediately and answers it. Entries of a batch that have not begun by `end`, or a transaction
/// that is not committed by then, are not carried out.
/// Lifetime: `bundle` lives in the caller's frame.
asio::awaitable<Response> answer_bundle(const Service& service, const Request& request,
                                        BundleType type, const json::Document& bundle,
                                        std::chrono::steady_clock::time_point end);

}  // namespace annals::core
