// How a job is begun, asked for, called off, and how its files are fetched.
//
// Layer:   core/jobs.
// Spec:    Bulk Data Access IG STU2, "Status request", "File request"; RFC 9110 section 14; docs/api/jobs.md.
// Threads: run on the loop of their request.

#pragma once

#include "core/jobs/jobs.h"
#include "core/service.h"

#include <string>
#include <vector>

namespace annals::core {

/// Begins a job of `kind` for `request`, and answers 202 with Content-Location, or why it can't begin.
/// `task`: JSON of an object. `status` is how the path of its status begins: "_jobs".
asio::awaitable<Response> begin_job(const Service& service, const Request& request,
                                    std::string kind, std::string task, std::string status,
                                    std::vector<JobInput> inputs = {});

/// 202 with X-Progress and Retry-After; 200 with the manifest; 500 for a job that failed; 429 for who asks too often.
asio::awaitable<Response> job_status(const Service& service, const Request& request,
                                     const Target& target);

/// 202: stopped, and its files removed.
asio::awaitable<Response> delete_job(const Service& service, const Request& request,
                                     const Target& target);

/// A file of a job that is done, or the range of it that is asked for.
asio::awaitable<Response> job_file(const Service& service, const Request& request,
                                   const Target& target);

}  // namespace annals::core
