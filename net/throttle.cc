#include "net/throttle.h"

#include "net/make_room.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace annals::net {

Throttle::Throttle(std::uint64_t rate, std::uint64_t burst, std::uint64_t connections)
    : rate_(static_cast<double>(rate)),
      burst_(static_cast<double>(burst == 0 ? std::max<std::uint64_t>(rate, 1) : burst)),
      connections_max_(connections) {
}

double Throttle::tokens_at(const Bucket& bucket, Clock::time_point time) const {
    const double seconds = std::chrono::duration<double>(time - bucket.filled).count();
    return std::min(burst_, bucket.tokens + std::max(0.0, seconds) * rate_);
}

std::optional<std::chrono::milliseconds> Throttle::take(std::string_view who,
                                                        Clock::time_point time) {
    if (!limits_requests()) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    auto found = buckets_.find(who);
    if (found == buckets_.end()) {
        // A full bucket is the same as none. If all are in use, clients only gain by being forgotten.
        make_room(buckets_, kBucketsMax,
                  [&](const auto& entry) { return tokens_at(entry.second, time) >= burst_; });
        found = buckets_.emplace(std::string(who), Bucket{burst_, time}).first;
    }
    Bucket& bucket = found->second;
    bucket.tokens = tokens_at(bucket, time);
    bucket.filled = std::max(bucket.filled, time);
    if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return std::nullopt;
    }
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(std::ceil((1 - bucket.tokens) / rate_ * 1000)));
}

void Throttle::tell(core::Response& response, std::chrono::milliseconds wait) const {
    const std::string seconds =
        std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count());
    response.headers.emplace_back("Retry-After", seconds);
    response.headers.emplace_back("RateLimit-Limit",
                                  std::to_string(static_cast<std::uint64_t>(burst_)));
    response.headers.emplace_back("RateLimit-Remaining", "0");
    response.headers.emplace_back("RateLimit-Reset", seconds);
}

void Throttle::give_back(std::string_view who) {
    const std::lock_guard lock(mutex_);
    if (const auto found = buckets_.find(who); found != buckets_.end()) {
        found->second.tokens = std::min(burst_, found->second.tokens + 1);
    }
}

bool Throttle::connect(const PeerAddress& address) {
    if (!limits_connections()) {
        return true;
    }
    const std::lock_guard lock(mutex_);
    std::uint64_t& count = connections_[address.network()];
    if (count >= connections_max_) {
        return false;
    }
    ++count;
    return true;
}

void Throttle::disconnect(const PeerAddress& address) {
    if (!limits_connections()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(address.network());
    if (found != connections_.end() && --found->second == 0) {
        connections_.erase(found);
    }
}

}  // namespace annals::net
