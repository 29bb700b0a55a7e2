#include "codec/fhirpath/temporal.h"

#include <array>

namespace annals::fhirpath {
namespace {

using Kind = Temporal::Kind;
using Precision = Temporal::Precision;

constexpr std::int64_t kDayNanoseconds = 86'400'000'000'000;
constexpr std::int64_t kMinuteNanoseconds = 60'000'000'000;

unsigned days_in_month(int year, unsigned month) {
    constexpr std::array<std::uint8_t, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29U : kDays[month - 1];
}

struct Civil {
    int year;
    unsigned month;
    unsigned day;
};

Civil civil_of(std::int64_t days) {
    days += 719'468;
    const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
    const auto of_era = static_cast<unsigned>(days - era * 146'097);
    const unsigned year_of_era =
        (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
    const unsigned of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const unsigned shifted = (5 * of_year + 2) / 153;
    const unsigned day = of_year - (153 * shifted + 2) / 5 + 1;
    const unsigned month = shifted < 10 ? shifted + 3 : shifted - 9;
    const auto year = static_cast<int>(year_of_era) + static_cast<int>(era * 400);
    return {month <= 2 ? year + 1 : year, month, day};
}

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool done() const { return at_ == text_.size(); }

    bool take(char c) {
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    // Exactly `count` digits; -1 if they aren't there.
    int digits(int count) {
        int value = 0;
        for (int i = 0; i < count; ++i) {
            if (at_ == text_.size() || text_[at_] < '0' || text_[at_] > '9') {
                return -1;
            }
            value = value * 10 + (text_[at_++] - '0');
        }
        return value;
    }

    bool fraction(Temporal& out) {
        int digits = 0;
        std::int32_t nanosecond = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            if (digits < 9) {
                nanosecond = nanosecond * 10 + (text_[at_] - '0');
                ++digits;
            }
            ++at_;
        }
        out.fraction_digits = static_cast<std::uint8_t>(digits);
        for (int i = digits; i < 9; ++i) {
            nanosecond *= 10;
        }
        out.nanosecond = nanosecond;
        return digits > 0;
    }

  private:
    std::string_view text_;
    std::size_t at_ = 0;
};

bool read_date(Reader& reader, Temporal& out) {
    const int year = reader.digits(4);
    if (year < 1) {
        return false;
    }
    out.year = static_cast<std::int16_t>(year);
    out.precision = Precision::year;
    if (!reader.take('-')) {
        return true;
    }
    const int month = reader.digits(2);
    if (month < 1 || month > 12) {
        return false;
    }
    out.month = static_cast<std::uint8_t>(month);
    out.precision = Precision::month;
    if (!reader.take('-')) {
        return true;
    }
    const int day = reader.digits(2);
    if (day < 1 || static_cast<unsigned>(day) > days_in_month(year, out.month)) {
        return false;
    }
    out.day = static_cast<std::uint8_t>(day);
    out.precision = Precision::day;
    return true;
}

bool read_time(Reader& reader, Temporal& out) {
    const int hour = reader.digits(2);
    if (hour < 0 || hour > 23) {
        return false;
    }
    out.hour = static_cast<std::uint8_t>(hour);
    out.precision = Precision::hour;
    if (!reader.take(':')) {
        return true;
    }
    const int minute = reader.digits(2);
    if (minute < 0 || minute > 59) {
        return false;
    }
    out.minute = static_cast<std::uint8_t>(minute);
    out.precision = Precision::minute;
    if (!reader.take(':')) {
        return true;
    }
    const int second = reader.digits(2);
    if (second < 0 || second > 59) {
        return false;
    }
    out.second = static_cast<std::uint8_t>(second);
    out.precision = Precision::second;
    return !reader.take('.') || reader.fraction(out);
}

bool read_zone(Reader& reader, Temporal& out) {
    if (reader.take('Z')) {
        out.zone = 0;
        return true;
    }
    const bool west = reader.take('-');
    if (!west && !reader.take('+')) {
        return true;
    }
    const int hours = reader.digits(2);
    const bool colon = reader.take(':');
    const int minutes = reader.digits(2);
    if (hours < 0 || hours > 14 || !colon || minutes < 0 || minutes > 59 ||
        (hours == 14 && minutes != 0)) {
        return false;
    }
    const int zone = hours * 60 + minutes;
    out.zone = static_cast<std::int16_t>(west ? -zone : zone);
    return true;
}

std::int64_t nanoseconds_of_day(const Temporal& t) {
    return ((std::int64_t{t.hour} * 60 + t.minute) * 60 + t.second) * 1'000'000'000 + t.nanosecond;
}

// Nanoseconds since 1970 need more than 64 bits: days apart from nanoseconds.
struct Point {
    std::int64_t day;
    std::int64_t nanosecond;

    auto operator<=>(const Point&) const = default;
};

Point point_of(const Temporal& t, std::int64_t minutes_off) {
    std::int64_t day = t.kind == Kind::time ? 0 : days_of(t.year, t.month, t.day);
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
    const Civil civil = civil_of(point.day);
    Temporal utc = t;
    utc.year = static_cast<std::int16_t>(civil.year);
    utc.month = static_cast<std::uint8_t>(civil.month);
    utc.day = static_cast<std::uint8_t>(civil.day);
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

// The last instant that `t` can mean: what it doesn't say is at its greatest.
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

void write_digits(char* out, std::size_t& at, int value, int digits) {
    for (int i = digits; i-- > 0;) {
        out[at + static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    at += static_cast<std::size_t>(digits);
}

bool set_day(Temporal& t, std::int64_t days) {
    if (days < days_of(1, 1, 1) || days > days_of(9999, 12, 31)) {
        return false;
    }
    const Civil civil = civil_of(days);
    t.year = static_cast<std::int16_t>(civil.year);
    t.month = static_cast<std::uint8_t>(civil.month);
    t.day = static_cast<std::uint8_t>(civil.day);
    return true;
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

std::int64_t days_of(std::int64_t year, unsigned month, unsigned day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const auto of_era = static_cast<unsigned>(year - era * 400);
    const unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const unsigned days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146'097 + static_cast<std::int64_t>(days) - 719'468;
}

std::optional<Temporal> parse_date(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Kind::date;
    if (!read_date(reader, t) || !reader.done()) {
        return std::nullopt;
    }
    return t;
}

std::optional<Temporal> parse_date_time(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Kind::date_time;
    if (!read_date(reader, t)) {
        return std::nullopt;
    }
    if (reader.take('T') && !reader.done() &&
        (t.precision != Precision::day || !read_time(reader, t) || !read_zone(reader, t))) {
        return std::nullopt;
    }
    return reader.done() ? std::optional(t) : std::nullopt;
}

std::optional<Temporal> parse_time(std::string_view text) {
    Reader reader(text);
    Temporal t;
    t.kind = Kind::time;
    if (!read_time(reader, t) || !reader.done()) {
        return std::nullopt;
    }
    return t;
}

Order compare(const Temporal& a, const Temporal& b) {
    if (a.kind == Kind::time || a.has_zone() == b.has_zone()) {
        const Temporal left = in_utc(a);
        const Temporal right = in_utc(b);
        const Precision least = left.precision < right.precision ? left.precision : right.precision;
        const auto x = parts_of(left);
        const auto y = parts_of(right);
        const std::size_t first = a.kind == Kind::time ? 3 : 0;
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
    if ((a.kind == Kind::time) != (b.kind == Kind::time) || a.precision != b.precision ||
        (a.precision >= Precision::hour && a.kind != Kind::time && a.has_zone() != b.has_zone())) {
        return false;
    }
    return compare(a, b) == Order::equal;
}

std::optional<Temporal> add(const Temporal& value, std::int64_t count, Calendar unit) {
    constexpr std::int64_t kCountMax = 400'000'000'000'000;  // ten thousand years of milliseconds
    if (count > kCountMax || count < -kCountMax) {
        return std::nullopt;
    }
    Temporal t = value;
    if (t.kind == Kind::time) {
        std::int64_t unit_nanoseconds = 0;
        switch (unit) {
            case Calendar::hour:
                unit_nanoseconds = 60 * kMinuteNanoseconds;
                break;
            case Calendar::minute:
                unit_nanoseconds = kMinuteNanoseconds;
                break;
            case Calendar::second:
                unit_nanoseconds = 1'000'000'000;
                break;
            case Calendar::millisecond:
                unit_nanoseconds = 1'000'000;
                break;
            default:
                return std::nullopt;
        }
        const std::int64_t step = t.precision == Precision::hour     ? 60 * kMinuteNanoseconds
                                  : t.precision == Precision::minute ? kMinuteNanoseconds
                                                                     : 1;
        const std::int64_t in_day = kDayNanoseconds / unit_nanoseconds;
        std::int64_t change = count % in_day * unit_nanoseconds;
        change -= change % step;
        std::int64_t now = (nanoseconds_of_day(t) + change) % kDayNanoseconds;
        now += now < 0 ? kDayNanoseconds : 0;
        t.nanosecond = static_cast<std::int32_t>(now % 1'000'000'000);
        now /= 1'000'000'000;
        t.second = static_cast<std::uint8_t>(now % 60);
        t.minute = static_cast<std::uint8_t>(now / 60 % 60);
        t.hour = static_cast<std::uint8_t>(now / 3600);
        if (unit == Calendar::millisecond && t.precision == Precision::second &&
            t.fraction_digits < 3) {
            t.fraction_digits = 3;
        }
        return t;
    }
    if (unit == Calendar::year || unit == Calendar::month) {
        if (count > 120'000 || count < -120'000) {
            return std::nullopt;
        }
        std::int64_t months = unit == Calendar::year ? count * 12 : count;
        months -= t.precision == Precision::year ? months % 12 : 0;
        return add_months(t, months);
    }
    // Everything else is a number of milliseconds.
    constexpr std::array<std::int64_t, 8> kMilliseconds{0,         0,      604'800'000, 86'400'000,
                                                        3'600'000, 60'000, 1000,        1};
    const std::int64_t each = kMilliseconds[static_cast<std::size_t>(unit)];
    if (count > kCountMax / each || count < -kCountMax / each) {
        return std::nullopt;
    }
    const std::int64_t milliseconds = count * each;
    const std::int64_t days = milliseconds / 86'400'000;
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
    std::int64_t change = milliseconds % 86'400'000;
    const std::int64_t step = t.precision == Precision::hour     ? 3'600'000
                              : t.precision == Precision::minute ? 60'000
                                                                 : 1;
    change -= change % step;
    std::int64_t day = days_of(t.year, t.month, t.day) + days;
    std::int64_t now = nanoseconds_of_day(t) + change * 1'000'000;
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
    t.nanosecond = static_cast<std::int32_t>(now % 1'000'000'000);
    now /= 1'000'000'000;
    t.second = static_cast<std::uint8_t>(now % 60);
    t.minute = static_cast<std::uint8_t>(now / 60 % 60);
    t.hour = static_cast<std::uint8_t>(now / 3600);
    if (unit == Calendar::millisecond && t.precision == Precision::second &&
        t.fraction_digits < 3) {
        t.fraction_digits = 3;
    }
    return t;
}

std::optional<Temporal> boundary(const Temporal& value, int digits, bool high) {
    Temporal t = value;
    if (high) {
        t = widest(t);
        if (value.precision == Precision::hour) {
            t.minute =
                0;  // an hour alone means its first minute here, as the official tests have it
        }
        // Milliseconds are the finest that a boundary has.
        t.nanosecond = t.nanosecond / 1'000'000 * 1'000'000;
        if (value.precision == Precision::second && value.fraction_digits == 0) {
            t.nanosecond = 999'000'000;
        }
    }
    const bool whole = digits == (t.kind == Kind::time ? 9 : 17);
    Precision wanted = whole ? Precision::second : Precision::none;
    if (t.kind == Kind::time) {
        for (const Digits& row : kTimeDigits) {
            wanted = row.digits == digits ? row.precision : wanted;
        }
    } else {
        for (const Digits& row : kDateDigits) {
            wanted = row.digits == digits ? row.precision : wanted;
        }
        if (t.kind == Kind::date && wanted > Precision::day) {
            t.kind = Kind::date_time;
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
    if (t.kind == Kind::date_time && wanted <= Precision::day) {
        t.zone = Temporal::kNoZone;
    } else if (t.kind == Kind::date_time && !t.has_zone()) {
        t.zone = high ? -12 * 60 : 14 * 60;
    }
    return t;
}

int precision_digits(const Temporal& value) {
    if (value.precision == Precision::second && value.fraction_digits > 0) {
        return value.kind == Kind::time ? 9 : 17;
    }
    const int digits =
        value.precision == Precision::year ? 4 : 2 + 2 * static_cast<int>(value.precision);
    return value.kind == Kind::time ? digits - 8 : digits;
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
    t.kind = Kind::date_time;
    set_day(t, days);
    t.nanosecond = static_cast<std::int32_t>(rest % 1'000'000 / 1000 * 1'000'000);
    rest /= 1'000'000;
    t.second = static_cast<std::uint8_t>(rest % 60);
    t.minute = static_cast<std::uint8_t>(rest / 60 % 60);
    t.hour = static_cast<std::uint8_t>(rest / 3600);
    t.fraction_digits = 3;
    t.precision = Precision::second;
    t.zone = 0;
    return t;
}

std::size_t Temporal::write(char* out) const {
    std::size_t at = 0;
    if (kind != Kind::time) {
        write_digits(out, at, year, 4);
        if (precision >= Precision::month) {
            out[at++] = '-';
            write_digits(out, at, month, 2);
        }
        if (precision >= Precision::day) {
            out[at++] = '-';
            write_digits(out, at, day, 2);
        }
        if (precision >= Precision::hour) {
            out[at++] = 'T';
        }
    }
    if (precision >= Precision::hour) {
        write_digits(out, at, hour, 2);
    }
    if (precision >= Precision::minute) {
        out[at++] = ':';
        write_digits(out, at, minute, 2);
    }
    if (precision >= Precision::second) {
        out[at++] = ':';
        write_digits(out, at, second, 2);
        if (fraction_digits > 0) {
            out[at++] = '.';
            int value = nanosecond;
            for (int i = fraction_digits; i < 9; ++i) {
                value /= 10;
            }
            write_digits(out, at, value, fraction_digits);
        }
    }
    if (kind == Kind::date_time && precision >= Precision::hour && has_zone()) {
        if (zone == 0) {
            out[at++] = 'Z';
        } else {
            const int minutes = zone < 0 ? -zone : zone;
            out[at++] = zone < 0 ? '-' : '+';
            write_digits(out, at, minutes / 60, 2);
            out[at++] = ':';
            write_digits(out, at, minutes % 60, 2);
        }
    }
    return at;
}

}  // namespace annals::fhirpath
