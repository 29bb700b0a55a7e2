#include "core/search/ranges.h"

#include "core/base/instant.h"
#include "core/search/terms.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

Instant at(std::string_view text) {
    return parse_instant(text).value();
}

TEST(DateRange, CoversWhatThePrecisionSays) {
    const auto year = date_range("2026", nullptr);
    ASSERT_TRUE(year);
    EXPECT_EQ(year->low, at("2026-01-01T00:00:00Z").us);
    EXPECT_EQ(year->high, at("2027-01-01T00:00:00Z").us - 1);
    const auto month = date_range("2024-02", nullptr);
    ASSERT_TRUE(month);
    EXPECT_EQ(month->high, at("2024-03-01T00:00:00Z").us - 1);
    const auto day = date_range("2024-02-29", nullptr);
    ASSERT_TRUE(day);
    EXPECT_EQ(day->high - day->low, 24LL * 3600 * 1'000'000 - 1);
    const auto second = date_range("2026-01-02T03:04:05+01:00", nullptr);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->low, at("2026-01-02T02:04:05Z").us);
    EXPECT_EQ(second->high, second->low + 999'999);
    const auto milli = date_range("2026-01-02T03:04:05.678Z", nullptr);
    ASSERT_TRUE(milli);
    EXPECT_EQ(milli->high, milli->low + 999);
}

TEST(DateRange, CountsALeapSecondAmongItsDay) {
    const auto leap = date_range("2016-12-31T23:59:60Z", nullptr);
    ASSERT_TRUE(leap);
    EXPECT_EQ(leap->low, at("2016-12-31T23:59:59Z").us);
    EXPECT_LT(leap->high, at("2017-01-01T00:00:00Z").us);
}

TEST(DateRange, ReadsADayWithoutAZoneAsUtc) {
    EXPECT_EQ(date_range("2026-01-02", nullptr)->low, at("2026-01-02T00:00:00Z").us);
}

TEST(DateRange, ReadsWhatNamesNoZoneInTheGivenOne) {
    const auto sydney = TimeZone::load("Australia/Sydney").value();
    const auto expect = [&](const char* text, const char* low, const char* end) {
        const auto range = asked_date_range(text, sydney.get());
        ASSERT_TRUE(range) << text;
        EXPECT_EQ(range->low, at(low).us) << text;
        EXPECT_EQ(range->high, at(end).us - 1) << text;
    };
    expect("2019-11-01", "2019-10-31T13:00:00Z", "2019-11-01T13:00:00Z");
    expect("2019-11", "2019-10-31T13:00:00Z", "2019-11-30T13:00:00Z");
    expect("2019", "2018-12-31T13:00:00Z", "2019-12-31T13:00:00Z");
    expect("2019-07-01T10:30", "2019-07-01T00:30:00Z", "2019-07-01T00:31:00Z");
    expect("2019-11-01T10:30:00.5", "2019-10-31T23:30:00.5Z", "2019-10-31T23:30:00.6Z");
    expect("2016-12-31T23:59:60", "2016-12-31T12:59:59Z", "2016-12-31T13:00:00Z");
    for (const char* zoned : {"2019-11-01T10:30Z", "2019-11-01T12:30+02:00",
                              "2019-11-01T12:30 02:00", "2019-11-01T05:30-05:00"}) {
        expect(zoned, "2019-11-01T10:30:00Z", "2019-11-01T10:31:00Z");
    }
    EXPECT_FALSE(date_range("2019-11-01T10:30", sydney.get()));
    EXPECT_FALSE(asked_date_range("2019-11-31", sydney.get()));
}

TEST(DateRange, IsNothingForWhatIsNoDate) {
    for (const char* text :
         {"", "x", "2026-13", "2026-02-30", "20260101", "2026-01-01T25:00:00Z"}) {
        EXPECT_FALSE(date_range(text, nullptr)) << text;
    }
}

void expect_number(std::string_view text, double low, double value, double high) {
    const auto number = number_range(text);
    ASSERT_TRUE(number) << text;
    EXPECT_EQ(number->value, value) << text;
    EXPECT_EQ(number_of(number->range.low), low) << text;
    EXPECT_EQ(number_of(number->range.high + 1), high) << text;
}

TEST(NumberRange, CoversItsOwnValueHoweverManyDigitsItHas) {
    for (const char* text :
         {"12345678901234567", "1.2345678901234567", "0.000012345678901234567", "99999999999999999",
          "1000000000000000000", "0.30000000000000004", "-12345678901234567", "1"}) {
        const auto number = number_range(text);
        ASSERT_TRUE(number) << text;
        EXPECT_LE(number->range.low, core::search::ordered(number->value)) << text;
        EXPECT_GE(number->range.high, core::search::ordered(number->value)) << text;
    }
}

TEST(NumberRange, CoversHalfOfTheLastDigitToEitherSide) {
    expect_number("100", 99.5, 100, 100.5);
    expect_number("100.00", 99.995, 100, 100.005);
    expect_number("5.4", 5.35, 5.4, 5.45);
    expect_number("0", -0.5, 0, 0.5);
    expect_number("0.0", -0.05, 0, 0.05);
    expect_number("7", 6.5, 7, 7.5);
    expect_number("-7.1", -7.15, -7.1, -7.05);
    expect_number("5.4e-3", 0.00535, 0.0054, 0.00545);
}

TEST(NumberRange, ReadsAnExponentAsTheStandardsExampleDoes) {
    expect_number("1e2", 95, 100, 105);
    expect_number("1E+2", 95, 100, 105);
}

TEST(NumberRange, IsNothingForWhatIsNoNumber) {
    for (const char* text : {"", "x", "-", "1.", ".5", "1e", "1e999", "1 ", "nan", "inf", "0x10"}) {
        EXPECT_FALSE(number_range(text)) << text;
        EXPECT_FALSE(number_value(text)) << text;
    }
    EXPECT_FALSE(number_range(std::string(1000, '1')));
}

TEST(NumberRange, GoesAsFarAsADouble) {
    for (const char* text : {"1e308", "-1.7e308", "0.000001e310"}) {
        EXPECT_TRUE(number_range(text)) << text;
    }
}

TEST(NumberValue, IsZeroForWhatIsTooSmall) {
    EXPECT_EQ(number_value("1e-390"), 0.0);
    EXPECT_EQ(number_range("1e-390")->value, 0.0);
}

}  // namespace
}  // namespace annals::core::search
