// Criteria by their names: parameters, chains over references in both directions, and parameters of all types.

#include "core/search/container.h"
#include "core/search/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::core::search {

namespace {

using MaybePlan = std::optional<Plan>;

Error too_deep(std::string_view name) {
    return {Errc::too_costly, fmt::format("search parameter '{}': a chain has at most {} links",
                                          name, kSearchChainMax)};
}

// A name up to its first '.', split at its first ':'.
struct Segment {
    std::string_view code;
    std::string_view modifier;
    bool has_modifier = false;
    std::optional<std::string_view> rest;  ///< after the '.'
};

Segment first_segment(std::string_view name) {
    Segment segment;
    const std::string_view first = name.substr(0, name.find('.'));
    if (first.size() != name.size()) {
        segment.rest = name.substr(first.size() + 1);
    }
    const std::size_t colon = first.find(':');
    segment.code = first.substr(0, colon);
    if (colon != std::string_view::npos) {
        segment.modifier = first.substr(colon + 1);
        segment.has_modifier = true;
    }
    return segment;
}

// Whether it is one of the parameters in search.html#all that are not simply values of the resource.
bool is_common(std::string_view code) noexcept {
    static constexpr std::array<std::string_view, 5> kCommon{"_filter", "_list", "_text",
                                                             "_content", kNamedQuery};
    return std::ranges::find(kCommon, code) != kCommon.end();
}

// Requires: is_common(segment.code).
Result<Plan> common_plan(Reading& reading, TypeId type, std::string_view name,
                         const Segment& segment, std::string_view value) {
    if (segment.has_modifier) {
        return unsupported_modifier(name, segment.modifier);
    }
    if (segment.code == kNamedQuery) {
        return Error{Errc::not_supported,
                     fmt::format("_query: the query '{}' does not exist", shown(value))};
    }
    ANNALS_TRY_VOID(reading.spend());
    const bool full_text = segment.code == "_text" || segment.code == "_content";
    if (full_text && ++reading.full_texts[type.value] > kFullTextsMax) {
        return Error{Errc::too_costly, fmt::format("more than {} texts are searched for in each {}",
                                                   kFullTextsMax, resource_type_name(type))};
    }
    return segment.code == "_filter" ? filter_plan(reading, type, value)
           : segment.code == "_list" ? list_plan(reading, type, value)
                                     : full_text_plan(name, value);
}

// The types that a link may lead to, each with a plan for its resources.
struct Targets {
    std::vector<TypeId> types;
    std::vector<Plan> plans;
};

// search.html#contained: a chained condition is also evaluated on contained resources, and on the first resource of a
// Bundle, which takes the place of a reference. They have no index entries, but resources that refer to any by the
// parameter do. Whoever may see the container may see them.
Plan inner_link(const Asked& asked, Targets targets) {
    const auto within = [reader = ExtractReader(asked.reading.context),
                         &parameter = asked.parameter, type = asked.type,
                         targets = std::move(targets.types)](
                            json::Value resource, Container& container, const Plan::Judge& judge) {
        Extractor& extractor = reader.extractor();
        storage::SearchEntries references;
        extractor.extract(parameter, type, resource, references, &container);
        const auto matches = [&](json::Value inner, Container& around) {
            const auto target = find_resource_type(inner["resourceType"].string());
            const auto at = target ? std::ranges::find(targets, *target) : targets.end();
            if (at == targets.end() ||
                !std::ranges::binary_search(
                    references.terms, inner_reference(parameter.column, inner["id"].string()))) {
                return false;
            }
            // Part 0 is for the candidates.
            return judge(static_cast<std::size_t>(at - targets.begin()) + 1, inner, around,
                         [&](storage::SearchEntries& entries) {
                             entries = around.entries(*target, inner, extractor);
                         });
        };
        for (const json::Value contained : container.contained().elements()) {
            if (!container.look()) {
                break;
            }
            if (matches(contained, container)) {
                return true;
            }
        }
        const auto entries = resource["entry"].elements();
        const json::Value first =
            entries.begin() != entries.end() ? (*entries.begin())["resource"] : json::Value();
        Container around(first);
        return first && matches(first, around);
    };
    return contained(carrying({inner_reference(asked.parameter.column)}), std::move(targets.plans),
                     within);
}

}  // namespace

