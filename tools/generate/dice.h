// Dice: seeded random numbers that are the same on every machine.
//
// Layer:   tools/generate. Integers only, so that a seed gives the same bytes everywhere.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <span>

namespace annals::generate {

/// SplitMix64's output function: spreads every bit of `value` over the whole word.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9ULL;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebULL;
    value ^= value >> 31;
    return value;
}

class Dice {
  public:
    explicit constexpr Dice(std::uint64_t seed) noexcept : state_(mix(seed ^ kStep)) {}

    constexpr std::uint64_t next() noexcept {
        state_ += kStep;
        return mix(state_);
    }

    /// 0 <= result < bound. Requires: bound > 0.
    constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        return ((next() >> 32) * bound) >> 32;
    }

    /// low <= result <= high.
    constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
    }

    constexpr bool chance(unsigned per_mille) noexcept { return below(1000) < per_mille; }

    /// Approximately normal: the sum of four uniform numbers, so at most 3.46 `sd` from the mean.
    constexpr std::int64_t normal(std::int64_t mean, std::int64_t sd) noexcept {
        const std::uint64_t bits = next();
        std::int64_t sum = -131070;
        for (unsigned shift = 0; shift < 64; shift += 16) {
            sum += static_cast<std::int64_t>((bits >> shift) & 0xffff);
        }
        return mean + sum * sd / 37837;
    }

    template <typename T>
    constexpr const T& pick(std::span<const T> choices) noexcept {
        return choices[below(choices.size())];
    }

  private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

    std::uint64_t state_;
};

}  // namespace annals::generate
