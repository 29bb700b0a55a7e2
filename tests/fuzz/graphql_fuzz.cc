// A GraphQL document, executed on the system and on a Patient: nothing crashes or takes long; what is
// refused has a location in the text; what is valid can be planned, unless two of its fields conflict.

#include "core/graphql/parser.h"
#include "core/graphql/plan.h"
#include "core/graphql/validate.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace annals::core::graphql {
namespace {

constexpr int kLevelsPlanned = 3;

void check_refusal(const Error& error, Location at, std::string_view text) {
    ANNALS_CHECK(error.code == Errc::invalid || error.code == Errc::required ||
                 error.code == Errc::not_supported || error.code == Errc::too_costly);
    const auto lines =
        1 + std::count(text.begin(), text.end(), '\n') + std::count(text.begin(), text.end(), '\r');
    ANNALS_CHECK(at.line >= 1 && at.line <= lines && at.column >= 1 &&
                 at.column <= text.size() + 1);
}

void plan_below(Planner& planner, FieldPlan& field, int levels) {
    if (levels == 0 || field.definition.is_leaf()) {
        return;
    }
    const Scope scope = scope_of(field.definition);
    for (std::size_t i = 0; i < std::min<std::size_t>(scope.types.size(), 4); ++i) {
        Location fault;
        const auto plan = planner.below(field, {scope.kind, scope.types[i]}, fault);
        if (!plan) {
            ANNALS_CHECK(plan.error().code == Errc::invalid ||
                         plan.error().code == Errc::too_costly);
            return;
        }
        for (FieldPlan& one : (*plan)->fields) {
            plan_below(planner, one, levels - 1);
        }
    }
}

void check(const Document& document, const OperationDefinition& operation, const Scope& root,
           std::string_view text) {
    Location fault;
    const Result<Variables> variables = read_variables(operation, {}, fault);
    if (!variables) {
        return check_refusal(variables.error(), fault, text);
    }
    const auto parameters = search::ParameterSet::standard();
    const Result<void> valid = validate(document, operation, root, *variables, *parameters, fault);
    if (!valid) {
        return check_refusal(valid.error(), fault, text);
    }
    Planner planner(document, operation, *variables, *parameters);
    const auto plan = planner.root({root.kind, root.types.front()}, fault);
    if (!plan) {
        ANNALS_CHECK(plan.error().code == Errc::invalid || plan.error().code == Errc::too_costly);
        return;
    }
    for (FieldPlan& field : (*plan)->fields) {
        plan_below(planner, field, kLevelsPlanned);
    }
}

}  // namespace
}  // namespace annals::core::graphql

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals::core::graphql;
    const std::vector<char> copy(data, data + size);
    const std::string_view text(copy.data(), copy.size());
    Location fault;
    const auto document = parse(text, fault);
    if (!document) {
        check_refusal(document.error(), fault, text);
        return 0;
    }
    const auto operation = choose_operation(*document, "", fault);
    if (!operation) {
        check_refusal(operation.error(), fault, text);
        return 0;
    }
    check(*document, **operation, Scope(), text);
    check(*document, **operation, {ObjectKind::fhir, {annals::schema::find_type("Patient")}}, text);
    return 0;
}
