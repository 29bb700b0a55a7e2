// Worker: one network thread, its loop and its connections; Shared: what all workers share.
//
// Layer:   net.
// Threads: a Worker belongs to the thread that runs its loop; Shared is const except for atomics and
//          members with locks.

#pragma once

#include "core/base/instant.h"
#include "core/loop.h"
#include "net/auditor.h"
#include "net/auth/authenticator.h"
#include "net/auth/client_certificate.h"
#include "net/auth/token_endpoint.h"
#include "net/cors.h"
#include "net/handlers.h"
#include "net/metrics.h"
#include "net/notifier.h"
#include "net/throttle.h"
#include "net/tls.h"

#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace annals::net {

class Connection;
struct Worker;

using Clock = std::chrono::steady_clock;

struct Shared {
    Shared(const core::Service& fhir, const Handlers& answers)
        : service(fhir),
          config(fhir.config()),
          handlers(answers),
          cors(config.cors_origins),
          throttle(config.limits.rate, config.limits.rate_burst,
                   config.limits.connections_per_address),
          connections_max(config.limits.max_connections) {}

    const core::Service& service;
    const core::Config& config;  ///< of the service
    const Handlers handlers;
    const Cors cors;
    Throttle throttle;
    /// limits.max_connections, or fewer if there are not enough file descriptors.
    std::uint64_t connections_max;
    std::uint64_t overloaded_max = 64;  ///< further connections, which get only health and metrics
    std::uint64_t handovers_max = 16;   ///< accepted sockets on their way to one worker
    std::shared_ptr<Auditor> audit;     ///< null: no audit log
    core::Pings pings;                  ///< for websocket subscriptions
    std::unique_ptr<auth::ClientCertificate> outgoing;    ///< for requests that the server makes
    std::unique_ptr<Notifier> notifier;                   ///< null: subscriptions are off
    std::atomic<std::uint64_t> memory{0};                 ///< of requests that are being read
    std::string header_lines;                             ///< sent with every response
    std::unique_ptr<TlsContext> tls;                      ///< null: plain HTTP
    std::unique_ptr<auth::Credentials> credentials;       ///< null: no authentication
    std::unique_ptr<auth::TokenEndpoint> token_endpoint;  ///< null: no token endpoint
    std::string base_url;  ///< for requests without a Host: the listening address
    std::vector<std::unique_ptr<Worker>> workers;  ///< const once the threads run

    std::atomic<bool> stopping{false};
    std::atomic<std::uint64_t> connections{0};  ///< open now, including those to be refused
    std::mutex mutex;
    std::condition_variable all_closed;  ///< `connections` dropped to 0 while stopping
};

struct Worker : private core::Pings::Listener {
    explicit Worker(Shared& shared_state);
    ~Worker() override;

    /// Wakes up a few times a second: updates `time` and `date`, and ends waits that have expired. Returns,
    /// and stops the loop, once `quit` is set.
    asio::awaitable<void> sweep();

    /// Takes over an accepted socket.
    void adopt(int fd);

    /// Closes websockets and connections without a request in flight, and ends waits for news. The others close
    /// after their responses.
    void close_idle();

    /// Closes all connections, and ends long work for them (Loop::give_up()).
    void close_all();

    /// Updates `date` if its second is over at `now`, so that no response is dated before the events it reports.
    void keep_date(Clock::time_point now) {
        if (now >= date_ends_) {
            set_time();
        }
    }

    Shared& shared;
    LoopMetrics metrics;
    std::optional<auth::Authenticator> authenticator;
    Connection* connections = nullptr;   ///< head of a linked list
    std::deque<Connection*> overloaded;  ///< those beyond the limit, in order of arrival
    Clock::time_point time;              ///< of the last sweep
    std::array<char, kHttpDateChars> date;
    std::atomic<std::uint64_t> handed_over{0};  ///< accepted sockets that are on their way to it
    bool quit = false;
    std::atomic<bool> pings_posted{false};  ///< the loop has been told to check
    // Last, so that they are destroyed before what their coroutines refer to.
    core::Loop loop;
    asio::steady_timer timer;

  private:
    void set_time();
    void pinged() noexcept override;

    Clock::time_point date_ends_;
};

}  // namespace annals::net
