#include "tools/bench/histogram.h"

#include <algorithm>
#include <cmath>

namespace annals::bench {

void Histogram::merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) {
        buckets_[i] += other.buckets_[i];
    }
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
}

std::uint64_t Histogram::highest_of(std::size_t bucket) noexcept {
    if (bucket < 1U << kBits) {
        return bucket;
    }
    const auto shift = static_cast<unsigned>(bucket >> kBits) - 1;
    const std::uint64_t low = (bucket & ((1U << kBits) - 1)) + (1U << kBits);
    return ((low + 1) << shift) - 1;
}

std::uint64_t Histogram::quantile(double quantile) const noexcept {
    if (count_ == 0) {
        return 0;
    }
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(quantile * static_cast<double>(count_))));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
        seen += buckets_[i];
        if (seen >= wanted) {
            return std::min(highest_of(i), max_);
        }
    }
    return max_;
}

}  // namespace annals::bench
