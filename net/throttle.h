// Throttle: limits for each client: connections per address, requests per principal or address.
//
// Layer:   net.
// Threads: every member from any thread.
// Memory:  at most kBucketsMax buckets of requests; addresses only while they have connections.

#pragma once

#include "core/base/text_map.h"
#include "core/exchange.h"
#include "net/address.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace annals::net {

class Throttle {
  public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::size_t kBucketsMax = 100'000;

    /// `rate` requests a second, `burst` at once (0: as many as in a second), `connections` per address. 0
    /// for rate or connections means no limit.
    Throttle(std::uint64_t rate, std::uint64_t burst, std::uint64_t connections);

    bool limits_requests() const noexcept { return rate_ > 0; }

    /// Adds the headers of a 429: none of `burst` is left, and the next is available after
    /// `wait`, rounded up to seconds.
    void tell(core::Response& response, std::chrono::milliseconds wait) const;

    bool limits_connections() const noexcept { return connections_max_ > 0; }

    /// Takes one request of `who` (a principal's name or an address). None if it is allowed;
    /// otherwise the time to wait.
    std::optional<std::chrono::milliseconds> take(std::string_view who, Clock::time_point time);

    /// Undoes a take(), for a request that should not count.
    void give_back(std::string_view who);

    /// Counts a connection; returns false, without counting it, if the address has reached its limit.
    bool connect(const PeerAddress& address);
    void disconnect(const PeerAddress& address);

  private:
    struct Bucket {
        double tokens = 0;
        Clock::time_point filled;
    };

    double tokens_at(const Bucket& bucket, Clock::time_point time) const;

    const double rate_;
    const double burst_;
    const std::uint64_t connections_max_;
    std::mutex mutex_;
    TextMap<Bucket> buckets_;
    std::unordered_map<PeerAddress, std::uint64_t, AddressHash> connections_;
};

}  // namespace annals::net
