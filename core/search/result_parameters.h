// Result parameters: how what was found is ordered, counted, joined and shown.
//
// Layer:   core/search, behind query.h; criteria and searches ask is_about_the_answer().
// Spec:    FHIR R4 search.html#return.
// Threads: plain functions.

#pragma once

#include "core/search/query.h"

namespace annals::core::search {

/// Reads a parameter about the result into `query`: its fields, `used` and `warnings`. False if it is none.
///
/// Errors: invalid, not_supported; of what is unknown in a strict context, too.
Result<bool> take_result_parameter(const QueryContext& context, const std::vector<TypeId>& types,
                                   const QueryPair& pair, Query& query);

/// Whether it is one that says how the answer looks, and nothing of what is in it.
bool is_about_the_answer(std::string_view name) noexcept;

}  // namespace annals::core::search
