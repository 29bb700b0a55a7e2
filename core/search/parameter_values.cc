#include "core/search/parameter_values.h"

#include "core/search/values.h"

namespace annals::core::search {

Result<fhirpath::Expression> expression_of(const Parameter& parameter) {
    static fhirpath::ExpressionCache expressions;
    return expressions.get(parameter.expression);
}

void for_each_parameter_item(const Parameter& parameter, json::Value resource,
                             ExpressionBudget& budget,
                             const std::function<void(const fhirpath::Item& item)>& found) {
    thread_local fhirpath::Evaluator evaluator;
    const Result<fhirpath::Expression> expression = expression_of(parameter);
    if (!expression) {
        return;
    }
    // `where(resolve() is Patient)` is decided by the reference's text.
    static const fhirpath::Hooks hooks{
        .resolve = [](std::string_view reference) -> Result<std::optional<fhirpath::Item>> {
            const auto type = read_reference(reference, {}).type;
            return type ? std::optional(fhirpath::Item::of_type(schema::Type(*type)))
                        : std::nullopt;
        },
        .member_of = {},
        .subsumes = {},
        .conforms_to = {},
        .trace = {}};
    fhirpath::Environment environment;
    environment.hooks = &hooks;
    environment.limits.steps = budget.next();
    environment.union_keeps_equal = true;
    const auto items =
        evaluator.evaluate(*expression, fhirpath::Item::resource(resource), environment);
    budget.spend(evaluator.steps());
    if (!items) {
        return;
    }
    for (const fhirpath::Item& item : *items) {
        found(item);
    }
}

void for_each_parameter_value(const Parameter& parameter, json::Value resource,
                              ExpressionBudget& budget,
                              const std::function<void(json::Value value)>& found) {
    for_each_parameter_item(parameter, resource, budget, [&](const fhirpath::Item& item) {
        if (item.is_element() && item.value()) {
            found(item.value());
        }
    });
}

}  // namespace annals::core::search
