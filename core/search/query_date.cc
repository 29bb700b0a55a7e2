#include "core/search/ranges.h"
#include "core/search/reading.h"

namespace annals::core::search {

Result<Plan> date_plan(const Asked& asked, Comparison comparison, std::string_view value) {
    if (!asked.modifier.empty()) {
        return asked.unsupported();
    }
    auto range = asked_date_range(value, asked.reading.context.parameters->zone());
    if (!range) {
        return asked.bad("a date, a date with a time, or a year or month is needed");
    }
    if (comparison == Comparison::ap) {
        // A tenth of the distance to now, in both directions (search.html#prefix).
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