Result<MaybePlan> link_plan(const Asked& asked, const TargetPlan& target) {
    if (asked.parameter.type != schema::SearchType::reference) {
        return asked.bad("only references can be followed");
    }
    if (asked.depth >= kSearchChainMax) {
        return too_deep(asked.name);
    }
    std::vector<TypeId> types = targets_of(asked.parameter);
    if (!asked.modifier.empty()) {
        ANNALS_TRY(const TypeId type, type_in_modifier(asked));
        types = {type};
    }
    // Some of the types may not know the name, or give it another meaning.
    std::vector<Plan> plans;
    Targets targets;
    std::optional<Error> fault;
    bool known = false;
    for (const TypeId type : types) {
        const std::size_t followed = asked.reading.followed;
        const std::size_t spent = asked.reading.spent;
        ANNALS_TRY_VOID(asked.reading.spend());
        ANNALS_TRY_VOID(asked.reading.follow());
        Result<MaybePlan> plan = target(type, asked.depth + 1);
        if (!plan && plan.error().code == Errc::too_costly) {
            return std::move(plan.error());
        }
        if (!plan) {
            fault = fault ? std::move(fault) : std::move(plan.error());
        } else if (*plan) {
            known = true;
            // The plan is kept twice, with all of its conditions and links.
            ANNALS_TRY_VOID(asked.reading.spend(asked.reading.spent - spent));
            ANNALS_TRY_VOID(asked.reading.follow(asked.reading.followed - followed));
            targets.types.push_back(type);
            targets.plans.push_back(**plan);
            plans.push_back(
                chain(asked.parameter.column, type, asked.reading.linked(type, **std::move(plan))));
        }
    }
    if (!known && fault) {
        return *std::move(fault);
    }
    if (!known) {
        return MaybePlan();
    }
    plans.push_back(inner_link(asked, std::move(targets)));
    return MaybePlan(any_of(std::move(plans)));
}

Result<MaybePlan> has_plan(
    Reading& reading, TypeId type, std::string_view name, std::size_t depth,
    const std::function<Result<MaybePlan>(TypeId, std::string_view, std::size_t)>& target) {
    if (depth >= kSearchChainMax) {
        return too_deep(name);
    }
    std::string_view rest = name.substr(std::string_view("_has:").size());
    const std::size_t first = rest.find(':');
    const std::size_t second = first == std::string_view::npos ? first : rest.find(':', first + 1);
    if (second == std::string_view::npos) {
        return bad_value(name, "_has:Type:reference:parameter is needed");
    }
    const auto source = find_resource_type(rest.substr(0, first));
    if (!source) {
        return bad_value(name, fmt::format("'{}' is not a resource type", rest.substr(0, first)));
    }
    const std::string_view code = rest.substr(first + 1, second - first - 1);
    const Parameter* parameter = reading.context.parameters->find_usable(*source, code);
    if (parameter == nullptr || !leads_to(*parameter, type)) {
        return bad_value(name, fmt::format("'{}' of {} does not lead to {}", code,
                                           rest.substr(0, first), resource_type_name(type)));
    }
    ANNALS_TRY_VOID(reading.spend());
    ANNALS_TRY(MaybePlan plan, target(*source, rest.substr(second + 1), depth + 1));
    return plan ? MaybePlan(
                      has(parameter->column, *source, reading.linked(*source, *std::move(plan))))
                : MaybePlan();
}

Result<MaybePlan> criterion_plan(Reading& reading, TypeId type, std::string_view name,
                                 std::string_view value, std::size_t depth) {
    if (name.starts_with("_has:")) {
        return has_plan(reading, type, name, depth,
                        [&](TypeId source, std::string_view rest, std::size_t below) {
                            return criterion_plan(reading, source, rest, value, below);
                        });
    }
    const Segment segment = first_segment(name);
    const bool common = !segment.rest && is_common(segment.code);
    const Parameter* const parameter =
        common ? nullptr : reading.context.parameters->find_usable(type, segment.code);
    if (!common && parameter == nullptr) {
        return MaybePlan();
    }
    if (segment.has_modifier && segment.modifier.empty()) {
        return unsupported_modifier(name, segment.modifier);
    }
    if (common) {
        ANNALS_TRY(Plan plan, common_plan(reading, type, name, segment, value));
        return MaybePlan(std::move(plan));
    }
    const Asked asked{reading, type, *parameter, name, segment.modifier, depth};
    if (!segment.rest) {
        ANNALS_TRY(Plan plan, parameter_plan(asked, value));
        return MaybePlan(std::move(plan));
    }
    return link_plan(asked, [&](TypeId target, std::size_t below) {
        return criterion_plan(reading, target, *segment.rest, value, below);
    });
}

}  // namespace annals::core::search
