// The types of a search: those that its path names, and those that affect what it finds.
//
// Layer:   core/interactions.
// Threads: plain functions.

#pragma once

#include "core/base/result.h"
#include "core/search/query.h"
#include "core/search/view.h"
#include "core/target.h"
#include "storage/store.h"

#include <vector>

namespace annals::core {

/// The types that the path names; empty: all. Errors: not_found: the type named has no compartments.
Result<std::vector<TypeId>> searched_types(const Target& target);

/// Whether the path finds resources of several types, which `_type` may restrict.
bool finds_several_types(const Target& target) noexcept;

/// If the path names a compartment, restricts each type to what belongs to it. Errors: not_found: a type is not part of
/// it.
Result<void> enter_compartment(const storage::Store& store, const search::ParameterSet& parameters,
                               const Target& target, search::Query& query);

/// The types whose resources or links affect what is found, and what `view` shows of it.
std::vector<TypeId> types_looked_at(const search::Query& query, const search::View& view);

/// Those that are searched and that a package may define resources of.
std::vector<TypeId> carried_types(const search::Query& query);

}  // namespace annals::core
