// Instant: a point in time, in microseconds since 1970-01-01T00:00:00Z.
//
// Layer:   core/base.
// Spec:    FHIR R4 datatypes.html#instant, #dateTime; RFC 9110 HTTP-date.
// Threads: plain values.

#pragma once

#include "core/base/result.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals {

/// A point in time. The default value is the epoch.
struct Instant {
    std::int64_t us = 0;

    auto operator<=>(const Instant&) const = default;
};

/// The wall clock, to the microsecond.
Instant now() noexcept;

/// Length of what write_instant() writes: 2026-01-02T03:04:05.678Z.
inline constexpr std::size_t kInstantChars = 24;

/// Writes exactly kInstantChars characters, with milliseconds and Z, to `out`; the rest of the fraction is cut off. Requires:
/// 0000-01-01 <= instant <= 9999-12-31.
void write_instant(Instant instant, char* out) noexcept;

/// The instant as FHIR writes it, in UTC: with three digits of fraction, or six if it has microseconds.
std::string format_instant(Instant instant);

/// Reads a FHIR instant (date, time, zone all present; any number of fraction digits, cut off after
/// microseconds; a leap second :60 counts as the second after). Errors: value.
Result<Instant> parse_instant(std::string_view text);

/// A FHIR date, dateTime or instant as the half-open range that it means: 2026 is a whole year,
/// 2026-01-02T03:04:05Z one second. Without a zone it is read as UTC.
struct InstantRange {
    Instant begin;
    Instant end;
};

/// Reads a FHIR dateTime of any precision from a year on; accepts a blank for the `+` of a zone (an unescaped query). Errors:
/// value.
Result<InstantRange> parse_date_time(std::string_view text);

/// Length of what write_http_date() writes: Fri, 02 Jan 2026 03:04:05 GMT (RFC 9110).
inline constexpr std::size_t kHttpDateChars = 29;

/// Writes exactly kHttpDateChars characters to `out`; whole seconds, cut off.
/// Requires: 0000-01-01 <= instant <= 9999-12-31.
void write_http_date(Instant instant, char* out) noexcept;

/// The same as a string.
std::string format_http_date(Instant instant);

/// Reads the three forms of RFC 9110 section 5.6.7. Errors: value.
Result<Instant> parse_http_date(std::string_view text);

}  // namespace annals
