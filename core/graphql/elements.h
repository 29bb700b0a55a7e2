// Elements of a resource as a field of a GraphQL query wants them: the values, and which of a list.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Field Arguments".
// Threads: plain functions; choose_elements() on the loop of its request, in turns.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "codec/json/document.h"
#include "codec/schema/schema.h"
#include "core/base/result.h"
#include "core/graphql/plan.h"
#include "core/interactions/turns.h"

#include <cstdint>
#include <vector>

namespace annals::core::graphql {

/// The values of an element, be there one or several.
std::vector<json::Value> values_of(json::Value value);

/// An element that holds a resource is of that resource's type; missing: of none that is known.
schema::Type type_of(schema::Element element, json::Value value);

/// What FHIRPath is asked about.
fhirpath::Item item_of(json::Value value, schema::Type type);

/// An element, and its number in the list.
struct Numbered {
    json::Value value;
    std::uint64_t index = 0;
};

/// Those of an element's values that the arguments of `field` ask for. `resource`: that they are in.
/// Lifetime: the arguments outlive the await. Errors: processing, too_costly; timeout.
asio::awaitable<Result<std::vector<Numbered>>> choose_elements(json::Value value,
                                                               const FieldPlan& field,
                                                               json::Value resource, Turns& turns);

}  // namespace annals::core::graphql
