// A job's folder: job.json, what was asked for, and state.json, how far it is, as text and back.
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

std::string order_json(const JobOrder& order, Instant begun);
std::string state_json(const JobState& state);

struct ReadOrder {
    JobOrder order;
    Instant begun;
};

/// Errors: corrupt.
Result<ReadOrder> read_order(std::string_view text);
Result<JobState> read_state(std::string_view text);

/// A whole number of either file, or of a kind's own JSON in them, that stands under `name`. Errors: corrupt.
Result<std::uint64_t> saved_number(json::Value value, std::string_view name);

/// Of either file; what is larger is damaged.
inline constexpr std::uint64_t kJobTextBytesMax = 256 << 20;

/// Removes a folder and what is in it, `first` before all else. What can't be removed is left, and tried again at the
/// next start.
void remove_folder(storage::FileSystem& files, const std::string& folder,
                   std::string_view first = {});

}  // namespace annals::core
