// Calendar arithmetic on the days and times of day of a Temporal.
//
// Layer:   codec, inside codec/fhirpath.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/temporal.h"

#include <cstdint>

namespace annals::fhirpath {

inline constexpr std::int64_t kDayNanoseconds = 86'400'000'000'000;
inline constexpr std::int64_t kMinuteNanoseconds = 60'000'000'000;

/// Sets year, month and day to the date that is `days` after 1970-01-01.
void set_civil(Temporal& t, std::int64_t days);

/// The same; false, with nothing set, outside the years 1 to 9999.
bool set_day(Temporal& t, std::int64_t days);

std::int64_t nanoseconds_of_day(const Temporal& t);

/// Requires: 0 <= nanoseconds < kDayNanoseconds.
void set_time_of_day(Temporal& t, std::int64_t nanoseconds);

}  // namespace annals::fhirpath
