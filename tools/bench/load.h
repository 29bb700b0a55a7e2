// Load: keeps a number of connections busy, each with one request at a time, and measures the responses.
//
// Closed loop: a connection sends its next request after the response. Open loop (LoadOptions::rate): requests are due at even
// intervals; latency counts from then, even if a request had to wait for a free connection (no coordinated omission).
//
// Layer:   tools/bench. Raw non-blocking sockets and epoll, so that the client is not the bottleneck.
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

/// The judgement of a response.
struct Verdict {
    bool ok = true;
    std::uint32_t units = 1;     ///< how many resources or versions it covers
    std::uint8_t operation = 0;  ///< which histogram its latency goes to
};

inline constexpr std::size_t kOperationsMax = 6;

/// The requests of one connection, one by one.
class Conversation {
  public:
    virtual ~Conversation() = default;

    /// Appends the next request to `out`; false if there are no more.
    virtual bool ask(std::string& out) = 0;

    /// Judges the response to the oldest request that has not been judged.
    virtual Verdict hear(const Answer& answer) = 0;

    /// Whether ask() may be called before the last response has come: then the next request is made while
    /// the server works.
    virtual bool asks_ahead() const { return true; }
};

struct LoadOptions {
    std::string host;
    std::string port;
    bool tls = false;
    std::shared_ptr<const tools::TlsIdentity> identity{};  ///< shown if asked for; may be null
    double rate =
        0;  ///< requests per second over all connections, independent of responses; 0: closed loops
    std::chrono::nanoseconds warm_up{0};
    std::chrono::nanoseconds duration{0};  ///< 0: until every conversation has ended
    unsigned threads = 1;
    int cpu = -1;  ///< the core of the only thread, if there is just one; -1: any
    /// Polls for responses without sleeping, so that no server pays for waking the client.
    bool polls = false;
};

struct LoadResult {
    std::array<Histogram, kOperationsMax> operations;  ///< of good responses
    std::uint64_t requests = 0;                        ///< answered during the measurement
    std::uint64_t units = 0;
    std::uint64_t errors = 0;  ///< bad responses, warm-up included
    std::uint64_t bytes_received = 0;
    std::uint64_t unsent = 0;  ///< requests due by the end that found no free connection
    double seconds = 0;
    double busy = 0;  ///< share of the time that the busiest client thread was busy
    std::string first_error;

    Histogram all() const;
};

/// Runs all conversations at once, each on a connection of its own.
/// Errors: io (cannot connect; a connection broke; no response for 60 seconds).
Result<LoadResult> run_load(const LoadOptions& options,
                            const std::vector<std::unique_ptr<Conversation>>& conversations);

/// Pins the calling thread to `cpu`; -1 does nothing.
void pin_thread(int cpu);

}  // namespace annals::bench
