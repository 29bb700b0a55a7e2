// Whether what an operation selects is there to be selected, before anything is read.
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

/// Fields and fragments of an operation, those of fragments as often as they are used.
inline constexpr std::size_t kFieldsMax = 1000;

/// Values of arguments, as often as they are used.
inline constexpr std::size_t kArgumentBytesMax = 512 << 10;

/// The operation called `name`, or the only one. Errors: invalid; not_supported (no query). `fault`: where.
Result<const OperationDefinition*> choose_operation(const Document& document, std::string_view name,
                                                    Location& fault);

/// Checks an operation against what `root` has: fields, arguments, directives, variables, fragments.
///
/// Errors: invalid, required, not_supported; too_costly beyond kFieldsMax. `fault`: where.
Result<void> validate(const Document& document, const OperationDefinition& operation,
                      const Scope& root, const Variables& variables,
                      const search::ParameterSet& parameters, Location& fault);

}  // namespace annals::core::graphql
