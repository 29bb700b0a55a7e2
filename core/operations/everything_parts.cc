#include "core/operations/everything_parts.h"

#include "core/search/compartments.h"

#include <algorithm>
#include <string_view>

namespace annals::core {

namespace {

using search::Plan;
using search::Query;
using search::QueryContext;
using search::QueryPair;

struct CareDate {
    std::string_view type;
    std::string_view parameter;
};

// The search parameter for the date of care, if it isn't `date`.
constexpr CareDate kCareDates[] = {
    {"ChargeItem", "occurrence"},
    {"Communication", "sent"},
    {"CommunicationRequest", "occurrence"},
    {"Condition", "onset-date"},
    {"DetectedIssue", "identified"},
    {"DeviceRequest", "event-date"},
    {"Goal", "start-date"},
    {"ImagingStudy", "started"},
    {"MedicationAdministration", "effective-time"},
    {"MedicationDispense", "whenhandedover"},
    {"MedicationRequest", "authoredon"},
    {"MedicationStatement", "effective"},
    {"Media", "created"},
    {"NutritionOrder", "datetime"},
    {"QuestionnaireResponse", "authored"},
    {"ServiceRequest", "occurrence"},
    {"Specimen", "collected"},
    {"Task", "period"},
    {"VisionPrescription", "datewritten"},
};

/// Null if this type has no date of care.
const search::Parameter* care_date(const search::ParameterSet& parameters, TypeId type) {
    std::string_view code = "date";
    for (const CareDate& one : kCareDates) {
        code = one.type == resource_type_name(type) ? one.parameter : code;
    }
    const search::Parameter* const found = parameters.find(type, code);
    return found != nullptr && found->type == schema::SearchType::date ? found : nullptr;
}

Result<Plan> plan_of(const QueryContext& context, TypeId type,
                     const std::vector<QueryPair>& pairs) {
    ANNALS_TRY(Query query, search::parse_query(context, {type}, pairs));
    return std::move(query.types.front().plan);
}

/// A plan for those of a type that are recent enough and whose care is in the range, or has no date.
Result<Plan> in_time(const QueryContext& context, const EverythingScope& scope, TypeId type) {
    std::vector<QueryPair> pairs;
    if (!scope.since.empty()) {
        pairs.emplace_back("_lastUpdated", "ge" + scope.since);
    }
    ANNALS_TRY(Plan plan, plan_of(context, type, pairs));
    const search::Parameter* const date = care_date(*context.parameters, type);
    if ((scope.start.empty() && scope.end.empty()) || date == nullptr) {
        return plan;
    }
    // What neither ends before the range nor begins after it overlaps it, or has no date.
    if (!scope.start.empty()) {
        ANNALS_TRY(Plan before, plan_of(context, type, {{date->code, "eb" + scope.start}}));
        plan = search::all_of(std::move(plan), search::negation_of(std::move(before)));
    }
    if (!scope.end.empty()) {
        ANNALS_TRY(Plan after, plan_of(context, type, {{date->code, "sa" + scope.end}}));
        plan = search::all_of(std::move(plan), search::negation_of(std::move(after)));
    }
    return plan;
}

std::optional<Plan> belonging(const QueryContext& context, const EverythingScope& scope,
                              TypeId type) {
    return scope.key
               ? search::in_compartment(*context.parameters, scope.compartment, *scope.key, type)
               : search::in_any_compartment(*context.parameters, scope.compartment, type,
                                            context.view.of(scope.compartment));
}

}  // namespace

Result<std::vector<Query::TypePlan>> everything_parts(const QueryContext& context,
                                                      const EverythingScope& scope) {
    std::vector<Query::TypePlan> parts;
    const auto wanted = [&](TypeId type) {
        return scope.types.empty() ||
               std::find(scope.types.begin(), scope.types.end(), type) != scope.types.end();
    };
    const TypeId own = scope.compartment;
    if (wanted(own)) {
        ANNALS_TRY(Plan first, in_time(context, scope, own));
        if (scope.key) {
            first =
                search::all_of(search::carrying({search::identity(*scope.key)}), std::move(first));
        }
        parts.push_back({own, std::move(first)});
    }
    // Others of its own type come second, whatever the type's number.
    std::vector<TypeId> members = search::compartment_members(own);
    std::erase(members, own);
    members.insert(members.begin(), own);
    for (const TypeId type : members) {
        if (!wanted(type) || (type == own && !scope.key)) {
            continue;
        }
        std::optional<Plan> plan = belonging(context, scope, type);
        if (!plan) {
            continue;
        }
        if (type == own) {
            plan = search::all_of(
                *std::move(plan),
                search::negation_of(search::carrying({search::identity(*scope.key)})));
        }
        ANNALS_TRY(Plan timely, in_time(context, scope, type));
        parts.push_back({type, search::all_of(*std::move(plan), std::move(timely))});
    }
    return parts;
}

}  // namespace annals::core
