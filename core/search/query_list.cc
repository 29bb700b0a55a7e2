#include "core/base/ids.h"
#include "core/search/reading.h"

#include <fmt/format.h>

namespace annals::core::search {

namespace {

// Whether the list is visible in the query's view.
bool is_seen(const QueryContext& context, TypeId list_type, std::string_view id, json::Value list) {
    const Plan& seen = context.view.of(list_type);
    if (seen.kind == Plan::Kind::everything || seen.kind == Plan::Kind::nothing) {
        return seen.kind == Plan::Kind::everything;
    }
    const auto written = parse_date_time(list["meta"]["lastUpdated"].string());
    return is_match(seen, ExtractReader(context).extractor(), list_type,
                    context.stored.key(list_type, id), written ? written->begin : Instant{}, list);
}

Result<void> add_entries(Reading& reading, TypeId type, json::Value list,
                         std::vector<Term>& terms) {
    for (const json::Value entry : list["entry"].elements()) {
        if (entry["deleted"].raw() == "true") {
            continue;
        }
        const std::string text = entry["item"]["reference"].string();
        const auto local = read_local(text, reading.context.base_url);
        if (local && local->type == type) {
            ANNALS_TRY_VOID(reading.spend());
            terms.push_back(identity(reading.context.stored.key(type, local->id)));
        }
    }
    return {};
}

}  // namespace

// search.html#list: the entries of stored Lists, as of the snapshot. A list that doesn't exist counts as empty.
Result<Plan> list_plan(Reading& reading, TypeId type, std::string_view value) {
    const TypeId list_type = *find_resource_type("List");
    reading.others.push_back(list_type);
    std::vector<Term> terms;
    for (std::string_view id : split_unescaped(value, ',')) {
        if (id.starts_with('$')) {
            return Error{
                Errc::not_supported,
                fmt::format("_list: the functional list '{}' is not supported", shown(id))};
        }
        if (const auto local = read_local(id, reading.context.base_url);
            local && local->type == list_type) {
            id = local->id;
        }
        if (!is_resource_id(id)) {
            return Error{Errc::invalid,
                         fmt::format("_list: '{}' is not the id of a List", shown(id))};
        }
        ANNALS_TRY_VOID(reading.spend());
        if (!reading.context.view.looks_at(list_type)) {
            continue;
        }
        ANNALS_TRY(const StoredDocument list, reading.context.stored.read(list_type, id, nullptr));
        if (list && is_seen(reading.context, list_type, id, list->root())) {
            ANNALS_TRY_VOID(add_entries(reading, type, list->root(), terms));
        }
    }
    return carrying(std::move(terms));
}

}  // namespace annals::core::search
