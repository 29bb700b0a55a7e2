// ChildProcess: the real binary in a process of its own, to be awaited, killed and judged by its exit code.
//
// Threads: one at a time; kill() from any.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace annals::test {

class ChildProcess {
  public:
    /// Starts `program`; its stdout and stderr are kept. Aborts the test process if that fails.
    ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                 const std::string& stdin_path = "/dev/null");

    /// Kills it with SIGKILL if it still runs, and reaps it.
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    /// Waits for a line on stdout that starts with `prefix` and returns it; none if the child ends or the
    /// time runs out before.
    std::optional<std::string> wait_for_line(const std::string& prefix,
                                             std::chrono::milliseconds limit);

    void kill(int signal);

    /// Waits for its end. Returns the exit code, or minus the signal that ended it; none if it still
    /// runs when the time is up.
    std::optional<int> wait(std::chrono::milliseconds limit);

    bool running();

    int pid() const noexcept { return pid_; }

    /// What it has written so far.
    std::string output() const;
    std::string errors() const;

  private:
    int pid_ = -1;
    std::optional<int> status_;
    std::string output_path_;
    std::string errors_path_;
};

/// The results of a program that ran to its end.
struct Finished {
    int exit_code = -1;
    std::string output;
    std::string errors;
};

/// Runs `program` to its end; kills it after `limit`.
Finished run_program(const std::string& program, const std::vector<std::string>& arguments,
                     std::chrono::milliseconds limit = std::chrono::seconds(60),
                     const std::string& stdin_path = "/dev/null");

/// A port of 127.0.0.1 for a server that will be restarted on it: it is free, and not an ephemeral port that the system
/// might assign to others in between.
int lasting_port();

/// The URL that `annals serve` reports when it accepts connections; empty if it never does.
std::string url_when_ready(ChildProcess& server);

/// `annals serve` on a port of 127.0.0.1; 0: any free one.
class RunningServer {
  public:
    /// Waits until it accepts connections: url_when_ready().
    RunningServer(const std::string& binary, const std::string& data,
                  const std::vector<std::string>& more_arguments = {}, int port = 0);

    /// "http://127.0.0.1:4711/fhir".
    const std::string& url() const noexcept { return url_; }

    int port() const noexcept { return port_; }

    ChildProcess& process() noexcept { return process_; }

  private:
    ChildProcess process_;
    std::string url_;
    int port_ = 0;
};

}  // namespace annals::test
