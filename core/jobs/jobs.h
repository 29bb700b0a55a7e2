// Jobs: those under way, each on a thread of its own, and what those that are done have left.
//
// A job outlives the request that began it and the process, too: what was asked for and how far it is are in a folder
// below the data directory, and what was under way goes on when the server starts again.
//
// Layer:   core/jobs.
// Spec:    expectations of asynchronous requests: docs/api/jobs.md.
// Format:  docs/format.md, "Jobs".
// Threads: members from any thread. Threads of its own: a keeper, which makes and removes folders, and one for each
//          job under way, of low priority.

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

/// A job as it stands when it is looked at.
struct JobView {
    JobOrder order;
    Instant begun;
    JobStage stage = JobStage::running;
    std::string progress;  ///< running: what X-Progress says
    std::chrono::seconds retry_after{1};
    Instant expires;  ///< not of a running one
    JobState state;   ///< of one that is done or failed
};

struct JobsOptions {
    std::size_t running_max = 4;                             ///< under way at a time
    std::size_t kept_max = 1000;                             ///< in all
    std::chrono::milliseconds keep{std::chrono::hours(24)};  ///< after the end of one
    bool read_only =
        false;  ///< none is begun and none goes on: another process may hold the directory
    JobWork (*work)(std::string_view kind) noexcept = job_work;
};

class Jobs {
  public:
    /// Of what lies below `directory`, which need not be there. Lifetime: `service` and `files` outlive it.
    Jobs(const Service& service, storage::FileSystem& files, std::string directory,
         JobsOptions options);

    /// Has all that is under way stop; it goes on with the next start.
    ~Jobs();

    /// Takes up what lies there, and goes on with what was under way. Once, before anything else; by who serves alone, when
    /// nothing can refuse that any more: a job writes by the settings of the server that it was begun at.
    void start();

    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    /// Begins a job; its id when it would survive a crash. Errors: throttled (too many), overloaded (no thread
    /// for it), no_store, io.
    asio::awaitable<Result<std::string>> begin(Loop& loop, JobOrder order,
                                               std::vector<JobInput> inputs = {});

    /// Forgets a job: what it does is stopped, and its files are removed. Nobody finds it from the call on, and when it
    /// returns it would not come back after a crash either. Errors: not_found, overloaded (no thread for it), io: it is there as
    /// before.
    asio::awaitable<Result<void>> remove(Loop& loop, std::string id);

    /// None if there is no such job. A look at one that is under way counts as `asked` for the pace of its
    /// client. Errors: throttled (asked too often).
    Result<std::optional<JobView>> look(std::string_view id, bool asked = false);

    /// A file of a job that is done. Errors: not_found, io, overloaded (too few descriptors).
    Result<std::unique_ptr<storage::File>> open(std::string_view id, std::string_view name);

    /// From now on accesses of jobs are written down there; those that must be wait for it. Null: there is nobody any more.
    void set_access_log(std::shared_ptr<AccessLog> log);

    storage::FileSystem& files() const noexcept;

    /// Blocks until none is under way; for tests.
    void wait_until_idle();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::core
