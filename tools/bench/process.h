// Process: a server under test, in a process and on a core of its own.
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

/// A child process that has said on its stdout that it is ready. Ends with this object, or with us.
class Process {
  public:
    /// Runs this very program with `arguments`, stderr into the file `log`, and waits for a line that
    /// begins with `ready` (empty: doesn't wait). `cpu` -1: any core. Errors: io (it ended, or said nothing for 60 seconds).
    static Result<Process> run_self(const std::vector<std::string>& arguments,
                                    const std::string& log, std::string_view ready, int cpu);

    /// Calls `body` in a forked child; what it writes to `out` is its stdout. It must not return before
    /// the child is to end. Requires: the caller has no other threads.
    static Result<Process> run_function(const std::function<void(int out)>& body,
                                        std::string_view ready, int cpu);

    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;

    /// stop()
    ~Process();

    /// The line that said it was ready, without `ready`.
    const std::string& told() const noexcept { return told_; }

    /// SIGTERM, and SIGKILL after 30 seconds. The exit code; 128 and the signal if one ended it.
    int stop();

    /// SIGKILL: as if the power had gone for this process.
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
