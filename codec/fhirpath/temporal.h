// Temporal: dates, date-times and times of day with their precision, as FHIRPath compares and adds them.
//
// Layer:   codec; depends on nothing.
// Spec:    FHIRPath N1 "Date", "DateTime", "Time", "Equals", "Comparison", "Date/Time Arithmetic";
//          FHIR R4 datatypes.html#dateTime.
// Threads: plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace annals::fhirpath {

/// The result of a comparison: `unknown` is FHIRPath's empty collection.
enum class Order : std::uint8_t { less, equal, greater, unknown };

struct Temporal {
    enum class Kind : std::uint8_t { date, date_time, time };
    /// Fractions of a second belong to the precision `second`.
    enum class Precision : std::uint8_t { none, year, month, day, hour, minute, second };

    static constexpr std::int16_t kNoZone = INT16_MIN;
    static constexpr std::size_t kCharsMax = 48;

    std::int32_t nanosecond = 0;
    std::int16_t year = 0;
    std::int16_t zone = kNoZone;  ///< minutes east of UTC
    std::uint8_t month = 1;
    std::uint8_t day = 1;
    std::uint8_t hour = 0;
    std::uint8_t minute = 0;
    std::uint8_t second = 0;
    std::uint8_t fraction_digits = 0;  ///< as written, at most 9 are kept
    Precision precision = Precision::none;
    Kind kind = Kind::date;

    bool has_zone() const { return zone != kNoZone; }

    /// Writes the FHIRPath text without @ (2012-04-15T10:00:00+02:00, 10:30); returns its length.
    std::size_t write(char* out) const;
};

// Each parses the whole text and checks every range (the day against its month; a leap second is refused, as
// in FHIRPath), or returns nothing. Texts don't have FHIRPath's `T` before a time or after the date of a
// date-time without a time.
std::optional<Temporal> parse_date(std::string_view text);  ///< 2012, 2012-04, 2012-04-15
std::optional<Temporal> parse_date_time(
    std::string_view text);  ///< any date, then Thh(:mm(:ss(.f)))zone
std::optional<Temporal> parse_time(std::string_view text);  ///< hh(:mm(:ss(.f)))

/// Three-valued order. If only one side has a zone, the other's may be anything from -12:00 to +14:00.
/// Requires: both are times, or neither is.
Order compare(const Temporal& a, const Temporal& b);

/// Equivalence: the same precision and the same value in UTC; both have a zone, or neither has.
bool equivalent(const Temporal& a, const Temporal& b);

/// Units that can be added to a temporal.
enum class Calendar : std::uint8_t { year, month, week, day, hour, minute, second, millisecond };

/// `value` moved by `count` units: months keep the day or use the month's last; units finer than the value's
/// precision count in whole units of that precision. Nothing outside the years 1 to 9999; times wrap around.
std::optional<Temporal> add(const Temporal& value, std::int64_t count, Calendar unit);

/// The first or last instant that `value` can mean, with `digits` of precision (4, 6, 8, 10, 12, 14, 17 for
/// dates and date-times, 2, 4, 6, 9 for times). Nothing for other numbers of digits.
std::optional<Temporal> boundary(const Temporal& value, int digits, bool high);

/// The digits of its precision, counted as in boundary().
int precision_digits(const Temporal& value);

/// The instant as a date-time in UTC with milliseconds. Requires: 0001 <= year <= 9999.
Temporal date_time_of(std::int64_t microseconds_since_1970);

}  // namespace annals::fhirpath
