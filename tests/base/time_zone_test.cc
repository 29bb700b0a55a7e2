#include "core/base/time_zone.h"

#include <gtest/gtest.h>

#include <string>

namespace annals {
namespace {

std::shared_ptr<const TimeZone> zone(const std::string& name) {
    const auto loaded = TimeZone::load(name);
    EXPECT_TRUE(loaded) << name;
    return loaded ? *loaded : nullptr;
}

struct Stretch {
    const char* zone;
    const char* local;
    const char* begin;
    const char* end;
};

class TimeZoneStretch : public testing::TestWithParam<Stretch> {};

TEST_P(TimeZoneStretch, IsWhatTheClocksOfThePlaceShow) {
    const auto [name, local, begin, end] = GetParam();
    const auto of = zone(name);
    ASSERT_NE(of, nullptr);
    const InstantRange range = of->stretch(parse_date_time(local).value());
    EXPECT_EQ(format_instant(range.begin), begin) << name << " " << local;
    EXPECT_EQ(format_instant(range.end), end) << name << " " << local;
}

INSTANTIATE_TEST_SUITE_P(
    Days, TimeZoneStretch,
    testing::Values(
        Stretch{"Australia/Sydney", "2019-11-01", "2019-10-31T13:00:00.000Z",
                "2019-11-01T13:00:00.000Z"},
        Stretch{"Etc/GMT-11", "2019-11", "2019-10-31T13:00:00.000Z", "2019-11-30T13:00:00.000Z"},
        // Days of 23 and 25 hours, and one half an hour longer.
        Stretch{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z",
                "2026-03-29T22:00:00.000Z"},
        Stretch{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z",
                "2026-10-25T23:00:00.000Z"},
        Stretch{"Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00.000Z",
                "2026-04-05T13:30:00.000Z"},
        // Days that begin at one o'clock, or that end when midnight comes for the second time or for the first.
        Stretch{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z",
                "2018-11-05T02:00:00.000Z"},
        Stretch{"America/Sao_Paulo", "2018-11-03", "2018-11-03T03:00:00.000Z",
                "2018-11-04T03:00:00.000Z"},
        Stretch{"America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00.000Z",
                "2018-02-18T03:00:00.000Z"},
        Stretch{"America/Havana", "2026-10-31", "2026-10-31T04:00:00.000Z",
                "2026-11-01T04:00:00.000Z"},
        Stretch{"America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z",
                "2026-11-02T05:00:00.000Z"},
        // A day that was left out.
        Stretch{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z",
                "2011-12-31T10:00:00.000Z"},
        Stretch{"Pacific/Apia", "2011-12", "2011-12-01T10:00:00.000Z", "2011-12-31T10:00:00.000Z"},
        // Before there were zones, and after the end of the database's list.
        Stretch{"America/New_York", "1850-01-01", "1850-01-01T04:56:02.000Z",
                "1850-01-02T04:56:02.000Z"},
        Stretch{"Europe/Berlin", "2500-07-01", "2500-06-30T22:00:00.000Z",
                "2500-07-01T22:00:00.000Z"},
        Stretch{"Europe/Berlin", "9999", "9998-12-31T23:00:00.000Z", "9999-12-31T23:00:00.000Z"}));

INSTANTIATE_TEST_SUITE_P(
    Times, TimeZoneStretch,
    testing::Values(Stretch{"Europe/Berlin", "1969-12-31T23:59:59.999", "1969-12-31T22:59:59.999Z",
                            "1969-12-31T23:00:00.000Z"},
                    // A time in the gap, and those just before and after it.
                    Stretch{"Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59.000Z",
                            "2026-03-29T01:00:00.000Z"},
                    Stretch{"Europe/Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00.000Z",
                            "2026-03-29T01:30:01.000Z"},
                    Stretch{"Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00.000Z",
                            "2026-03-29T01:00:01.000Z"},
                    // A time that occurs twice, and those just before and after it.
                    Stretch{"Europe/Berlin", "2026-10-25T01:59:59", "2026-10-24T23:59:59.000Z",
                            "2026-10-25T00:00:00.000Z"},
                    Stretch{"Europe/Berlin", "2026-10-25T02:30:00.500", "2026-10-25T00:30:00.500Z",
                            "2026-10-25T01:30:00.501Z"},
                    Stretch{"Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00.000Z",
                            "2026-10-25T02:00:01.000Z"}));

TEST(TimeZone, IsNullForTheNamesOfUtc) {
    for (const char* name : {"UTC", "Etc/UTC", "Zulu"}) {
        EXPECT_EQ(zone(name), nullptr) << name;
    }
    EXPECT_NE(zone("Europe/London"), nullptr);
    EXPECT_NE(zone("Africa/Abidjan"), nullptr) << "until 1912";
}

TEST(TimeZone, TakesNoOtherFileAndNoZoneOfTheEnvironment) {
    for (const char* name :
         {"", "Mars/Olympus", "Europe", "europe/Berlin ", "localtime",
          "/usr/share/zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "posix/Europe/Berlin",
          "right/Europe/Berlin", "+01:00", "Fixed/UTC+01:00:00"}) {
        EXPECT_FALSE(TimeZone::load(name)) << name;
    }
}

TEST(TimeZone, DiffersByWhatTheClocksShow) {
    EXPECT_EQ(zone("Europe/Berlin")->fingerprint(), zone("Europe/Berlin")->fingerprint());
    EXPECT_EQ(zone("Asia/Kolkata")->fingerprint(), zone("Asia/Calcutta")->fingerprint());
    EXPECT_NE(zone("Europe/Berlin")->fingerprint(), zone("Europe/Paris")->fingerprint());
    EXPECT_NE(zone("Etc/GMT-11")->fingerprint(), zone("Etc/GMT-12")->fingerprint());
}

}  // namespace
}  // namespace annals
