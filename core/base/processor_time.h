// The processor time of a thread.
//
// Layer:   core/base.
// Threads: any.

#pragma once

#include <chrono>
#include <ctime>

namespace annals {

/// What this thread has taken: what other threads and processes take meanwhile is not in it. Cost: a system call.
inline std::chrono::nanoseconds processor_time() noexcept {
    std::timespec used{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace annals
