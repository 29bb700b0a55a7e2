// Load: keeps a number of connections busy, each with one request at a time, and measures the answers.
//
// Closed loop: a connection's next request follows its answer. Open loop (LoadOptions::rate): requests are due at even
// intervals; latency counts from then, also where a request had to wait for a free connection (no coordinated omission).
//
// Layer:   tools/bench. Raw non-blocking sockets and epoll, so that the client is not the limit.
// Threads: run_load() starts its own and returns when they have ended.

#pragma once

#include "core/base/result.h"
#include "tools/bench/answer_reader.h"
#include "tools/bench/histogram.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace annals::tools {
class TlsIdentity;
}

namespace annals::bench {

/// What an answer was worth.
struct Verdict {
    bool ok = true;
    std::uint32_t units = 1;     ///< how many resources or versions were done by it
    std::uint8_t operation = 0;  ///< which histogram its latency goes to
};

inline constexpr std::size_t kOperationsMax = 6;

/// What one connection says, request by request.
class Conversation {
  public:
    virtual ~Conversation() = default;

    /// Appends the next request to `out`; false: there is no more to ask.
    virtual bool ask(std::string& out) = 0;

    /// Judges the answer to the oldest request that has not been judged.
    virtual Verdict hear(const Answer& answer) = 0;

    /// True if ask() may be called before the last answer came: then the next request is made while
    /// the server works.
    virtual bool asks_ahead() const { return true; }
};

struct LoadOptions {
    std::string host;
    std::string port;
    bool tls = false;
    std::shared_ptr<const tools::TlsIdentity> identity{};  ///< shown if it asks; may be null
    double rate =
        0;  ///< requests a second over all connections, whenever answers come; 0: as fast as they do
    std::chrono::nanoseconds warm_up{0};
    std::chrono::nanoseconds duration{0};  ///< 0: until every conversation has ended
    unsigned threads = 1;
    int cpu = -1;  ///< the core of the only thread, if there is one; -1: any
    bool polls =
        false;  ///< looks for answers without a pause, so that no server pays for waking the client
};

struct LoadResult {
    std::array<Histogram, kOperationsMax> operations;  ///< of good answers
    std::uint64_t requests = 0;                        ///< answered while it was measured
    std::uint64_t units = 0;
    std::uint64_t errors = 0;  ///< bad answers, warm-up included
    std::uint64_t bytes_received = 0;
    std::uint64_t unsent = 0;  ///< requests that were due by the end and found no free connection
    double seconds = 0;
    double busy = 0;  ///< share of the time that the busiest client thread had something to do
    std::string first_error;

    Histogram all() const;
};

/// Runs the conversations, each on a connection of its own, at once.
/// Errors: io (cannot connect; a connection broke; no answer for 60 seconds).
Result<LoadResult> run_load(const LoadOptions& options,
                            const std::vector<std::unique_ptr<Conversation>>& conversations);

/// Keeps the calling thread on `cpu`; -1 does nothing.
void pin_thread(int cpu);

}  // namespace annals::bench
