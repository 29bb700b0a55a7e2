// Result parameters: how matches are sorted, counted, joined and presented.
//
// Layer:   core/search, behind query.h; is_about_the_answer() is also used by interactions and operations.
// Spec:    FHIR R4 search.html#return.
// Threads: plain functions.

#pragma once

#include "core/search/query.h"

namespace annals::core::search {

/// Reads a result parameter into `query`: its fields, `used` and `warnings`. False if it is not one.
///
/// Errors: invalid, not_supported, in a strict context also for what would otherwise be ignored; too_costly (too many sort keys
/// or includes).
Result<bool> take_result_parameter(const QueryContext& context, const std::vector<TypeId>& types,
                                   const QueryPair& pair, Query& query);

/// Whether it determines only how the answer is presented, not what it contains.
bool is_about_the_answer(std::string_view name) noexcept;

}  // namespace annals::core::search
