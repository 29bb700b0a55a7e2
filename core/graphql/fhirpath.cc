#include "core/graphql/fhirpath.h"

#include "core/graphql/call.h"

#include <span>

namespace annals::core::graphql {

namespace {

/// Steps per evaluation, which take some milliseconds at most.
constexpr std::uint64_t kStepsMax = 100'000;

fhirpath::Evaluator& evaluator() {
    thread_local fhirpath::Evaluator one;
    return one;
}

/// Calls `evaluate` with the environment of an expression.
template <typename Evaluate>
auto evaluated(const fhirpath::Item& item, json::Value resource, std::uint64_t index,
               Evaluate&& evaluate) {
    const fhirpath::Item number = fhirpath::Item::integer(static_cast<std::int64_t>(index));
    const fhirpath::Variable variables[] = {{kIndexVariable, std::span(&number, 1)}};
    fhirpath::Environment environment;
    environment.resource = fhirpath::Item::resource(resource);
    environment.root_resource = environment.resource;
    environment.context = item;
    environment.variables = variables;
    environment.limits.steps = kStepsMax;
    return evaluate(environment);
}

}  // namespace

Result<bool> passes_filter(const fhirpath::Expression& filter, const fhirpath::Item& item,
                           json::Value resource, std::uint64_t index) {
    return evaluated(item, resource, index,
                     [&](const fhirpath::Environment& environment) -> Result<bool> {
                         ANNALS_TRY(const std::optional<bool> passes,
                                    evaluator().evaluate_boolean(filter, item, environment));
                         return passes.value_or(false);
                     });
}

Result<std::string> text_by(const fhirpath::Expression& expression, const fhirpath::Item& item,
                            json::Value resource, std::uint64_t index) {
    return evaluated(item, resource, index,
                     [&](const fhirpath::Environment& environment) -> Result<std::string> {
                         ANNALS_TRY(const auto items,
                                    evaluator().evaluate(expression, item, environment));
                         if (items.size() > 1) {
                             return Error{Errc::processing, "@slice: the path gives several items"};
                         }
                         return items.empty() ? std::string() : fhirpath::to_text(items.front());
                     });
}

}  // namespace annals::core::graphql
