// Statistics: computes FHIR's StatisticsCodes for some numbers.
//
// Layer:   core/operations; depends on nothing.
// Spec:    FHIR R4 codesystem-observation-statistics.html; where definitions vary: docs/api/stats.md.
// Threads: plain values.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace annals::core {

enum class Statistic : unsigned char {
    average,
    maximum,
    minimum,
    count,
    total_count,
    median,
    std_dev,
    sum,
    variance,
    percent_20,
    percent_80,
    lower_quartile,
    upper_quartile,
    quartile_deviation,
    quintile_1,
    quintile_2,
    quintile_3,
    quintile_4,
    skew,
    kurtosis,
};

struct StatisticName {
    Statistic statistic;
    std::string_view code;
    std::string_view display;
};

/// All that can be computed, in the code system's order.
std::span<const StatisticName> statistics() noexcept;

/// Null if there is none with that code.
const StatisticName* find_statistic(std::string_view code) noexcept;

/// Numbers, and statistics about them.
class Sample {
  public:
    /// Cost: sorts them.
    explicit Sample(std::vector<long double> values);

    std::size_t size() const noexcept { return sorted_.size(); }

    /// Nothing if it isn't defined for so few numbers, or if all are equal. Requires: not total_count, which
    /// the numbers don't determine.
    std::optional<long double> value(Statistic statistic) const;

  private:
    long double quantile(std::size_t numerator, std::size_t denominator) const;
    std::optional<long double> variance() const;
    std::optional<long double> skew() const;
    std::optional<long double> kurtosis() const;

    std::vector<long double> sorted_;
    long double sum_ = 0;
    long double mean_ = 0;
    std::array<long double, 5>
        moments_{};  ///< of power k: the sum of (value - mean)^k, for 2, 3 and 4
};

}  // namespace annals::core
