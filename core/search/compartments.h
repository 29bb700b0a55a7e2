// Compartments: which resources belong to a Patient, Encounter, RelatedPerson, Practitioner or Device.
//
// Layer:   core/search.
// Spec:    FHIR R4 compartmentdefinition.html and its five definitions.
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

/// The types whose resources can belong to a compartment of `compartment`, in order of their numbers.
std::vector<TypeId> compartment_members(TypeId compartment);

/// Whether resources of `type` can belong to the compartment of a Patient.
bool belongs_to_patients(TypeId type) noexcept;

/// The parameters by which resources of `type` belong to compartments of `compartment`; empty if they can't. Lifetime:
/// that of `parameters`.
std::vector<const Parameter*> compartment_parameters(const ParameterSet& parameters,
                                                     TypeId compartment, TypeId type);

/// A plan for the resources of `type` in the compartment of the resource with this SearchRun::key(); none if the type
/// has no part in such compartments. A resource belongs to its own compartment.
std::optional<Plan> in_compartment(const ParameterSet& parameters, TypeId compartment,
                                   std::uint64_t key, TypeId type);

/// A plan for the resources of `type` in the compartment of any live resource that matches `of`: everything for the
/// compartment's own type; none if the type has no part in such compartments.
std::optional<Plan> in_any_compartment(const ParameterSet& parameters, TypeId compartment,
                                       TypeId type, const Plan& of = everything());

TypeId patient_type() noexcept;

/// Whether resources of `type` can belong to a Patient: by the compartment, or as a Device, which R4 left out of the
/// compartment although it refers to its patient.
bool may_be_of_patients(TypeId type) noexcept;

/// A plan for the resources of `type` that belong to the Patients with these SearchRun::key()s; none if they can't.
std::optional<Plan> of_patients(const ParameterSet& parameters, std::span<const std::uint64_t> keys,
                                TypeId type);

/// The same for any live Patient.
std::optional<Plan> of_any_patient(const ParameterSet& parameters, TypeId type);

}  // namespace annals::core::search
