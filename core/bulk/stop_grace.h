// StopGrace: how long an export or import goes on once it is to stop.
//
// Layer:   core/bulk.
// Threads: belongs to the job's thread.

#pragma once

#include "core/config/config.h"
#include "core/jobs/job.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace annals::core {

/// The time in which a job that is to stop saves its progress: a fifth of shutdown_timeout, two seconds at most.
class StopGrace {
  public:
    /// Lifetime: `run` outlives it.
    StopGrace(const JobRun& run, const Config& config)
        : run_(run), time_(std::min(kMax, config.shutdown_timeout / 5)) {}

    /// Whether that time has passed since this was first called after the job was to stop. What has not been saved by then
    /// is done again when it continues.
    bool is_over() {
        if (!end_ && run_.stopping()) {
            end_ = std::chrono::steady_clock::now() + time_;
        }
        return end_ && std::chrono::steady_clock::now() >= *end_;
    }

  private:
    static constexpr std::chrono::milliseconds kMax{2000};

    const JobRun& run_;
    std::chrono::milliseconds time_;
    std::optional<std::chrono::steady_clock::time_point> end_;
};

}  // namespace annals::core
