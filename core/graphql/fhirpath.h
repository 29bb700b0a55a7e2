// FHIRPath in a GraphQL query: filters, and what slices are called by.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Field Arguments", "Converting Lists to singletons".
// Threads: plain functions, with an evaluator of their thread.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace annals::core::graphql {

/// Whether `item`, the one of that number in its list, passes. `resource`: that it is in.
/// Errors: processing, too_costly.
Result<bool> passes_filter(const fhirpath::Expression& filter, const fhirpath::Item& item,
                           json::Value resource, std::uint64_t index);

/// What an expression gives as text; empty: nothing. Errors: processing (several items), too_costly.
Result<std::string> text_by(const fhirpath::Expression& expression, const fhirpath::Item& item,
                            json::Value resource, std::uint64_t index);

}  // namespace annals::core::graphql
