// Starting a job, polling its status, deleting it, and downloading its files.
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

/// Starts a job of `kind` for `request`, and answers 202 with Content-Location, or an error. `task`: a JSON object. `status`:
/// the first segment of the status path, such as "_jobs".
asio::awaitable<Response> begin_job(const Service& service, const Request& request,
                                    std::string kind, std::string task, std::string status,
                                    std::vector<JobInput> inputs = {});

/// 202 with X-Progress and Retry-After; 200 with the manifest; 500 if the job failed; 429 if polled too often.
asio::awaitable<Response> job_status(const Service& service, const Request& request,
                                     const Target& target);

/// 202: the job is stopped and its files are removed.
asio::awaitable<Response> delete_job(const Service& service, const Request& request,
                                     const Target& target);

/// A file of a finished job, or the requested range of it.
asio::awaitable<Response> job_file(const Service& service, const Request& request,
                                   const Target& target);

}  // namespace annals::core
