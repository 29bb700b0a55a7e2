#include "core/search/result_parameters.h"

#include "core/search/reading.h"
#include "core/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core::search {

namespace {

constexpr std::size_t kSortKeysMax = 20;
constexpr std::size_t kIncludesMax = 200;

Error invalid(std::string_view name, std::string_view why) {
    return {Errc::invalid, fmt::format("{}: {}", name, why)};
}

/// An error if a parameter that may occur only once is repeated.
Result<void> once(const Query& query, const QueryPair& pair) {
    const bool again =
        std::ranges::find(query.used, pair.first, &QueryPair::first) != query.used.end();
    return again ? Result<void>(invalid(pair.first, "is given more than once")) : Result<void>();
}

Result<void> take_count(const QueryPair& pair, Query& query) {
    query.count = read_count(pair.second);
    if (!query.count) {
        return invalid(pair.first,
                       fmt::format("'{}' is not an integer of at least 0", shown(pair.second)));
    }
    return {};
}

Result<void> take_total(const QueryPair& pair, Query& query) {
    if (pair.second == "none") {
        query.total = TotalMode::none;
    } else if (pair.second == "estimate" || pair.second == "estimated") {  // sent by HAPI's client
        query.total = TotalMode::estimate;
    } else if (pair.second == "accurate") {
        query.total = TotalMode::accurate;
    } else {
        return invalid(pair.first, fmt::format("'{}' is not one of none, estimate, accurate",
                                               shown(pair.second)));
    }
    return {};
}

Result<void> take_contained(const QueryPair& pair, Query& query) {
    if (pair.second != "true" && pair.second != "false" && pair.second != "both") {
        return invalid(pair.first,
                       fmt::format("'{}' is not one of true, false, both", shown(pair.second)));
    }
    query.contained = pair.second != "false";
    query.containing = pair.second != "true";
    return {};
}

Result<void> take_contained_type(const QueryPair& pair, Query& query) {
    if (pair.second != "container" && pair.second != "contained") {
        return invalid(pair.first,
                       fmt::format("'{}' is not one of container, contained", shown(pair.second)));
    }
    query.contained_type = pair.second == "contained";
    return {};
}

/// Sets the key's parameters by its code; false if there is none by which all types can be sorted in the same way.
bool find_sortable(const QueryContext& context, const std::vector<TypeId>& types, SortKey& key) {
    for (const TypeId type : types) {
        const Parameter* parameter = context.parameters->find_usable(type, key.code);
        if (parameter == nullptr || parameter->type == schema::SearchType::composite ||
            parameter->type == schema::SearchType::special ||
            (key.parameter != nullptr && parameter->type != key.parameter->type)) {
            return false;
        }
        key.parameter = key.parameter == nullptr ? parameter : key.parameter;
        key.of_types.emplace_back(type, parameter);
    }
    return key.parameter != nullptr;
}

Result<void> take_sort(const QueryContext& context, const std::vector<TypeId>& types,
                       const QueryPair& pair, Query& query) {
    const std::vector<std::string_view> texts = split_unescaped(pair.second, ',');
    query.sort_names += texts.size();
    if (query.sort_names > kSortKeysMax) {
        return Error{Errc::too_costly, fmt::format("_sort: more than {} keys", kSortKeysMax)};
    }
    std::string used;
    for (const std::string_view text : texts) {
        SortKey key;
        key.descending = text.starts_with('-');
        key.code = key.descending ? text.substr(1) : text;
        if (key.code.empty()) {
            return invalid(pair.first, "the name of a search parameter is needed");
        }
        if (key.code == "_lastUpdated" || key.code == "_id" || key.code == "_score" ||
            find_sortable(context, types, key)) {
            used.append(used.empty() ? "" : ",").append(text);
            query.sort.push_back(std::move(key));
        } else {
            ANNALS_TRY_VOID(pass_over(
                context, fmt::format("_sort: sorting by '{}' is not supported", shown(key.code)),
                query));
        }
    }
    if (!used.empty()) {
        query.used.emplace_back(pair.first, std::move(used));
    }
    return {};
}

/// `*`, `Type:*`, `Type:parameter` and `Type:parameter:Target`. Only a warning if it names something unknown.
Result<void> take_include(const QueryContext& context, bool iterate, const QueryPair& pair,
                          Query& query) {
    Include include;
    include.reverse = pair.first.starts_with("_rev");
    include.iterate = iterate;
    if (query.includes.size() == kIncludesMax) {
        return Error{Errc::too_costly, fmt::format("more than {} includes", kIncludesMax)};
    }
    if (pair.second == "*") {
        query.includes.push_back(include);
        query.used.push_back(pair);
        return {};
    }
    const std::string_view text = pair.second;
    const std::size_t first = text.find(':');
    if (first == std::string_view::npos) {
        return invalid(pair.first,
                       fmt::format("'{}' is not of the form Type:parameter[:Target]", shown(text)));
    }
    const std::size_t second = text.find(':', first + 1);
    const std::string_view code = text.substr(first + 1, second - first - 1);
    include.source = find_resource_type(text.substr(0, first));
    if (!include.source) {
        return invalid(pair.first,
                       fmt::format("'{}' is not a resource type", shown(text.substr(0, first))));
    }
    if (second != std::string_view::npos) {
        include.target = find_resource_type(text.substr(second + 1));
        if (!include.target) {
            return invalid(pair.first, fmt::format("'{}' is not a resource type",
                                                   shown(text.substr(second + 1))));
        }
    }
    if (code != "*") {
        include.parameter = context.parameters->find_usable(*include.source, code);
        if (include.parameter == nullptr ||
            include.parameter->type != schema::SearchType::reference) {
            return pass_over(context,
                             fmt::format("{}: {} has no reference parameter '{}'", pair.first,
                                         text.substr(0, first), shown(code)),
                             query);
        }
    }
    query.includes.push_back(include);
    query.used.push_back(pair);
    return {};
}

}  // namespace

