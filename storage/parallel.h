// for_each_of: does the parts of some work on all cores.
//
// Layer:   storage.
// Threads: the caller's and others, which have ended when it returns.

#pragma once

#include "core/base/cores.h"
#include "core/base/start_thread.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace annals::storage {

inline constexpr unsigned kThreadsMax = 8;

/// How many threads make the best use of the available cores.
inline unsigned threads_wanted() noexcept {
    return std::min(available_cores(), kThreadsMax);
}

/// Calls `work(part)` for each part below `parts`, each once, in any order, from any thread.
template <typename Work>
void for_each_of(std::size_t parts, const Work& work) {
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
        for (std::size_t part = next++; part < parts; part = next++) {
            work(part);
        }
    };
    const std::size_t wanted = std::min<std::size_t>(threads_wanted(), parts);
    std::vector<std::jthread> threads;
    while (threads.size() + 1 < wanted) {
        auto thread = start_thread("opening", run);
        if (!thread) {
            break;  // The existing threads do all of it.
        }
        threads.push_back(*std::move(thread));
    }
    run();
}

}  // namespace annals::storage
