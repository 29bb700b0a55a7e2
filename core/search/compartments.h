// Compartments: which resources belong to a Patient, Encounter, RelatedPerson, Practitioner or Device.
//
// Layer:   core/search.
// Spec:    FHIR R4 compartmentdefinition.html and the five definitions of it.
// Threads: constant data.

#pragma once

#include "core/base/resource_types.h"
#include "core/search/parameters.h"
#include "core/search/plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace annals::core::search {

/// Types that have compartments.
std::span<const std::string_view> compartment_types() noexcept;

bool is_compartment_type(TypeId type) noexcept;

/// The types that can belong to a compartment of `compartment`, by number.
std::vector<TypeId> compartment_members(TypeId compartment);

/// Whether resources of `type` can belong to the compartment of a Patient.
bool belongs_to_patients(TypeId type) noexcept;

/// The parameters by which resources of `type` belong to compartments of `compartment`; none if they can't. Lifetime: of
/// `parameters`.
std::vector<const Parameter*> compartment_parameters(const ParameterSet& parameters,
                                                     TypeId compartment, TypeId type);

/// What resources of `type` match that belong to the compartment of the resource with this SearchRun::key(); none
/// if the type has no part in such compartments. A resource belongs to its own.
std::optional<Plan> in_compartment(const ParameterSet& parameters, TypeId compartment,
                                   std::uint64_t key, TypeId type);

/// The same for the compartments of any of these.
std::optional<Plan> in_compartments(const ParameterSet& parameters, TypeId compartment,
                                    std::span<const std::uint64_t> keys, TypeId type);

/// What resources of `type` match that belong to the compartment of any live resource that matches `of`; none if the type
/// has no part in such compartments. Of the compartment's own type that is everything.
std::optional<Plan> in_any_compartment(const ParameterSet& parameters, TypeId compartment,
                                       TypeId type, const Plan& of = everything());

TypeId patient_type() noexcept;

/// Whether resources of `type` can be a Patient's: in his compartment, or Devices, which R4 left out of it though they say whose
/// they are.
bool may_be_of_patients(TypeId type) noexcept;

/// What resources of `type` match that are of the Patients with these SearchRun::key()s; none if they can't be.
std::optional<Plan> of_patients(const ParameterSet& parameters, std::span<const std::uint64_t> keys,
                                TypeId type);

/// The same of any live Patient.
std::optional<Plan> of_any_patient(const ParameterSet& parameters, TypeId type);

}  // namespace annals::core::search
