// The instants that a Temporal can mean: comparison and boundaries.
//
// Layer:   codec, inside codec/fhirpath.
// Spec:    FHIRPath N1 "Equals", "Comparison"; lowBoundary() and highBoundary() of FHIRPath 3.0.

#include "codec/fhirpath/temporal.h"

#include "codec/fhirpath/calendar.h"
#include "core/base/calendar.h"

#include <array>

namespace annals::fhirpath {
namespace {

using Precision = Temporal::Precision;

// Nanoseconds since 1970 need more than 64 bits, so days are kept separately.
struct Point {
    std::int64_t day;
    std::int64_t nanosecond;

    auto operator<=>(const Point&) const = default;
};

Point point_of(const Temporal& t, std::int64_t minutes_off) {
    std::int64_t day = t.kind == Temporal::Kind::time ? 0 : days_of(t.year, t.month, t.day);
    std::int64_t nanosecond = nanoseconds_of_day(t) - minutes_off * kMinuteNanoseconds;
    while (nanosecond < 0) {
        nanosecond += kDayNanoseconds;
        --day;
    }
    while (nanosecond >= kDayNanoseconds) {
        nanosecond -= kDayNanoseconds;
        ++day;
    }
    return {day, nanosecond};
}

Temporal in_utc(const Temporal& t) {
    if (!t.has_zone() || t.zone == 0 || t.precision < Precision::hour) {
        return t;
    }
    const Point point = point_of(t, t.zone);
    Temporal utc = t;
    set_civil(utc, point.day);
    const std::int64_t minutes = point.nanosecond / kMinuteNanoseconds;
    utc.hour = static_cast<std::uint8_t>(minutes / 60);
    utc.minute = static_cast<std::uint8_t>(minutes % 60);
    utc.zone = 0;
    return utc;
}

std::array<std::int64_t, 6> parts_of(const Temporal& t) {
    return {t.year, t.month,  t.day,
            t.hour, t.minute, std::int64_t{t.second} * 1'000'000'000 + t.nanosecond};
}

// The last instant that `t` can mean: missing parts are set to their maximum.
Temporal widest(Temporal t) {
    if (t.precision < Precision::month) {
        t.month = 12;
    }
    if (t.precision < Precision::day) {
        t.day = static_cast<std::uint8_t>(days_in_month(t.year, t.month));
    }
    if (t.precision < Precision::hour) {
        t.hour = 23;
    }
    if (t.precision < Precision::minute) {
        t.minute = 59;
    }
    if (t.precision < Precision::second) {
        t.second = 59;
        t.nanosecond = 999'999'999;
    }
    return t;
}

struct Digits {
    int digits;
    Precision precision;
};

constexpr std::array<Digits, 6> kDateDigits{{{4, Precision::year},
                                             {6, Precision::month},
                                             {8, Precision::day},
                                             {10, Precision::hour},
                                             {12, Precision::minute},
                                             {14, Precision::second}}};
constexpr std::array<Digits, 3> kTimeDigits{
    {{2, Precision::hour}, {4, Precision::minute}, {6, Precision::second}}};

}  // namespace

Order compare(const Temporal& a, const Temporal& b) {
    if (a.kind == Temporal::Kind::time || a.has_zone() == b.has_zone()) {
        const Temporal left = in_utc(a);
        const Temporal right = in_utc(b);
        const Precision least = left.precision < right.precision ? left.precision : right.precision;
        const auto x = parts_of(left);
        const auto y = parts_of(right);
        const std::size_t first = a.kind == Temporal::Kind::time ? 3 : 0;
        for (std::size_t i = first; i < static_cast<std::size_t>(least); ++i) {
            if (x[i] != y[i]) {
                return x[i] < y[i] ? Order::less : Order::greater;
            }
        }
        return left.precision == right.precision ? Order::equal : Order::unknown;
    }
    const auto earliest = [](const Temporal& t) {
        return point_of(t, t.has_zone() ? t.zone : 14 * 60);
    };
    const auto latest = [](const Temporal& t) {
        return point_of(widest(t), t.has_zone() ? t.zone : -12 * 60);
    };
    if (latest(a) < earliest(b)) {
        return Order::less;
    }
    return earliest(a) > latest(b) ? Order::greater : Order::unknown;
}

bool equivalent(const Temporal& a, const Temporal& b) {
    if ((a.kind == Temporal::Kind::time) != (b.kind == Temporal::Kind::time) ||
        a.precision != b.precision ||
        (a.precision >= Precision::hour && a.kind != Temporal::Kind::time &&
         a.has_zone() != b.has_zone())) {
        return false;
    }
    return compare(a, b) == Order::equal;
}

std::optional<Temporal> boundary(const Temporal& value, int digits, bool high) {
    Temporal t = value;
    if (high) {
        t = widest(t);
        if (value.precision == Precision::hour) {
            // An hour alone means its first minute here, as in the official tests.
            t.minute = 0;
        }
        // Boundaries have no more than milliseconds.
        t.nanosecond = t.nanosecond / 1'000'000 * 1'000'000;
        if (value.precision == Precision::second && value.fraction_digits == 0) {
            t.nanosecond = 999'000'000;
        }
    }
    const bool whole = digits == (t.kind == Temporal::Kind::time ? 9 : 17);
    Precision wanted = whole ? Precision::second : Precision::none;
    if (t.kind == Temporal::Kind::time) {
        for (const Digits& row : kTimeDigits) {
            wanted = row.digits == digits ? row.precision : wanted;
        }
    } else {
        for (const Digits& row : kDateDigits) {
            wanted = row.digits == digits ? row.precision : wanted;
        }
        if (t.kind == Temporal::Kind::date && wanted > Precision::day) {
            t.kind = Temporal::Kind::date_time;
        }
    }
    if (wanted == Precision::none) {
        return std::nullopt;
    }
    t.precision = wanted;
    t.fraction_digits = whole ? 3 : 0;
    if (!whole) {
        t.nanosecond = 0;
    }
    if (t.kind == Temporal::Kind::date_time && wanted <= Precision::day) {
        t.zone = Temporal::kNoZone;
    } else if (t.kind == Temporal::Kind::date_time && !t.has_zone()) {
        t.zone = high ? -12 * 60 : 14 * 60;
    }
    return t;
}

int precision_digits(const Temporal& value) {
    if (value.precision == Precision::second && value.fraction_digits > 0) {
        return value.kind == Temporal::Kind::time ? 9 : 17;
    }
    const int digits = 2 + 2 * static_cast<int>(value.precision);  // four of a year
    return value.kind == Temporal::Kind::time ? digits - 8 : digits;
}

Temporal date_time_of(std::int64_t microseconds_since_1970) {
    constexpr std::int64_t kDayMicroseconds = 86'400'000'000;
    std::int64_t days = microseconds_since_1970 / kDayMicroseconds;
    std::int64_t rest = microseconds_since_1970 % kDayMicroseconds;
    if (rest < 0) {
        rest += kDayMicroseconds;
        --days;
    }
    Temporal t;
    t.kind = Temporal::Kind::date_time;
    set_day(t, days);
    set_time_of_day(t, rest / 1000 * 1'000'000);
    t.fraction_digits = 3;
    t.precision = Precision::second;
    t.zone = 0;
    return t;
}

}  // namespace annals::fhirpath
