// The values that a search parameter has in a resource, as they stand in its JSON: for sorting and including.
//
// Layer:   core/search.
// Threads: plain functions.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "core/search/parameters.h"

#include <cstdint>
#include <functional>

namespace annals::core::search {

/// An expression that costs more steps than this on one resource finds nothing in it.
inline constexpr std::uint64_t kExpressionStepsMax = 500'000;

/// Calls `found` for each item that the parameter's expression gives for `resource`, computed ones among them; for none
/// if it can't be evaluated. Lifetime: the items are there during the call.
void for_each_parameter_item(const Parameter& parameter, json::Value resource,
                             const std::function<void(const fhirpath::Item& item)>& found);

/// The same for those that stand in the resource. Lifetime: the values are the resource's.
void for_each_parameter_value(const Parameter& parameter, json::Value resource,
                              const std::function<void(json::Value value)>& found);

}  // namespace annals::core::search
