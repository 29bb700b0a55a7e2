// Job: work that outlives its request and whose result is fetched later, as seen by its thread.
//
// Layer:   core/jobs.
// Format:  docs/format.md, "Jobs".
// Threads: a JobRun belongs to the job's thread, except for stopping().

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "storage/file_system.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

class AccessLog;
class Principal;
class Service;

/// What the kick-off request asks for.
struct JobOrder {
    std::string kind;    ///< "export", "import", "bundle": a row of the table in kinds.cc
    std::string owner;   ///< the principal's identity(); empty: unknown
    std::string scopes;  ///< what the principal may do on whole types: needed to see the job
    std::string url;     ///< of the kick-off request
    std::string base_url;
    std::string task;  ///< a JSON object, specific to the kind
    /// The principal of the kick-off. Null if there is none, and after a restart: it isn't stored.
    std::shared_ptr<const Principal> principal;
};

/// JobFile::part and name of a file that is itself the answer, in place of a manifest.
inline constexpr std::string_view kAnswerPart = "answer";
inline constexpr std::string_view kAnswerFile = "answer.json";

/// A file that a job has written or read, as listed in a manifest.
struct JobFile {
    std::string part;  ///< "output", "deleted", "error"; kAnswerPart
    std::string type;  ///< of the resources in it
    std::string name;  ///< in the job's folder; empty: there is no file to fetch
    std::uint64_t count = 0;
    std::string input;  ///< its source; empty: left out
};

/// The result of a job.
struct JobResult {
    Instant time;  ///< transactionTime
    std::vector<JobFile> files;
};

/// Returned by work that was asked to stop; it is ignored.
inline Error job_stopped() {
    return {Errc::timeout, "stopped"};
}

/// What a job's thread needs: its order, its saved progress, its folder.
class JobRun {
  public:
    struct Hooks {
        std::function<bool()> stopping;
        std::function<void(std::string)> say;
        std::function<std::shared_ptr<AccessLog>()> access_log = {};
    };

    JobRun(std::string id, const JobOrder& order, std::string folder, std::string saved,
           storage::FileSystem& files, Hooks hooks)
        : id_(std::move(id)),
          order_(order),
          folder_(std::move(folder)),
          saved_(std::move(saved)),
          files_(files),
          hooks_(std::move(hooks)) {}

    const std::string& id() const noexcept { return id_; }

    const JobOrder& order() const noexcept { return order_; }

    storage::FileSystem& files() const noexcept { return files_; }

    const std::string& folder() const noexcept { return folder_; }

    /// The path of a file in the job's folder.
    std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

    /// The progress saved last, possibly before a restart; empty if none was saved.
    const std::string& saved() const noexcept { return saved_; }

    /// Saves `progress`, a JSON object from which the job continues after a restart. Durability: on the device when it returns.
    /// Errors: no_store, io.
    Result<void> save(std::string progress);

    /// Sets X-Progress: ASCII, fewer than 100 characters.
    void say(std::string progress) { hooks_.say(std::move(progress)); }

    /// Where accesses are recorded. Null: nowhere, or it hasn't been set yet because the server is starting.
    std::shared_ptr<AccessLog> access_log() const {
        return hooks_.access_log ? hooks_.access_log() : nullptr;
    }

    /// Whether the work should return soon, with any error if it isn't done: it continues after a restart, or has been deleted.
    bool stopping() const { return hooks_.stopping(); }

  private:
    std::string id_;
    const JobOrder& order_;
    std::string folder_;
    std::string saved_;
    storage::FileSystem& files_;
    Hooks hooks_;
};

/// Does a job, on a thread of its own that may block. After a restart it is called again, with the saved progress. A success
/// counts even if the job was asked to stop. Errors: end the job; the text may reach the client as in tell_failure().
using JobWork = Result<JobResult> (*)(const Service& service, JobRun& run);

/// The work of a kind; null if there is no such kind.
JobWork job_work(std::string_view kind) noexcept;

}  // namespace annals::core
