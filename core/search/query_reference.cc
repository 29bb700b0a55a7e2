#include "core/base/ids.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core::search {

namespace {

Term term_for(const Asked& asked, TypeId type, std::string_view id) {
    return reference(asked.parameter.column, asked.reading.context.stored.key(type, id));
}

// An id alone may be that of any type that the parameter leads to.
Result<Plan> by_id(const Asked& asked, std::string_view id) {
    std::vector<Term> terms;
    if (!asked.parameter.targets.empty()) {
        for (const TypeId type : asked.parameter.targets) {
            terms.push_back(term_for(asked, type, id));
        }
    } else {
        for (std::uint16_t type = 0; type < kResourceTypeCount; ++type) {
            terms.push_back(term_for(asked, TypeId{type}, id));
        }
    }
    ANNALS_TRY_VOID(asked.reading.spend(terms.size()));
    return carrying(std::move(terms));
}

}  // namespace

// search.html#reference
Result<Plan> reference_plan(const Asked& asked, std::string_view value) {
    const Column column = asked.parameter.column;
    if (asked.modifier == "identifier") {
        return token_in(asked, beside(column, ":identifier"), value);
    }
    const auto text = unescape(value);
    if (!text) {
        return asked.bad("unknown escape");
    }
    const auto local = read_local(*text, asked.reading.context.base_url);
    if (!asked.modifier.empty()) {
        const auto type = find_resource_type(asked.modifier);
        if (!type) {
            return asked.unsupported();
        }
        const auto& targets = asked.parameter.targets;
        if (!targets.empty() && std::find(targets.begin(), targets.end(), *type) == targets.end()) {
            return asked.bad("it does not lead to " + std::string(asked.modifier));
        }
        if (local && local->type == *type) {
            return carrying({term_for(asked, *type, local->id)});
        }
        if (local || !is_resource_id(*text)) {
            return asked.bad("an id is needed");
        }
        return carrying({term_for(asked, *type, *text)});
    }
    if (local && local->version.empty()) {
        return carrying({term_for(asked, local->type, local->id)});
    }
    if (local) {
        // With its version it is kept from its type on.
        return carrying(
            {exact(column, fmt::format("{}/{}/_history/{}", resource_type_name(local->type),
                                       local->id, local->version))});
    }
    if (is_resource_id(*text)) {
        return by_id(asked, *text);
    }
    // What leads elsewhere, or is a canonical, is found as it stands.
    if (text->find(':') == std::string::npos) {
        return asked.bad("an id, Type/id or an absolute URL is needed");
    }
    return carrying({exact(column, *text)});
}

}  // namespace annals::core::search
