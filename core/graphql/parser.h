// The parser of GraphQL documents.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 2; no type systems, no descriptions.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/graphql/document.h"

#include <string_view>

namespace annals::core::graphql {

/// Parses a document. `fault`: where it is invalid.
///
/// Errors: invalid; too_costly (beyond a limit on documents, see document.h).
Result<Document> parse(std::string_view text, Location& fault);

}  // namespace annals::core::graphql
