// Statistics, compared with values computed by hand.

#include "core/operations/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace annals::core {
namespace {

double value(std::vector<long double> values, std::string_view code) {
    const auto found = Sample(std::move(values)).value(find_statistic(code)->statistic);
    return found ? static_cast<double>(*found) : std::nan("");
}

TEST(Statistics, AreThoseOfAKnownSample) {
    // Mean 5, squares of the deviations 9 1 1 1 0 0 4 16: 32; cubes -27 -1 -1 -1 0 0 8 64: 42; fourth powers 356.
    const std::vector<long double> sample{9, 2, 4, 4, 5, 4, 7, 5};
    EXPECT_EQ(value(sample, "average"), 5);
    EXPECT_EQ(value(sample, "maximum"), 9);
    EXPECT_EQ(value(sample, "minimum"), 2);
    EXPECT_EQ(value(sample, "count"), 8);
    EXPECT_EQ(value(sample, "sum"), 40);
    EXPECT_EQ(value(sample, "median"), 4.5);
    EXPECT_EQ(value(sample, "variance"), 32.0 / 7);
    EXPECT_EQ(value(sample, "std-dev"), 2.138089935299395);
    EXPECT_DOUBLE_EQ(value(sample, "skew"), 8 / std::pow(32.0 / 7, 1.5));
    // 72/210 * 356 / (32/7)^2 - 147/30.
    EXPECT_EQ(value(sample, "kurtosis"), 0.940625);
}

TEST(Statistics, HaveQuantilesBetweenTwoValuesInProportion) {
    const std::vector<long double> sample{40, 10, 30, 20};
    EXPECT_EQ(value(sample, "median"), 25);
    EXPECT_EQ(value(sample, "4-lower"), 17.5);
    EXPECT_EQ(value(sample, "4-upper"), 32.5);
    EXPECT_EQ(value(sample, "4-dev"), 7.5);
    EXPECT_EQ(value(sample, "20-percent"), 16);
    EXPECT_EQ(value(sample, "80-percent"), 34);
    EXPECT_EQ(value(sample, "5-1"), 16);
    EXPECT_EQ(value(sample, "5-2"), 22);
    EXPECT_EQ(value(sample, "5-3"), 28);
    EXPECT_EQ(value(sample, "5-4"), 34);
    // If a value is exactly at that place, it is the result.
    EXPECT_EQ(value({1, 2, 3, 4, 5, 6}, "5-1"), 2);
    EXPECT_EQ(value({1, 2, 3, 4, 5}, "4-upper"), 4);
}

TEST(Statistics, AreNothingWhereTheyAreNotDefined) {
    for (const StatisticName& name : statistics()) {
        if (name.statistic != Statistic::total_count) {
            EXPECT_EQ(Sample({}).value(name.statistic).has_value(), name.code == "count");
        }
    }
    EXPECT_EQ(value({7}, "median"), 7);
    EXPECT_EQ(value({7}, "4-dev"), 0);
    EXPECT_TRUE(std::isnan(value({7}, "variance")));
    EXPECT_TRUE(std::isnan(value({7}, "std-dev")));
    EXPECT_TRUE(std::isnan(value({7, 8}, "skew")));
    EXPECT_EQ(value({7, 8, 9}, "skew"), 0);
    EXPECT_TRUE(std::isnan(value({7, 8, 9}, "kurtosis")));
    EXPECT_FALSE(std::isnan(value({7, 8, 9, 9}, "kurtosis")));
    // Thirds and tenths are not exact in binary: what rounding leaves is not taken for a difference.
    EXPECT_EQ(value({0.1L, 0.1L, 0.1L}, "variance"), 0);
    EXPECT_TRUE(std::isnan(value({0.1L, 0.1L, 0.1L}, "skew")));
    EXPECT_TRUE(std::isnan(value({0.1L, 0.1L, 0.1L, 0.1L}, "kurtosis")));
}

TEST(Statistics, LoseNothingBesideLargeValues) {
    EXPECT_EQ(value({1e25L, 3, -1e25L}, "sum"), 3);
    EXPECT_EQ(value({1e15L + 4, 1e15L + 7, 1e15L + 13, 1e15L + 16}, "variance"), 30);
    EXPECT_EQ(value({0.1L, 0.2L}, "sum"), 0.3);
}

TEST(Statistics, AreFoundByTheirCodes) {
    EXPECT_EQ(find_statistic("regression"), nullptr);
    EXPECT_EQ(find_statistic("Average"), nullptr);
    EXPECT_EQ(find_statistic("4-dev")->display, "Quartile Deviation");
}

}  // namespace
}  // namespace annals::core
