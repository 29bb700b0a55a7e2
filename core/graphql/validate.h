// Checks an operation before anything is read: whether everything that it selects exists.
//
// Layer:   core/graphql.
// Spec:    GraphQL (June 2018), section 5 Validation, as far as the answer depends on it.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/graphql/call.h"
#include "core/graphql/document.h"
#include "core/graphql/types.h"

#include <cstddef>
#include <string_view>

namespace annals::core::graphql {

/// The maximum number of fields and fragments in an operation, with fragments counted at each use.
inline constexpr std::size_t kFieldsMax = 1000;

/// The maximum size of all arguments, with variables counted at each use.
inline constexpr std::size_t kArgumentBytesMax = 512 << 10;

/// The operation called `name`, or the only one. Errors: invalid; not_supported (not a query). `fault`: where.
Result<const OperationDefinition*> choose_operation(const Document& document, std::string_view name,
                                                    Location& fault);

/// Checks an operation on `root`: fields, arguments, directives, variables, fragments.
///
/// Errors: invalid, required, not_supported; too_costly (beyond kFieldsMax or kArgumentBytesMax, or too deep). `fault`: where.
Result<void> validate(const Document& document, const OperationDefinition& operation,
                      const Scope& root, const Variables& variables,
                      const search::ParameterSet& parameters, Location& fault);

}  // namespace annals::core::graphql
