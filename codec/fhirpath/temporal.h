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

/// What a comparison says: `unknown` is FHIRPath's empty collection.
enum class Order : std::uint8_t { less, equal, greater, unknown };

struct Temporal {
    enum class Kind : std::uint8_t { date, date_time, time };
    /// Fractions of a second are part of the second.
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

    /// Writes the FHIRPath text without @ (2012-04-15T10:00:00+02:00, 10:30); answers its length.
    std::size_t write(char* out) const;
};

// Each reads the whole text, checking every range (the day against its month, a leap second is refused as
// FHIRPath does), or gives nothing. `T` before a time and after a date of a date-time are not part of it.
std::optional<Temporal> parse_date(std::string_view text);  ///< 2012, 2012-04, 2012-04-15
std::optional<Temporal> parse_date_time(
    std::string_view text);  ///< any date, then Thh(:mm(:ss(.f)))zone
std::optional<Temporal> parse_time(std::string_view text);  ///< hh(:mm(:ss(.f)))

/// Three-valued order. Where only one side has a zone, the other could be in any from -12:00 to +14:00.
/// Requires: both are times, or neither is.
Order compare(const Temporal& a, const Temporal& b);

/// Equivalence: the same precision and the same value; zones are normalized, and must both be there or not.
bool equivalent(const Temporal& a, const Temporal& b);

/// Units that can be added to a temporal.
enum class Calendar : std::uint8_t { year, month, week, day, hour, minute, second, millisecond };

/// `value` later by `count` units: months keep the day or take the month's last; units finer than the value's
/// precision count in whole units of that precision. Nothing outside of the years 1 to 9999; times wrap.
std::optional<Temporal> add(const Temporal& value, std::int64_t count, Calendar unit);

/// The first or the last instant that `value` can mean, at `digits` of precision (4, 6, 8, 10, 12, 14, 17 for
/// dates and date-times, 2, 4, 6, 9 for times). Nothing for other numbers.
std::optional<Temporal> boundary(const Temporal& value, int digits, bool high);

/// Digits of its precision, as boundary() counts them.
int precision_digits(const Temporal& value);

/// The instant as a date-time in UTC with milliseconds. Requires: 0001 <= year <= 9999.
Temporal date_time_of(std::int64_t microseconds_since_1970);

/// Days since 1970-01-01 of the proleptic Gregorian calendar.
std::int64_t days_of(std::int64_t year, unsigned month, unsigned day);

}  // namespace annals::fhirpath
