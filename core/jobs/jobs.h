// Jobs: the running ones, each on its own thread, and the results of finished ones.
//
// A job outlives the request that began it, and also the process: what was asked for and its progress are in a folder
// below the data directory, and running jobs continue when the server starts again.
//
// Layer:   core/jobs.
// Spec:    FHIR R4 async.html; docs/api/jobs.md.
// Format:  docs/format.md, "Jobs".
// Threads: members from any thread. Threads of its own, of low priority: a keeper, which makes and removes folders, and
//          one for each running job.

#pragma once

#include "core/jobs/access_log.h"
#include "core/jobs/job.h"
#include "core/jobs/job_folder.h"
#include "core/loop.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

/// The state of a job at one moment.
struct JobView {
    std::string owner;   ///< JobOrder::owner
    std::string scopes;  ///< JobOrder::scopes
    std::string url;     ///< JobOrder::url
    JobStage stage = JobStage::running;
    std::string progress;  ///< of a running one: the value of X-Progress
    std::chrono::seconds retry_after{1};
    Instant expires;  ///< unless it is running
    JobState state;   ///< of a finished or failed one
};

struct JobsOptions {
    std::size_t running_max = 4;                             ///< running at a time
    std::size_t kept_max = 1000;                             ///< in all
    std::chrono::milliseconds keep{std::chrono::hours(24)};  ///< after the end of one
    bool read_only = false;  ///< none is begun or continued: another process may hold the directory
    JobWork (*work)(std::string_view kind) noexcept = job_work;
};

class Jobs {
  public:
    /// Keeps jobs below `directory`, which need not exist. Lifetime: `service` and `files` outlive it.
    Jobs(const Service& service, storage::FileSystem& files, std::string directory,
         JobsOptions options);

    /// Stops all running jobs; they continue after the next start.
    ~Jobs();

    /// Reads the jobs in the directory, and continues those that were running. To be called once, before anything else, and only
    /// by a process that serves, once nothing can fail its start any more: a job writes by the settings of its server.
    void start();

    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Begins a job, and returns its id once it would survive a crash. Errors: throttled (too many), overloaded (no
    /// thread for it), no_store, io.
    asio::awaitable<Result<std::string>> begin(Loop& loop, JobOrder order,
                                               std::vector<JobInput> inputs = {});

    /// Stops a job and removes its files. It can't be found from the call on, and once this returns a crash would not bring it
    /// back. Errors: not_found; overloaded (no thread for it), io: it is there as before.
    asio::awaitable<Result<void>> remove(Loop& loop, std::string id);

    /// The state of a job; none if there is no such job. If `asked`, a look at a running job counts towards the rate at
    /// which its client may poll. Errors: throttled (polled too often).
    Result<std::optional<JobView>> look(std::string_view id, bool asked = false);

    /// Opens a file of a finished job. Errors: not_found, io, overloaded (too few descriptors).
    Result<std::unique_ptr<storage::File>> open(std::string_view id, std::string_view name);

    /// Sets where accesses by jobs are recorded from now on; jobs that must be recorded wait for it. Null: nowhere any more.
    void set_access_log(std::shared_ptr<AccessLog> log);

    storage::FileSystem& files() const noexcept;

    /// Blocks until none is running; for tests.
    void wait_until_idle();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::core
