#include "core/search/query.h"

#include "core/base/all_resource_types.h"
#include "core/base/sort_unique.h"
#include "core/search/reading.h"
#include "core/search/result_parameters.h"
#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::core::search {

namespace {

Error invalid(std::string detail) {
    return {Errc::invalid, std::move(detail)};
}

Error too_many_parameters() {
    return {Errc::too_costly,
            fmt::format("The search has more than {} parameters", kSearchPairsMax)};
}

// `_type` restricts the searched types; if repeated, all of them must hold.
Result<void> narrow(std::vector<TypeId>& types, std::string_view value) {
    ANNALS_TRY(const std::vector<TypeId> named, read_types(value));
    std::erase_if(types,
                  [&](TypeId type) { return std::ranges::find(named, type) == named.end(); });
    return {};
}

// The conditions on each type, in the order of Query::types.
using Conditions = std::vector<std::vector<Plan>>;

// True if all types know the criterion, which is then added to `conditions`.
Result<bool> add_criterion(Reading& reading, const std::vector<TypeId>& types,
                           const QueryPair& pair, Conditions& conditions) {
    std::vector<Plan> plans;
    plans.reserve(types.size());
    for (const TypeId type : types) {
        ANNALS_TRY(std::optional<Plan> plan,
                   criterion_plan(reading, type, pair.first, pair.second));
        if (!plan) {
            return false;
        }
        plans.push_back(*std::move(plan));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        conditions[i].push_back(std::move(plans[i]));
    }
    return true;
}

std::string unknown(const QueryContext& context, const std::vector<TypeId>& types,
                    std::string_view name) {
    for (const TypeId type : types) {
        const Parameter* parameter =
            context.parameters->find(type, name.substr(0, name.find_first_of(":.")));
        if (parameter != nullptr && !parameter->ready) {
            return fmt::format(
                "search parameter '{}' is new: the stored resources are still being indexed by it",
                name);
        }
    }
    return types.size() == 1
               ? fmt::format("search parameter '{}' is not known for {}", name,
                             resource_type_name(types.front()))
               : fmt::format("search parameter '{}' is not known for all searched types", name);
}

struct QueryReader {
    const QueryContext& context;
    Reading reading{context};
    Query query{};
    std::vector<TypeId> types{};
    Conditions conditions{};

    Result<void> take(const QueryPair& pair) {
        const auto& [name, value] = pair;
        if (context.conditional && is_about_the_answer(name)) {
            return {};
        }
        if (value.empty()) {
            return pass_over(context, fmt::format("search parameter '{}' has no value", name),
                             query);
        }
        if (name == "_type") {
            query.used.push_back(pair);
            return {};
        }
        if (name.starts_with("_type:")) {
            return unsupported_modifier(name, name.substr(std::string_view("_type:").size()));
        }
        ANNALS_TRY(const bool about_result, take_result_parameter(context, types, pair, query));
        if (about_result && context.conditional) {
            return invalid(
                fmt::format("'{}' is not a search parameter that can be used here", name));
        }
        if (about_result) {
            return {};
        }
        ANNALS_TRY(const bool known, add_criterion(reading, types, pair, conditions));
        if (!known) {
            return pass_over(context, unknown(context, types, name), query);
        }
        query.used.push_back(pair);
        return {};
    }
};

}  // namespace

Result<std::vector<QueryPair>> decode_pairs(std::string_view text) {
    const auto ampersands = static_cast<std::size_t>(std::ranges::count(text, '&'));
    if (ampersands >= kSearchPairsMax) {
        return too_many_parameters();
    }
    return core::parse_query(text);
}

std::string escape_value(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == ',' || c == '$' || c == '|') {
            out += '\\';
        }
        out += c;
    }
    return out;
}

Result<TypeId> read_type(std::string_view name) {
    const std::optional<TypeId> type = find_resource_type(name);
    return type ? Result<TypeId>(*type)
                : invalid(fmt::format("_type: '{}' is not a resource type", shown(name)));
}

Result<std::vector<TypeId>> read_types(std::string_view list) {
    std::vector<TypeId> types;
    if (list.empty()) {
        return types;
    }
    for (const std::string_view name : split_unescaped(list, ',')) {
        ANNALS_TRY(const TypeId type, read_type(name));
        types.push_back(type);
    }
    return types;
}

Result<Query> parse_query(const QueryContext& context, std::vector<TypeId> types,
                          std::span<const QueryPair> pairs) {
    QueryReader reader{context};
    if (pairs.size() > kSearchPairsMax) {
        return too_many_parameters();
    }
    if (types.empty()) {
        types.assign(kAllResourceTypes.begin(), kAllResourceTypes.end());
    }
    reader.types = std::move(types);
    for (const auto& [name, value] : pairs) {
        if (name.size() > kSearchNameBytesMax) {
            return Error{
                Errc::too_costly,
                fmt::format("search parameter '{}...': the name is too long", shown(name))};
        }
        if (value.size() > kSearchValueBytesMax) {
            return Error{Errc::too_costly,
                         fmt::format("search parameter '{}': the value is too long", name)};
        }
        if (name == "_type" && !value.empty()) {
            ANNALS_TRY_VOID(narrow(reader.types, value));
        }
    }
    reader.conditions.resize(reader.types.size());
    reader.query.used.reserve(pairs.size());
    reader.query.types.reserve(reader.types.size());
    for (const QueryPair& pair : pairs) {
        ANNALS_TRY_VOID(reader.take(pair));
    }
    Query query = std::move(reader.query);
    query.others = std::move(reader.reading.others);
    sort_unique(query.others);
    if (query.subset.summary != Summary::none && !query.subset.elements.empty()) {
        return invalid("_summary and _elements cannot be combined");
    }
    if (query.subset.summary == Summary::text && !query.includes.empty()) {
        return invalid("_summary=text cannot be combined with _include or _revinclude");
    }
    if (query.count == 0) {
        query.subset = {Summary::count, {}};
    }
    if (query.subset.summary == Summary::count) {
        query.count = 0;
    }
    bool any = false;
    for (std::size_t i = 0; i < reader.types.size(); ++i) {
        any = any || !reader.conditions[i].empty();
        const TypeId type = reader.types[i];
        Plan plan = all_of(std::move(reader.conditions[i]));
        if (!query.contained || !context.shown_by_container) {
            plan = seen_of(context.view, type, std::move(plan));
        }
        query.types.push_back({type, std::move(plan)});
    }
    if (context.conditional && !any) {
        return invalid("there are no search criteria");
    }
    return query;
}

}  // namespace annals::core::search
