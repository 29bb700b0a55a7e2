// FHIRPath in a GraphQL query: filters, and the names of slices.
//
// Layer:   core/graphql.
// Spec:    FHIR R4 graphql.html, "Field Arguments", "Converting Lists to singletons".
// Threads: plain functions; they use an evaluator of their thread.

#pragma once

#include "codec/fhirpath/fhirpath.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>

namespace annals::core::graphql {

/// Whether `item`, at that index in its list, passes the filter. `resource`: the one that contains it.
/// Errors: processing, too_costly.
Result<bool> passes_filter(const fhirpath::Expression& filter, const fhirpath::Item& item,
                           json::Value resource, std::uint64_t index);

/// The result of an expression as text; empty if there is none. Errors: processing (several items), too_costly.
Result<std::string> text_by(const fhirpath::Expression& expression, const fhirpath::Item& item,
                            json::Value resource, std::uint64_t index);

}  // namespace annals::core::graphql
