// AskingRate: how often a client may ask for the status of a job.
//
// Layer:   core/jobs.
// Threads: the caller's.

#pragma once

#include <algorithm>
#include <chrono>

namespace annals::core {

/// 60 questions at once, and 10 a second.
class AskingRate {
  public:
    /// Counts a question; false if there were too many.
    bool take() {
        const Clock::time_point time = Clock::now();
        const double passed = std::chrono::duration<double>(time - last_).count();
        last_ = time;
        left_ = std::min(kAtOnce, left_ + passed * kPerSecond);
        if (left_ < 1) {
            return false;
        }
        left_ -= 1;
        return true;
    }

  private:
    using Clock = std::chrono::steady_clock;

    static constexpr double kAtOnce = 60;
    static constexpr double kPerSecond = 10;

    double left_ = kAtOnce;
    Clock::time_point last_ = Clock::now();
};

}  // namespace annals::core
