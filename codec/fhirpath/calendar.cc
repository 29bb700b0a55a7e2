#include "codec/fhirpath/calendar.h"

#include <array>

namespace annals::fhirpath {
namespace {

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

}  // namespace

unsigned days_in_month(int year, unsigned month) {
    constexpr std::array<std::uint8_t, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29U : kDays[month - 1];
}

std::int64_t days_of(std::int64_t year, unsigned month, unsigned day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const auto of_era = static_cast<unsigned>(year - era * 400);
    const unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    const unsigned days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146'097 + static_cast<std::int64_t>(days) - 719'468;
}

void set_civil(Temporal& t, std::int64_t days) {
    const Civil civil = civil_of(days);
    t.year = static_cast<std::int16_t>(civil.year);
    t.month = static_cast<std::uint8_t>(civil.month);
    t.day = static_cast<std::uint8_t>(civil.day);
}

bool set_day(Temporal& t, std::int64_t days) {
    if (days < days_of(1, 1, 1) || days > days_of(9999, 12, 31)) {
        return false;
    }
    set_civil(t, days);
    return true;
}

std::int64_t nanoseconds_of_day(const Temporal& t) {
    return ((std::int64_t{t.hour} * 60 + t.minute) * 60 + t.second) * 1'000'000'000 + t.nanosecond;
}

void set_time_of_day(Temporal& t, std::int64_t nanoseconds) {
    t.nanosecond = static_cast<std::int32_t>(nanoseconds % 1'000'000'000);
    const std::int64_t seconds = nanoseconds / 1'000'000'000;
    t.second = static_cast<std::uint8_t>(seconds % 60);
    t.minute = static_cast<std::uint8_t>(seconds / 60 % 60);
    t.hour = static_cast<std::uint8_t>(seconds / 3600);
}

}  // namespace annals::fhirpath
