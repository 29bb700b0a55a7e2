#include "core/search/ranges.h"
#include "core/search/reading.h"

#include <cstdlib>

namespace annals::core::search {

namespace {

// A minute (2026-01-02T10:30, with or without a zone), which is no dateTime but may be asked for.
std::optional<Range> minute_range(std::string_view text) {
    constexpr std::size_t kMinuteChars = 16;
    if (text.size() < kMinuteChars || text[10] != 'T' ||
        (text.size() > kMinuteChars && text[kMinuteChars] == ':')) {
        return std::nullopt;
    }
    std::string whole(text.substr(0, kMinuteChars));
    whole.append(":00").append(text.substr(kMinuteChars));
    auto range = date_range(whole);
    if (range) {
        range->high += 59'000'000;
    }
    return range;
}

}  // namespace

Result<Plan> date_plan(const Asked& asked, Comparison comparison, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    auto range = date_range(value);
    if (!range) {
        range = minute_range(value);
    }
    if (!range) {
        return asked.bad("a date, a date with a time, or a year or month is needed");
    }
    if (comparison == Comparison::ap) {
        // A tenth of the distance to now, to either side (search.html#prefix).
        const std::int64_t now = asked.reading.context.now.us;
        const std::int64_t gap = now < range->low    ? range->low - now
                                 : now > range->high ? now - range->high
                                                     : 0;
        range->low -= gap / 10;
        range->high += gap / 10;
    }
    return interval(asked.parameter.column, comparison, *range);
}

Result<Plan> date_plan(const Asked& asked, std::string_view value) {
    const Prefixed prefixed = take_prefix(value);
    return date_plan(asked, prefixed.comparison, prefixed.rest);
}

}  // namespace annals::core::search
