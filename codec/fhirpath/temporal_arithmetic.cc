// Addition of durations to Temporals.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Date/Time Arithmetic".

#include "codec/fhirpath/calendar.h"
#include "codec/fhirpath/temporal.h"
#include "core/base/calendar.h"

#include <array>

namespace annals::fhirpath {
namespace {

using Precision = Temporal::Precision;

constexpr std::int64_t kCountMax = 400'000'000'000'000;  // ten thousand years of milliseconds
constexpr std::int64_t kDayMilliseconds = 86'400'000;

// For units that are a number of milliseconds, by Calendar.
constexpr std::array<std::int64_t, 8> kMilliseconds{
    0, 0, 7 * kDayMilliseconds, kDayMilliseconds, 3'600'000, 60'000, 1000, 1};

std::int64_t milliseconds_of(Calendar unit) {
    return kMilliseconds[static_cast<std::size_t>(unit)];
}

// Anything finer than the value's precision is dropped.
std::int64_t in_whole_units(std::int64_t milliseconds, Precision precision) {
    const std::int64_t step = precision == Precision::hour     ? 3'600'000
                              : precision == Precision::minute ? 60'000
                                                               : 1;
    return milliseconds - milliseconds % step;
}

void show_milliseconds(Temporal& t, Calendar unit) {
    if (unit == Calendar::millisecond && t.precision == Precision::second &&
        t.fraction_digits < 3) {
        t.fraction_digits = 3;
    }
}

std::optional<Temporal> add_months(Temporal t, std::int64_t months) {
    const std::int64_t all = std::int64_t{t.year} * 12 + (t.month - 1) + months;
    if (all < 12 || all >= std::int64_t{10'000} * 12) {
        return std::nullopt;
    }
    t.year = static_cast<std::int16_t>(all / 12);
    t.month = static_cast<std::uint8_t>(all % 12 + 1);
    const unsigned last = days_in_month(t.year, t.month);
    t.day = t.day > last ? static_cast<std::uint8_t>(last) : t.day;
    return t;
}

// A time of day wraps around.
std::optional<Temporal> add_to_time(Temporal t, std::int64_t count, Calendar unit) {
    if (unit < Calendar::hour) {
        return std::nullopt;
    }
    const std::int64_t in_day = kDayMilliseconds / milliseconds_of(unit);
    const std::int64_t change =
        in_whole_units(count % in_day * milliseconds_of(unit), t.precision) * 1'000'000;
    const std::int64_t now = (nanoseconds_of_day(t) + change) % kDayNanoseconds;
    set_time_of_day(t, now < 0 ? now + kDayNanoseconds : now);
    show_milliseconds(t, unit);
    return t;
}

// For a value with a time of day.
std::optional<Temporal> add_to_instant(Temporal t, std::int64_t milliseconds) {
    std::int64_t day = days_of(t.year, t.month, t.day) + milliseconds / kDayMilliseconds;
    std::int64_t now = nanoseconds_of_day(t) +
                       in_whole_units(milliseconds % kDayMilliseconds, t.precision) * 1'000'000;
    if (now < 0) {
        now += kDayNanoseconds;
        --day;
    } else if (now >= kDayNanoseconds) {
        now -= kDayNanoseconds;
        ++day;
    }
    if (!set_day(t, day)) {
        return std::nullopt;
    }
    set_time_of_day(t, now);
    return t;
}

}  // namespace

std::optional<Temporal> add(const Temporal& value, std::int64_t count, Calendar unit) {
    if (count > kCountMax || count < -kCountMax) {
        return std::nullopt;
    }
    Temporal t = value;
    if (t.kind == Temporal::Kind::time) {
        return add_to_time(t, count, unit);
    }
    if (unit == Calendar::year || unit == Calendar::month) {
        if (count > 120'000 || count < -120'000) {
            return std::nullopt;
        }
        std::int64_t months = unit == Calendar::year ? count * 12 : count;
        months -= t.precision == Precision::year ? months % 12 : 0;
        return add_months(t, months);
    }
    const std::int64_t each = milliseconds_of(unit);
    if (count > kCountMax / each || count < -kCountMax / each) {
        return std::nullopt;
    }
    const std::int64_t milliseconds = count * each;
    const std::int64_t days = milliseconds / kDayMilliseconds;
    switch (t.precision) {
        case Precision::none:
            return std::nullopt;
        case Precision::year:
            return add_months(t, days / 365 * 12);
        case Precision::month:
            return add_months(t, days / 30);
        case Precision::day:
            return set_day(t, days_of(t.year, t.month, t.day) + days) ? std::optional(t)
                                                                      : std::nullopt;
        case Precision::hour:
        case Precision::minute:
        case Precision::second:
            break;
    }
    std::optional<Temporal> later = add_to_instant(t, milliseconds);
    if (later) {
        show_milliseconds(*later, unit);
    }
    return later;
}

}  // namespace annals::fhirpath
