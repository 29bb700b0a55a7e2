// Job: long work that somebody has begun and comes back for, as its thread sees it.
//
// Layer:   core/jobs.
// Format:  docs/format.md, "Jobs".
// Threads: a JobRun belongs to the job's thread, but for stopping().

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

/// What is asked for, kept from the kick-off on.
struct JobOrder {
    std::string kind;    ///< "export", "import", "bundle": a row of the table in kinds.cc
    std::string owner;   ///< the principal's identity(); empty: nobody that is known
    std::string scopes;  ///< what the principal may do on whole types: who may less does not see it
    std::string url;     ///< of the kick-off request
    std::string base_url;
    std::string task;  ///< JSON of an object: the kind's own
    /// Who asks; nobody where nobody is known, nor after a restart: it isn't kept.
    std::shared_ptr<const Principal> principal;
};

/// The part of a file that is the answer to what was asked for, instead of a manifest; its name.
inline constexpr std::string_view kAnswerPart = "answer";
inline constexpr std::string_view kAnswerFile = "answer.json";

/// A file that a job has made or read, as a manifest lists it.
struct JobFile {
    std::string part;  ///< "output", "deleted", "error"; kAnswerPart
    std::string type;  ///< of the resources in it
    std::string name;  ///< in the job's folder; empty: there is nothing to fetch
    std::uint64_t count = 0;
    std::string input;  ///< where it came from; empty: left out
};

/// What a job has come to.
struct JobResult {
    Instant time;  ///< transactionTime
    std::vector<JobFile> files;
};

/// What work returns that was asked to stop; nobody looks at it.
inline Error job_stopped() {
    return {Errc::timeout, "stopped", ""};
}

/// The job's thread between two saves: what to do, where it stood, where its files are.
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

    /// Of a file in the job's folder.
    std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

    /// What was saved last, in this run or one before a restart; empty if nothing was.
    const std::string& saved() const noexcept { return saved_; }

    /// Keeps `progress`, the JSON of an object, so that the job goes on from here after a restart.
    /// Durability: on the device when it returns. Errors: no_store, io.
    Result<void> save(std::string progress);

    /// What X-Progress says from now on: ASCII, below 100 characters.
    void say(std::string progress) { hooks_.say(std::move(progress)); }

    /// Where accesses are written down. Null: nowhere, or nobody has said yet where (the server is starting).
    std::shared_ptr<AccessLog> access_log() const {
        return hooks_.access_log ? hooks_.access_log() : nullptr;
    }

    /// The work is to return soon, with any error if it isn't done: it goes on after a restart, or nobody wants it any more.
    bool stopping() const { return hooks_.stopping(); }

  private:
    std::string id_;
    const JobOrder& order_;
    std::string folder_;
    std::string saved_;
    storage::FileSystem& files_;
    Hooks hooks_;
};

/// Does a job, on a thread of its own that may block. After a restart it is called again, with what it saved. What
/// succeeds counts, also when it was to stop.
/// Errors: end the job; the text may reach the client as tell_failure() says.
using JobWork = Result<JobResult> (*)(const Service& service, JobRun& run);

/// The work of a kind; null if there is no such kind.
JobWork job_work(std::string_view kind) noexcept;

}  // namespace annals::core
