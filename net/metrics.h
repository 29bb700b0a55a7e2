// Metrics: the counters of a loop, and the Prometheus page that sums them over all loops.
//
// Layer:   net.
// Threads: a LoopMetrics is written only by its loop and read by any thread; no counter is contended.

#pragma once

#include "core/exchange.h"
#include "core/service.h"
#include "core/subscriptions/dispatcher.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

namespace annals::net {

class Auditor;

namespace auth {
class TokenEndpoint;
}

inline constexpr std::size_t kMethodCount = 8;       // of core::HttpMethod
inline constexpr std::size_t kStatusClassCount = 5;  // 1xx to 5xx

/// Upper bounds of the latency buckets in microseconds; one more bucket takes anything longer.
inline constexpr std::array<std::uint32_t, 14> kLatencyBucketsUs{
    50,     100,    250,    500,     1'000,   2'500,     5'000,
    10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000, 10'000'000};

class alignas(64) LoopMetrics {
  public:
    /// A number with one writer.
    class Counter {
      public:
        void add(std::uint64_t count = 1) noexcept {
            value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
        }

        void subtract(std::uint64_t count = 1) noexcept {
            value_.store(value_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
        }

        std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

      private:
        std::atomic<std::uint64_t> value_{0};
    };

    /// Counts one answered request.
    void answered(core::HttpMethod method, int status, std::uint64_t latency_us) noexcept;

    struct OfMethod {
        std::array<Counter, kStatusClassCount> by_status_class;
        std::array<Counter, kLatencyBucketsUs.size() + 1> by_latency;
        Counter latency_us;  ///< sum
    };

    std::array<OfMethod, kMethodCount> methods;
    Counter connections;         ///< open now
    Counter connections_opened;  ///< in total
    Counter in_flight;           ///< requests being awaited, for whatever reason
    Counter refused;             ///< connections over the limits
    Counter throttled;           ///< requests over limits.rate or auth.introspection.refused_rate
};

/// The part of the page about the audit log.
std::string audit_metrics(const Auditor& audit);

/// The part of the page about the tokens that this server issues.
std::string token_metrics(const auth::TokenEndpoint& endpoint);

/// The part of the page about subscriptions.
std::string subscription_metrics(const core::SubscriptionStats& stats);

/// The page of GET /metrics.
std::string prometheus_page(std::span<const LoopMetrics* const> loops,
                            const core::Service& service);

}  // namespace annals::net
