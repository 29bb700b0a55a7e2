// The elements of a resource that a field of a GraphQL query selects.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Field Arguments".
// Threads: plain functions; choose_elements() on the loop of its request, in slices.

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

/// The values of an element, whether it is a list or not.
std::vector<json::Value> values_of(json::Value value);

/// The type of an element; if it holds a resource, that resource's type, or missing if that is unknown.
schema::Type type_of(schema::Element element, json::Value value);

/// The FHIRPath item for a value.
fhirpath::Item item_of(json::Value value, schema::Type type);

/// An element with its index in the list.
struct Numbered {
    json::Value value;
    std::uint64_t index = 0;
};

/// The values of an element that the arguments of `field` select. `resource`: the one that they belong to.
/// Lifetime: the arguments outlive the await. Errors: processing, too_costly; timeout.
asio::awaitable<Result<std::vector<Numbered>>> choose_elements(json::Value value,
                                                               const FieldPlan& field,
                                                               json::Value resource, Turns& turns);

}  // namespace annals::core::graphql
