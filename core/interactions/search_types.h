// The types that a search is about: those that its path names, and those that decide what it finds.
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

/// The types that the path names; none: all of them. Errors: not_found: what it names has no compartments.
Result<std::vector<TypeId>> searched_types(const Target& target);

/// Whether the path leads to resources of several types. `_type` may say which.
bool finds_several_types(const Target& target) noexcept;

/// Where the path names a compartment: of each type, only what belongs to it. Errors: not_found: nothing of a type can.
Result<void> enter_compartment(const storage::Store& store, const search::ParameterSet& parameters,
                               const Target& target, search::Query& query);

/// The types whose resources, or links, decide what is found, and what of it `view` sees.
std::vector<TypeId> types_looked_at(const search::Query& query, const search::View& view);

/// Those that are looked at and that a package may define resources of.
std::vector<TypeId> carried_types(const search::Query& query);

}  // namespace annals::core
