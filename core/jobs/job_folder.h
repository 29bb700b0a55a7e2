// A job's folder, with job.json (the order) and state.json (the progress or result): reading, writing, creation and removal.
//
// Layer:   core/jobs.
// Format:  docs/format.md, "Jobs".
// Threads: plain functions; those with a FileSystem block.

#pragma once

#include "codec/json/document.h"
#include "core/jobs/job.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

enum class JobStage : std::uint8_t { running, done, failed };

/// The state of a job.
struct JobState {
    JobStage stage = JobStage::running;
    std::string saved;   ///< running: JSON of the kind; empty: nothing saved yet
    Instant finished;    ///< from here on, not set while it is running
    JobResult result;    ///< done
    std::string code;    ///< failed: the issue's code
    std::string detail;  ///< failed: its diagnostics
};

inline constexpr std::string_view kOrderFile = "job.json";
inline constexpr std::string_view kStateFile = "state.json";

/// The text of kStateFile.
std::string state_json(const JobState& state);

/// Reads the output of state_json(). Errors: corrupt.
Result<JobState> read_state(std::string_view text);

/// The whole number called `name` in either file or in the JSON of a job's kind. Errors: corrupt.
Result<std::uint64_t> saved_number(json::Value value, std::string_view name);

/// A file that a job's folder contains from the start: name and content.
using JobInput = std::pair<std::string, std::string>;

/// Creates the folder of the job `id` in `directory`.
///
/// Durability: after success, it survives a crash.
Result<void> make_folder(storage::FileSystem& files, const std::string& directory,
                         std::string_view id, const JobOrder& order, Instant begun,
                         const std::vector<JobInput>& inputs);

/// The content of a job's folder.
struct FoundJob {
    JobOrder order;
    Instant begun;
    JobState state;
};

/// Errors: not_found (it contains no job), corrupt, io.
Result<FoundJob> read_folder(storage::FileSystem& files, const std::string& folder);

/// Saves the end of the job `id`, which is `done` or `failed` from now on, and removes the files of a failed job. A job whose
/// end can't be saved for lack of space fails, too; if even that can't be saved, its order is removed, so that the next start
/// doesn't continue it.
JobState keep_end(storage::FileSystem& files, const std::string& folder, std::string_view id,
                  Result<JobResult> result);

/// Removes the order, so that the folder contains no job any more, even after a crash.
Result<void> remove_order(storage::FileSystem& files, const std::string& folder);

/// Removes a folder and its content, `first` before everything else. What can't be removed is left until the next start.
void remove_folder(storage::FileSystem& files, const std::string& folder,
                   std::string_view first = {});

}  // namespace annals::core
