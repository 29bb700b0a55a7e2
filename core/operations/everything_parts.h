// The parts of an $everything: what of each type belongs to it, in the order in which it is told.
//
// Layer:   core/operations.
// Spec:    FHIR R4 patient-operation-everything.html, encounter-operation-everything.html; docs/api/everything.md.
// Threads: plain functions and values.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/search/plan.h"
#include "core/search/query.h"

#include <optional>
#include <string>
#include <vector>

namespace annals::core {

/// What is asked for.
struct EverythingScope {
    TypeId compartment;
    std::optional<std::uint64_t>
        key;            ///< SearchRun::key() of the one resource; none: of all of the type
    std::string start;  ///< dates of care as they were given; empty: open
    std::string end;
    std::string since;          ///< _since, as it was given
    std::vector<TypeId> types;  ///< none but these, if there are any
};

/// The resource itself, then others of its type, then the members of its compartment by type; a type that can't have
/// any is left out. Errors: invalid (a date).
Result<std::vector<search::Query::TypePlan>> everything_parts(const search::QueryContext& context,
                                                              const EverythingScope& scope);

}  // namespace annals::core
