// Process: a server under test, in its own process and on its own core.
//
// Layer:   tools/bench.
// Threads: one.

#pragma once

#include "core/base/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::bench {

/// A child process that has reported on its stdout that it is ready. Ends with this object, or with us.
class Process {
  public:
    /// Runs this same program with `arguments`, stderr into the file `log`, and waits for a line that
    /// begins with `ready` (empty: doesn't wait). `cpu` -1: any core. Errors: io (it ended, or said nothing for 60 seconds).
    static Result<Process> run_self(const std::vector<std::string>& arguments,
                                    const std::string& log, std::string_view ready, int cpu);

    /// Calls `body` in a forked child; `out` is its stdout. When it returns, the child
    /// ends. Requires: the caller has no other threads.
    static Result<Process> run_function(const std::function<void(int out)>& body,
                                        std::string_view ready, int cpu);

    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;

    /// stop()
    ~Process();

    /// What followed `ready` on its line.
    const std::string& told() const noexcept { return told_; }

    /// SIGTERM, and SIGKILL after 30 seconds. Returns the exit code, or 128 plus the signal that ended it.
    int stop();

    /// SIGKILL: like a power failure, for this process.
    void kill() noexcept;

    /// Resident memory now, in bytes; 0 if unknown.
    std::uint64_t resident_bytes() const;

  private:
    Process(int pid, int out) : pid_(pid), out_(out) {}

    Result<void> wait_until_ready(std::string_view ready);

    int pid_ = -1;
    int out_ = -1;
    std::string told_;
};

}  // namespace annals::bench
