// Histogram: latencies in logarithmic buckets, at most 1.6 % wide.
//
// Layer:   tools/bench.
// Threads: one; merge the histograms of several threads.

#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace annals::bench {

class Histogram {
  public:
    void record(std::uint64_t nanoseconds) noexcept {
        ++buckets_[bucket_of(nanoseconds)];
        ++count_;
        sum_ += nanoseconds;
        max_ = nanoseconds > max_ ? nanoseconds : max_;
    }

    void merge(const Histogram& other) noexcept;

    std::uint64_t count() const noexcept { return count_; }

    std::uint64_t max() const noexcept { return max_; }

    double mean() const noexcept {
        return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
    }

    /// The latency, in nanoseconds, at or below which a share of `quantile` (0 to 1) stayed; 0 if there are none.
    std::uint64_t quantile(double quantile) const noexcept;

  private:
    static constexpr unsigned kBits = 6;  // 64 buckets per doubling
    static constexpr std::size_t kBuckets = (64 - kBits + 1) << kBits;

    // Values below 64 have a bucket each; above, the highest bit and the next six select it.
    static std::size_t bucket_of(std::uint64_t value) noexcept {
        if (value < 1U << kBits) {
            return value;
        }
        const auto shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
        return (static_cast<std::size_t>(shift + 1) << kBits) + ((value >> shift) - (1U << kBits));
    }

    static std::uint64_t highest_of(std::size_t bucket) noexcept;

    std::array<std::uint64_t, kBuckets> buckets_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace annals::bench
