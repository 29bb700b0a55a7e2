#include "core/operations/statistics.h"

#include <algorithm>
#include <cmath>

namespace annals::core {

namespace {

constexpr auto kStatistics = std::to_array<StatisticName>({
    {Statistic::average, "average", "Average"},
    {Statistic::maximum, "maximum", "Maximum"},
    {Statistic::minimum, "minimum", "Minimum"},
    {Statistic::count, "count", "Count"},
    {Statistic::total_count, "total-count", "Total Count"},
    {Statistic::median, "median", "Median"},
    {Statistic::std_dev, "std-dev", "Standard Deviation"},
    {Statistic::sum, "sum", "Sum"},
    {Statistic::variance, "variance", "Variance"},
    {Statistic::percent_20, "20-percent", "20th Percentile"},
    {Statistic::percent_80, "80-percent", "80th Percentile"},
    {Statistic::lower_quartile, "4-lower", "Lower Quartile"},
    {Statistic::upper_quartile, "4-upper", "Upper Quartile"},
    {Statistic::quartile_deviation, "4-dev", "Quartile Deviation"},
    {Statistic::quintile_1, "5-1", "1st Quintile"},
    {Statistic::quintile_2, "5-2", "2nd Quintile"},
    {Statistic::quintile_3, "5-3", "3rd Quintile"},
    {Statistic::quintile_4, "5-4", "4th Quintile"},
    {Statistic::skew, "skew", "Skew"},
    {Statistic::kurtosis, "kurtosis", "Kurtosis"},
});

/// A sum that keeps what each addition rounds off (Neumaier's).
class Sum {
  public:
    void add(long double value) {
        const long double sum = sum_ + value;
        lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
        sum_ = sum;
    }

    long double total() const { return sum_ + lost_; }

  private:
    long double sum_ = 0;
    long double lost_ = 0;
};

}  // namespace

std::span<const StatisticName> statistics() noexcept {
    return kStatistics;
}

const StatisticName* find_statistic(std::string_view code) noexcept {
    const auto* const found = std::find_if(kStatistics.begin(), kStatistics.end(),
                                           [&](const auto& name) { return name.code == code; });
    return found == kStatistics.end() ? nullptr : found;
}

Sample::Sample(std::vector<long double> values) : sorted_(std::move(values)) {
    if (sorted_.empty()) {
        return;
    }
    std::sort(sorted_.begin(), sorted_.end());
    Sum sum;
    for (const long double value : sorted_) {
        sum.add(value);
    }
    sum_ = sum.total();
    // Rounding must not move the mean out of the range of values: if all are the same, it is that value.
    mean_ = std::clamp(sum_ / static_cast<long double>(size()), sorted_.front(), sorted_.back());
    std::array<Sum, 5> moments;
    for (const long double value : sorted_) {
        const long double deviation = value - mean_;
        const long double square = deviation * deviation;
        moments[2].add(square);
        moments[3].add(square * deviation);
        moments[4].add(square * square);
    }
    for (std::size_t power = 2; power < moments.size(); ++power) {
        moments_[power] = moments[power].total();
    }
}

std::optional<long double> Sample::value(Statistic statistic) const {
    if (statistic == Statistic::count) {
        return static_cast<long double>(size());
    }
    if (sorted_.empty()) {
        return {};
    }
    switch (statistic) {
        case Statistic::average:
            return mean_;
        case Statistic::maximum:
            return sorted_.back();
        case Statistic::minimum:
            return sorted_.front();
        case Statistic::median:
            return quantile(1, 2);
        case Statistic::sum:
            return sum_;
        case Statistic::variance:
            return variance();
        case Statistic::std_dev:
            if (const auto square = variance()) {
                return std::sqrt(*square);
            }
            return {};
        case Statistic::percent_20:
        case Statistic::quintile_1:
            return quantile(1, 5);
        case Statistic::quintile_2:
            return quantile(2, 5);
        case Statistic::quintile_3:
            return quantile(3, 5);
        case Statistic::percent_80:
        case Statistic::quintile_4:
            return quantile(4, 5);
        case Statistic::lower_quartile:
            return quantile(1, 4);
        case Statistic::upper_quartile:
            return quantile(3, 4);
        case Statistic::quartile_deviation:
            return (quantile(3, 4) - quantile(1, 4)) / 2;
        case Statistic::skew:
            return skew();
        case Statistic::kurtosis:
            return kurtosis();
        case Statistic::count:
        case Statistic::total_count:
            break;
    }
    return {};
}

/// The value below which that part of the values lies, interpolated linearly.
long double Sample::quantile(std::size_t numerator, std::size_t denominator) const {
    const std::size_t place = (size() - 1) * numerator;
    const std::size_t below = place / denominator;
    if (place % denominator == 0) {
        return sorted_[below];
    }
    const long double part =
        static_cast<long double>(place % denominator) / static_cast<long double>(denominator);
    return sorted_[below] + (sorted_[below + 1] - sorted_[below]) * part;
}

std::optional<long double> Sample::variance() const {
    if (size() < 2) {
        return {};
    }
    return moments_[2] / static_cast<long double>(size() - 1);
}

/// Adjusted for the size of the sample (Fisher and Pearson's G1).
std::optional<long double> Sample::skew() const {
    if (size() < 3 || moments_[2] == 0) {
        return {};
    }
    const auto n = static_cast<long double>(size());
    const long double deviation = std::sqrt(moments_[2] / (n - 1));
    return n / ((n - 1) * (n - 2)) * moments_[3] / (deviation * deviation * deviation);
}

/// The excess over the normal distribution's, adjusted for the size of the sample (G2).
std::optional<long double> Sample::kurtosis() const {
    if (size() < 4 || moments_[2] == 0) {
        return {};
    }
    const auto n = static_cast<long double>(size());
    const long double square = moments_[2] / (n - 1);
    return n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) * moments_[4] / (square * square) -
           3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3));
}

}  // namespace annals::core