bool is_result_parameter(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 12> kNames{
        "_include",       "_revinclude", "_sort",   "_count",  "_total",   "_contained",
        "_containedType", "_cursor",     "_format", "_pretty", "_summary", "_elements"};
    return std::ranges::find(kNames, name.substr(0, name.find(':'))) != kNames.end();
}

bool is_about_the_answer(std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 4> kNames{"_format", "_pretty", "_summary",
                                                            "_elements"};
    return std::ranges::find(kNames, name) != kNames.end();
}

Result<bool> take_result_parameter(const QueryContext& context, const std::vector<TypeId>& types,
                                   const QueryPair& pair, Query& query) {
    const std::string_view whole = pair.first;
    const std::string_view name = whole.substr(0, whole.find(':'));
    const bool has_modifier = name.size() != whole.size();
    if (name == "_include" || name == "_revinclude") {
        const std::string_view modifier = has_modifier ? whole.substr(name.size() + 1) : "";
        if (has_modifier && modifier != "iterate" && modifier != "recurse") {
            return Error{Errc::not_supported,
                         fmt::format("{}: the modifier ':{}' is not supported", whole, modifier)};
        }
        ANNALS_TRY_VOID(take_include(context, has_modifier, pair, query));
        return true;
    }
    if (!is_result_parameter(name)) {
        return false;
    }
    if (has_modifier) {
        return Error{Errc::not_supported, fmt::format("{}: it has no modifiers", whole)};
    }
    if (name == "_elements") {
        ANNALS_TRY_VOID(read_elements(pair.second, query.subset.elements));
        query.used.push_back(pair);
        return true;
    }
    // It may be repeated for further keys (search.html#table).
    if (name == "_sort") {
        ANNALS_TRY_VOID(take_sort(context, types, pair, query));
        return true;
    }
    ANNALS_TRY_VOID(once(query, pair));
    if (name == "_count") {
        ANNALS_TRY_VOID(take_count(pair, query));
    } else if (name == "_total") {
        ANNALS_TRY_VOID(take_total(pair, query));
    } else if (name == "_contained") {
        ANNALS_TRY_VOID(take_contained(pair, query));
    } else if (name == "_containedType") {
        ANNALS_TRY_VOID(take_contained_type(pair, query));
    } else if (name == "_summary") {
        ANNALS_TRY(query.subset.summary, read_summary(pair.second));
    }
    query.used.push_back(pair);
    return true;
}

}  // namespace annals::core::search
