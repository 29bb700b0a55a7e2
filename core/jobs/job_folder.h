// A job's folder: job.json, what was asked for, and state.json, how far it is, as text and back; how it comes and goes.
//
// Layer:   core/jobs.
// Format:  docs/format.md, "Jobs".
// Threads: plain functions; those with a FileSystem block.

#pragma once

#include "codec/json/document.h"
#include "core/jobs/job.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

enum class JobStage : std::uint8_t { running, done, failed };

/// How a job stands.
struct JobState {
    JobStage stage = JobStage::running;
    std::string saved;   ///< running: JSON of the kind's own; empty: nothing yet
    Instant finished;    ///< from here on not of a running one
    JobResult result;    ///< done
    std::string code;    ///< failed: the issue's code
    std::string detail;  ///< failed: its diagnostics
};

inline constexpr std::string_view kOrderFile = "job.json";
inline constexpr std::string_view kStateFile = "state.json";

/// The text of kStateFile.
std::string state_json(const JobState& state);

/// What state_json() has written. Errors: corrupt.
Result<JobState> read_state(std::string_view text);

/// A whole number of either file, or of a kind's own JSON in them, that stands under `name`. Errors: corrupt.
Result<std::uint64_t> saved_number(json::Value value, std::string_view name);

/// A file to lie in a job's folder from the start: name, content.
using JobInput = std::pair<std::string, std::string>;

/// Makes the folder of the job `id` in `directory`.
///
/// Durability: success means that it is there after a crash, too.
Result<void> make_folder(storage::FileSystem& files, const std::string& directory,
                         std::string_view id, const JobOrder& order, Instant begun,
                         const std::vector<JobInput>& inputs);

/// What a folder says of its job.
struct FoundJob {
    JobOrder order;
    Instant begun;
    JobState state;
};

/// Errors: not_found: it is no job's; corrupt, io.
Result<FoundJob> read_folder(storage::FileSystem& files, const std::string& folder);

/// Writes down how the job `id` has ended, from now on `done` or `failed`, and removes what a failed one has made: that of one
/// whose end there is no room for, too, which no start takes up then.
JobState keep_end(storage::FileSystem& files, const std::string& folder, std::string_view id,
                  Result<JobResult> result);

/// Makes the folder no job's, also after a crash.
Result<void> remove_order(storage::FileSystem& files, const std::string& folder);

/// Removes a folder and what is in it, `first` before all else. What can't be removed is left, and tried again at the
/// next start.
void remove_folder(storage::FileSystem& files, const std::string& folder,
                   std::string_view first = {});

}  // namespace annals::core
