#include "core/interactions/search_types.h"

#include "core/base/all_resource_types.h"
#include "core/packages/package.h"
#include "core/search/compartments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace annals::core {

using search::Query;

Result<std::vector<TypeId>> searched_types(const Target& target) {
    if (target.level == Level::type || target.level == Level::type_search) {
        return std::vector{target.type};
    }
    if (!is_compartment(target.level)) {
        return std::vector<TypeId>();
    }
    if (!search::is_compartment_type(target.type)) {
        return Error{Errc::not_found,
                     fmt::format("{} has no compartments", resource_type_name(target.type))};
    }
    if (target.member == "*") {
        return search::compartment_members(target.type);
    }
    return std::vector{*find_resource_type(target.member)};
}

bool finds_several_types(const Target& target) noexcept {
    return target.level == Level::root || target.level == Level::system_search ||
           (is_compartment(target.level) && target.member == "*");
}

Result<void> enter_compartment(const storage::Store& store, const search::ParameterSet& parameters,
                               const Target& target, Query& query) {
    if (!is_compartment(target.level)) {
        return {};
    }
    const std::uint64_t key = store.search_key(target.type, target.id);
    for (Query::TypePlan& one : query.types) {
        std::optional<search::Plan> inside =
            search::in_compartment(parameters, target.type, key, one.type);
        if (!inside) {
            return Error{
                Errc::not_found,
                fmt::format("{} resources do not belong to the compartment of a {}",
                            resource_type_name(one.type), resource_type_name(target.type))};
        }
        one.plan = search::all_of(*std::move(inside), std::move(one.plan));
    }
    return {};
}

std::vector<TypeId> types_looked_at(const Query& query, const search::View& view) {
    std::vector<TypeId> types;
    const auto add = [&](TypeId type, const search::Plan& plan) {
        types.push_back(type);
        const std::vector<TypeId> others = search::related_types(plan);
        types.insert(types.end(), others.begin(), others.end());
    };
    for (const Query::TypePlan& one : query.types) {
        add(one.type, one.plan);
    }
    for (const search::Include& include : query.includes) {
        if (include.reverse && include.source) {
            add(*include.source, view.of(*include.source));
        }
    }
    return types;
}

std::vector<TypeId> carried_types(const Query& query) {
    std::vector<TypeId> types;
    const auto add = [&](TypeId type) {
        if (packages::may_define(type) && std::ranges::find(types, type) == types.end()) {
            types.push_back(type);
        }
    };
    for (const Query::TypePlan& one : query.types) {
        add(one.type);
        std::ranges::for_each(search::related_types(one.plan), add);
    }
    for (const search::Include& include : query.includes) {
        if (include.source) {
            add(*include.source);
        }
        if (include.reverse ? !include.source : include.parameter == nullptr) {
            std::ranges::for_each(kAllResourceTypes, add);
        } else if (!include.reverse) {
            std::ranges::for_each(search::targets_of(*include.parameter), add);
        }
    }
    return types;
}

}  // namespace annals::core
