#include "core/base/instant.h"

#include <gtest/gtest.h>

namespace annals {
namespace {

struct Reading {
    const char* text;
    std::int64_t us;
};

class InstantReads : public testing::TestWithParam<Reading> {};

TEST_P(InstantReads, TheMomentThatTheTextNames) {
    const auto instant = parse_instant(GetParam().text);
    ASSERT_TRUE(instant) << GetParam().text;
    EXPECT_EQ(instant->us, GetParam().us) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, InstantReads,
    testing::Values(Reading{"1970-01-01T00:00:00Z", 0}, Reading{"1970-01-01T00:00:00.001Z", 1000},
                    Reading{"1970-01-01T00:00:00.1234567Z", 123456},
                    Reading{"1970-01-01T01:00:00+01:00", 0},
                    Reading{"1969-12-31T23:00:00-01:00", 0},
                    Reading{"2000-02-29T12:00:00Z", 951825600000000},
                    Reading{"2016-12-31T23:59:60Z", 1483228800000000},
                    Reading{"2026-01-02T03:04:05.678-12:30", 1767368045678000}));

TEST(Instant, RefusesWhatIsNoInstant) {
    for (const char* text : {"",
                             "2026",
                             "2026-01-02",
                             "2026-01-02T03:04:05",
                             "2026-01-02T03:04Z",
                             "2026-02-29T00:00:00Z",
                             "2026-13-01T00:00:00Z",
                             "2026-01-02T24:00:00Z",
                             "2026-01-02T03:60:00Z",
                             "2026-01-02T03:04:61Z",
                             "2026-01-02T03:04:05.Z",
                             "2026-01-02T03:04:05z",
                             "2026-01-02t03:04:05Z",
                             "2026-01-02T03:04:05+15:00",
                             "2026-01-02T03:04:05Z ",
                             " 2026-01-02T03:04:05Z",
                             "2026-01-02T03:04:05 01:00",
                             "0000-01-01T00:00:00Z",
                             "20260-01-01T00:00:00Z",
                             "9999-12-31T23:59:60Z",
                             "9999-12-31T23:59:60.000Z",
                             "9999-12-31T23:59:59-01:00"}) {
        EXPECT_FALSE(parse_instant(text)) << text;
    }
}

TEST(Instant, IsTheSameInUtcHoweverTheZoneIsWritten) {
    for (const std::string text :
         {"2024-02-29T23:59:60.123", "2023-12-31T00:00:00", "0001-01-01T10:20:30.009"}) {
        for (std::size_t at = 0; at < text.size(); ++at) {
            for (int value = 1; value < 256; ++value) {
                std::string other = text;
                other[at] = static_cast<char>(value);
                const auto usual = parse_date_time(other + "Z");
                const auto general = parse_date_time(other + "+00:00");
                ASSERT_EQ(usual.has_value(), general.has_value()) << other;
                if (usual) {
                    ASSERT_EQ(usual->begin, general->begin) << other;
                    ASSERT_EQ(usual->end, general->end) << other;
                }
                ASSERT_EQ(parse_instant(other + "Z").has_value(),
                          parse_instant(other + "+00:00").has_value())
                    << other;
            }
        }
    }
}

TEST(Instant, WritesMillisecondsAndKeepsMicrosecondsWhereThereAreAny) {
    EXPECT_EQ(format_instant({951825600000000}), "2000-02-29T12:00:00.000Z");
    EXPECT_EQ(format_instant({951825600123000}), "2000-02-29T12:00:00.123Z");
    EXPECT_EQ(format_instant({951825600123456}), "2000-02-29T12:00:00.123456Z");
    EXPECT_EQ(format_instant({-1000}), "1969-12-31T23:59:59.999Z");
}

TEST(Instant, ReadsBackWhatItWrites) {
    for (std::int64_t us = -62'000'000'000'000'000; us < 250'000'000'000'000'000;
         us += 1'234'567'890'123'457) {
        const auto again = parse_instant(format_instant({us}));
        ASSERT_TRUE(again) << format_instant({us});
        EXPECT_EQ(again->us, us);
    }
}

TEST(DateTime, MeansTheWholeOfItsPrecision) {
    const auto check = [](const char* text, const char* begin, const char* end) {
        const auto range = parse_date_time(text);
        ASSERT_TRUE(range) << text;
        EXPECT_EQ(format_instant(range->begin), begin) << text;
        EXPECT_EQ(format_instant(range->end), end) << text;
    };
    check("2026", "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z");
    check("2026-12", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z");
    check("2024-02-29", "2024-02-29T00:00:00.000Z", "2024-03-01T00:00:00.000Z");
    check("2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z", "2026-01-02T03:04:06.000Z");
    check("2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.600Z", "2026-01-02T03:04:05.700Z");
    check("2026-01-02T03:04:05 02:00", "2026-01-02T01:04:05.000Z", "2026-01-02T01:04:06.000Z");
}

TEST(HttpDate, WritesAndReadsTheThreeForms) {
    const Instant instant{784111777000000};
    EXPECT_EQ(format_http_date(instant), "Sun, 06 Nov 1994 08:49:37 GMT");
    for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                             "Sun Nov  6 08:49:37 1994"}) {
        const auto read = parse_http_date(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(*read, instant) << text;
    }
    for (const char* text : {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
                             "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMTx"}) {
        EXPECT_FALSE(parse_http_date(text)) << text;
    }
}

}  // namespace
}  // namespace annals
