// Effort: limits the work for one answer in steps and in time.
//
// Layer:   core/terminology.
// Threads: belongs to one thread at a time.

#pragma once

#include "core/base/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>

namespace annals::terminology {

/// The steps for looking into a part of a value set, finding a definition, and beginning an expansion.
inline constexpr std::uint64_t kStepsPerPart = 10;
inline constexpr std::uint64_t kStepsPerDefinition = 100;
inline constexpr std::uint64_t kStepsPerExpansion = 200;

/// A step is about the work to look at one concept: some ten nanoseconds.
class Effort {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::chrono::nanoseconds kTimePerStep{10};

    /// `stopping`, unless null, ends the work as the end of time does. Lifetime: it outlives this.
    explicit Effort(std::uint64_t steps, Clock::time_point end = Clock::time_point::max(),
                    const std::atomic<bool>* stopping = nullptr)
        : steps_left_(steps), end_(end), stopping_(stopping) {}

    /// Errors: answer_too_costly (no steps left); timeout.
    Result<void> spend(std::uint64_t steps = 1) { return spend(steps, steps); }

    /// For work that usually takes `steps` but took `taken`, which count if time does not limit it.
    Result<void> spend(std::uint64_t steps, std::uint64_t taken) {
        const std::uint64_t counted = end_ == Clock::time_point::max() ? taken : steps;
        if (counted > steps_left_) {
            exhausted_ = true;
            return Error{Errc::answer_too_costly, "The response takes too many steps"};
        }
        steps_left_ -= counted;
        since_look_ += taken;
        if (since_look_ >= kStepsPerLook) {
            since_look_ = 0;
            if (Clock::now() >= end_ || (stopping_ != nullptr && *stopping_)) {
                return Error{Errc::timeout};
            }
        }
        return {};
    }

    /// Whether the steps ran out.
    bool exhausted() const noexcept { return exhausted_; }

    /// None once they ran out.
    std::uint64_t steps_left() const noexcept { return exhausted_ ? 0 : steps_left_; }

  private:
    static constexpr std::uint64_t kStepsPerLook = 10'000;

    std::uint64_t steps_left_;
    std::uint64_t since_look_ = 0;
    Clock::time_point end_;
    const std::atomic<bool>* stopping_;
    bool exhausted_ = false;
};

}  // namespace annals::terminology
