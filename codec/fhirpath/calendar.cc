#include "codec/fhirpath/calendar.h"

#include "core/base/calendar.h"

#include <chrono>

namespace annals::fhirpath {

void set_civil(Temporal& t, std::int64_t days) {
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
    t.year = static_cast<std::int16_t>(static_cast<int>(date.year()));
    t.month = static_cast<std::uint8_t>(static_cast<unsigned>(date.month()));
    t.day = static_cast<std::uint8_t>(static_cast<unsigned>(date.day()));
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
