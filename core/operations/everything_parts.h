// The parts of an $everything: the resources of each type that belong to it, in the order of the response.
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

/// What the request asks for.
struct EverythingScope {
    TypeId compartment;
    std::optional<std::uint64_t> key;  ///< SearchRun::key() of the resource; none: all of the type
    std::string start;                 ///< dates of care as given; empty: open
    std::string end;
    std::string since;          ///< _since, as given
    std::vector<TypeId> types;  ///< if not empty, only these
};

/// The resource itself, then others of its type, then the members of its compartment by type; types that can't have
/// any are left out. Errors: invalid (a date).
Result<std::vector<search::Query::TypePlan>> everything_parts(const search::QueryContext& context,
                                                              const EverythingScope& scope);

}  // namespace annals::core
