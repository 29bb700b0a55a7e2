// calendar: the proleptic Gregorian calendar.
//
// Layer:   core/base.
// Threads: plain functions.

#pragma once

#include <chrono>
#include <cstdint>

namespace annals {

/// Requires: 1 <= month <= 12.
constexpr unsigned days_in_month(int year, unsigned month) noexcept {
    return static_cast<unsigned>(
        (std::chrono::year{year} / std::chrono::month{month} / std::chrono::last).day());
}

/// Days since 1970-01-01. Requires: a date.
constexpr std::int64_t days_of(std::int64_t year, unsigned month, unsigned day) noexcept {
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                           std::chrono::month{month}, std::chrono::day{day}};
    return std::chrono::sys_days{date}.time_since_epoch().count();
}

}  // namespace annals
