#include "core/search/fold.h"
#include "core/search/reading.h"

namespace annals::core::search {

// search.html#string: without a modifier by the beginning, without regard to case and accents.
Result<Plan> string_plan(const Asked& asked, std::string_view value) {
    const auto text = unescape(value);
    if (!text) {
        return asked.bad("unknown escape");
    }
    const Column column = asked.parameter.column;
    if (asked.modifier.empty()) {
        return begins_with(column, fold(*text));
    }
    if (asked.modifier == "exact") {
        return carrying({exact(column, *text)});
    }
    if (asked.modifier == "contains") {
        return containing(column, fold(*text));
    }
    return asked.unsupported();
}

}  // namespace annals::core::search
