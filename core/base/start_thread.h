// start_thread: starts threads that the process can do without if the system refuses them. Indispensable ones (the log writer,
// the network threads) are started as a std::thread, so that the start then fails.
//
// Layer:   core/base.
// Threads: any.

#pragma once

#include "core/base/result.h"

#include <functional>
#include <thread>

namespace annals {

/// Starts a thread called `name` that does `work`, which must not throw. Refusals are logged, though not every time.
/// Errors:   overloaded: a limit on tasks (ulimit -u, pids.max) or on memory, which may pass.
/// Lifetime: `name` is a literal.
Result<std::jthread> start_thread(const char* name, std::function<void()> work);

}  // namespace annals
