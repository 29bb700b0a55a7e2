#include "core/search/fold.h"
#include "core/search/reading.h"

#include <utility>

namespace annals::core::search {

// search.html#string: without a modifier, the beginning of the text, regardless of case and accents.
Result<Plan> string_plan(const Asked& asked, std::string_view value) {
    const auto text = unescape(value);
    if (!text) {
        return asked.bad("unknown escape");
    }
    const Column column = asked.parameter.column;
    if (asked.modifier == "exact") {
        return carrying({exact(column, *text)});
    }
    if (!asked.modifier.empty() && asked.modifier != "contains") {
        return asked.unsupported();
    }
    std::string folded = fold(*text);
    if (folded.empty()) {
        return asked.bad(kFoldsToNothing);
    }
    return asked.modifier.empty() ? begins_with(column, std::move(folded))
                                  : containing(column, std::move(folded));
}

}  // namespace annals::core::search
