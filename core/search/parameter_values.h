// The values of a search parameter in a resource, as JSON: for sorting, for including, and for what the index can't decide.
//
// Layer:   core/search.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "core/base/result.h"
#include "core/search/expression_budget.h"
#include "core/search/parameters.h"

#include <functional>

namespace annals::core::search {

/// The parameter's expression, parsed once for all. Errors: as Expression::parse.
Result<fhirpath::Expression> expression_of(const Parameter& parameter);

/// Calls `found` for each item that the parameter's expression yields for `resource`, including computed ones; for none
/// if it can't be evaluated. `budget`: of the resource. Lifetime of the items: the call of `found`.
void for_each_parameter_item(const Parameter& parameter, json::Value resource,
                             ExpressionBudget& budget,
                             const std::function<void(const fhirpath::Item& item)>& found);

/// The same for items that are elements of the resource. Lifetime of the values: that of the resource.
void for_each_parameter_value(const Parameter& parameter, json::Value resource,
                              ExpressionBudget& budget,
                              const std::function<void(json::Value value)>& found);

}  // namespace annals::core::search
