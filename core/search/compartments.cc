#include "core/search/compartments.h"

#include "core/base/parts.h"

#include <algorithm>
#include <array>

namespace annals::core::search {

namespace {

// A type, and the parameters by which its resources belong to a compartment.
struct Member {
    std::string_view type;
    std::string_view parameters;
};

constexpr Member kPatient[] = {
    {"Account", "subject"},
    {"AdverseEvent", "subject"},
    {"AllergyIntolerance", "patient recorder asserter"},
    {"Appointment", "actor"},
    {"AppointmentResponse", "actor"},
    {"AuditEvent", "patient"},
    {"Basic", "patient author"},
    {"BodyStructure", "patient"},
    {"CarePlan", "patient performer"},
    {"CareTeam", "patient participant"},
    {"ChargeItem", "subject"},
    {"Claim", "patient payee"},
    {"ClaimResponse", "patient"},
    {"ClinicalImpression", "subject"},
    {"Communication", "subject sender recipient"},
    {"CommunicationRequest", "subject sender recipient requester"},
    {"Composition", "subject author attester"},
    {"Condition", "patient asserter"},
    {"Consent", "patient"},
    {"Coverage", "policy-holder subscriber beneficiary payor"},
    {"CoverageEligibilityRequest", "patient"},
    {"CoverageEligibilityResponse", "patient"},
    {"DetectedIssue", "patient"},
    {"DeviceRequest", "subject performer"},
    {"DeviceUseStatement", "subject"},
    {"DiagnosticReport", "subject"},
    {"DocumentManifest", "subject author recipient"},
    {"DocumentReference", "subject author"},
    {"Encounter", "patient"},
    {"EnrollmentRequest", "subject"},
    {"EpisodeOfCare", "patient"},
    {"ExplanationOfBenefit", "patient payee"},
    {"FamilyMemberHistory", "patient"},
    {"Flag", "patient"},
    {"Goal", "patient"},
    {"Group", "member"},
    {"ImagingStudy", "patient"},
    {"Immunization", "patient"},
    {"ImmunizationEvaluation", "patient"},
    {"ImmunizationRecommendation", "patient"},
    {"Invoice", "subject patient recipient"},
    {"List", "subject source"},
    {"MeasureReport", "patient"},
    {"Media", "subject"},
    {"MedicationAdministration", "patient performer subject"},
    {"MedicationDispense", "subject patient receiver"},
    {"MedicationRequest", "subject"},
    {"MedicationStatement", "subject"},
    {"MolecularSequence", "patient"},
    {"NutritionOrder", "patient"},
    {"Observation", "subject performer"},
    {"Patient", "link"},
    {"Person", "patient"},
    {"Procedure", "patient performer"},
    {"Provenance", "patient"},
    {"QuestionnaireResponse", "subject author"},
    {"RelatedPerson", "patient"},
    {"RequestGroup", "subject participant"},
    {"ResearchSubject", "individual"},
    {"RiskAssessment", "subject"},
    {"Schedule", "actor"},
    {"ServiceRequest", "subject performer"},
    {"Specimen", "subject"},
    {"SupplyDelivery", "patient"},
    {"SupplyRequest", "subject"},
    {"VisionPrescription", "patient"},
};

constexpr Member kEncounter[] = {
    {"CarePlan", "encounter"},
    {"CareTeam", "encounter"},
    {"ChargeItem", "context"},
    {"Claim", "encounter"},
    {"ClinicalImpression", "encounter"},
    {"Communication", "encounter"},
    {"CommunicationRequest", "encounter"},
    {"Composition", "encounter"},
    {"Condition", "encounter"},
    {"DeviceRequest", "encounter"},
    {"DiagnosticReport", "encounter"},
    {"DocumentManifest", "related-ref"},
    {"DocumentReference", "encounter"},
    {"ExplanationOfBenefit", "encounter"},
    {"Media", "encounter"},
    {"MedicationAdministration", "context"},
    {"MedicationRequest", "encounter"},
    {"NutritionOrder", "encounter"},
    {"Observation", "encounter"},
    {"Procedure", "encounter"},
    {"QuestionnaireResponse", "encounter"},
    {"RequestGroup", "encounter"},
    {"ServiceRequest", "encounter"},
    {"VisionPrescription", "encounter"},
};

constexpr Member kRelatedPerson[] = {
    {"AdverseEvent", "recorder"},
    {"AllergyIntolerance", "asserter"},
    {"Appointment", "actor"},
    {"AppointmentResponse", "actor"},
    {"Basic", "author"},
    {"CarePlan", "performer"},
    {"CareTeam", "participant"},
    {"ChargeItem", "enterer performer-actor"},
    {"Claim", "payee"},
    {"Communication", "sender recipient"},
    {"CommunicationRequest", "sender recipient requester"},
    {"Composition", "author"},
    {"Condition", "asserter"},
    {"Coverage", "policy-holder subscriber payor"},
    {"DocumentManifest", "author recipient"},
    {"DocumentReference", "author"},
    {"Encounter", "participant"},
    {"ExplanationOfBenefit", "payee"},
    {"Invoice", "recipient"},
    {"MedicationAdministration", "performer"},
    {"MedicationStatement", "source"},
    {"Observation", "performer"},
    {"Patient", "link"},
    {"Person", "link"},
    {"Procedure", "performer"},
    {"Provenance", "agent"},
    {"QuestionnaireResponse", "author source"},
    {"RequestGroup", "participant"},
    {"Schedule", "actor"},
    {"ServiceRequest", "performer"},
    {"SupplyRequest", "requester"},
};

constexpr Member kPractitioner[] = {
    {"Account", "subject"},
    {"AdverseEvent", "recorder"},
    {"AllergyIntolerance", "recorder asserter"},
    {"Appointment", "actor"},
    {"AppointmentResponse", "actor"},
    {"AuditEvent", "agent"},
    {"Basic", "author"},
    {"CarePlan", "performer"},
    {"CareTeam", "participant"},
    {"ChargeItem", "enterer performer-actor"},
    {"Claim", "enterer provider payee care-team"},
    {"ClaimResponse", "requestor"},
    {"ClinicalImpression", "assessor"},
    {"Communication", "sender recipient"},
    {"CommunicationRequest", "sender recipient requester"},
    {"Composition", "subject author attester"},
    {"Condition", "asserter"},
    {"CoverageEligibilityRequest", "enterer provider"},
    {"CoverageEligibilityResponse", "requestor"},
    {"DetectedIssue", "author"},
    {"DeviceRequest", "requester performer"},
    {"DiagnosticReport", "performer"},
    {"DocumentManifest", "subject author recipient"},
    {"DocumentReference", "subject author authenticator"},
    {"Encounter", "practitioner participant"},
    {"EpisodeOfCare", "care-manager"},
    {"ExplanationOfBenefit", "enterer provider payee care-team"},
    {"Flag", "author"},
    {"Group", "member"},
    {"Immunization", "performer"},
    {"Invoice", "participant"},
    {"Linkage", "author"},
    {"List", "source"},
    {"Media", "subject operator"},
    {"MedicationAdministration", "performer"},
    {"MedicationDispense", "performer receiver"},
    {"MedicationRequest", "requester"},
    {"MedicationStatement", "source"},
    {"MessageHeader", "receiver author responsible enterer"},
    {"NutritionOrder", "provider"},
    {"Observation", "performer"},
    {"Patient", "general-practitioner"},
    {"PaymentNotice", "provider"},
    {"PaymentReconciliation", "requestor"},
    {"Person", "practitioner"},
    {"PractitionerRole", "practitioner"},
    {"Procedure", "performer"},
    {"Provenance", "agent"},
    {"QuestionnaireResponse", "author source"},
    {"RequestGroup", "participant author"},
    {"ResearchStudy", "principalinvestigator"},
    {"RiskAssessment", "performer"},
    {"Schedule", "actor"},
    {"ServiceRequest", "performer requester"},
    {"Specimen", "collector"},
    {"SupplyDelivery", "supplier receiver"},
    {"SupplyRequest", "requester"},
    {"VisionPrescription", "prescriber"},
};

constexpr Member kDevice[] = {
    {"Account", "subject"},
    {"Appointment", "actor"},
    {"AppointmentResponse", "actor"},
    {"AuditEvent", "agent"},
    {"ChargeItem", "enterer performer-actor"},
    {"Claim", "procedure-udi item-udi detail-udi subdetail-udi"},
    {"Communication", "sender recipient"},
    {"CommunicationRequest", "sender recipient"},
    {"Composition", "author"},
    {"DetectedIssue", "author"},
    {"DeviceRequest", "device subject requester performer"},
    {"DeviceUseStatement", "device"},
    {"DiagnosticReport", "subject"},
    {"DocumentManifest", "subject author"},
    {"DocumentReference", "subject author"},
    {"ExplanationOfBenefit", "procedure-udi item-udi detail-udi subdetail-udi"},
    {"Flag", "author"},
    {"Group", "member"},
    {"Invoice", "participant"},
    {"List", "subject source"},
    {"Media", "subject"},
    {"MedicationAdministration", "device"},
    {"MessageHeader", "target"},
    {"Observation", "subject device"},
    {"Provenance", "agent"},
    {"QuestionnaireResponse", "author"},
    {"RequestGroup", "author"},
    {"RiskAssessment", "performer"},
    {"Schedule", "actor"},
    {"ServiceRequest", "performer requester"},
    {"Specimen", "subject"},
    {"SupplyRequest", "requester"},
};

struct Compartment {
    std::string_view type;
    std::span<const Member> members;
};

constexpr Compartment kCompartments[] = {
    {"Patient", kPatient},           {"Encounter", kEncounter}, {"RelatedPerson", kRelatedPerson},
    {"Practitioner", kPractitioner}, {"Device", kDevice},
};

constexpr auto kTypes = [] {
    std::array<std::string_view, std::size(kCompartments)> types;
    std::ranges::transform(kCompartments, types.begin(), &Compartment::type);
    return types;
}();

const Compartment* find_compartment(TypeId type) noexcept {
    const auto* const found =
        std::ranges::find(kCompartments, resource_type_name(type), &Compartment::type);
    return found == std::end(kCompartments) ? nullptr : found;
}

}  // namespace

std::span<const std::string_view> compartment_types() noexcept {
    return kTypes;
}

bool is_compartment_type(TypeId type) noexcept {
    return find_compartment(type) != nullptr;
}

std::vector<TypeId> compartment_members(TypeId compartment) {
    std::vector<TypeId> types;
    const Compartment* const found = find_compartment(compartment);
    if (found == nullptr) {
        return types;
    }
    types.push_back(compartment);
    for (const Member& member : found->members) {
        if (const auto type = find_resource_type(member.type); type && *type != compartment) {
            types.push_back(*type);
        }
    }
    std::ranges::sort(types);
    return types;
}

bool belongs_to_patients(TypeId type) noexcept {
    static const auto members = [] {
        std::array<bool, kResourceTypeCount> all{};
        for (const TypeId member : compartment_members(*find_resource_type("Patient"))) {
            all[member.value] = true;
        }
        return all;
    }();
    return members[type.value];
}

namespace {

/// The parameters by which resources of `type` belong to a compartment.
std::vector<const Parameter*> members_by(const ParameterSet& parameters, const Compartment& found,
                                         TypeId type) {
    std::vector<const Parameter*> by;
    for (const Member& member : found.members) {
        if (member.type != resource_type_name(type)) {
            continue;
        }
        for (std::string_view rest = member.parameters; !rest.empty();) {
            if (const Parameter* const parameter = parameters.find(type, take_until(rest, ' '))) {
                by.push_back(parameter);
            }
        }
    }
    return by;
}

/// in_compartment() for the compartments of any of these.
std::optional<Plan> in_compartments(const ParameterSet& parameters, TypeId compartment,
                                    std::span<const std::uint64_t> keys, TypeId type) {
    const Compartment* const found = find_compartment(compartment);
    if (found == nullptr) {
        return {};
    }
    const std::vector<const Parameter*> members = members_by(parameters, *found, type);
    if (members.empty() && type != compartment) {
        return {};
    }
    std::vector<Term> terms;
    terms.reserve(keys.size() * (members.size() + 1));
    for (const std::uint64_t key : keys) {
        if (type == compartment) {
            terms.push_back(identity(key));
        }
        for (const Parameter* const parameter : members) {
            terms.push_back(reference(parameter->column, key));
        }
    }
    return carrying(std::move(terms));
}

}  // namespace

std::vector<const Parameter*> compartment_parameters(const ParameterSet& parameters,
                                                     TypeId compartment, TypeId type) {
    const Compartment* const found = find_compartment(compartment);
    return found == nullptr ? std::vector<const Parameter*>()
                            : members_by(parameters, *found, type);
}

std::optional<Plan> in_compartment(const ParameterSet& parameters, TypeId compartment,
                                   std::uint64_t key, TypeId type) {
    return in_compartments(parameters, compartment, std::span(&key, 1), type);
}

std::optional<Plan> in_any_compartment(const ParameterSet& parameters, TypeId compartment,
                                       TypeId type, const Plan& of) {
    const Compartment* const found = find_compartment(compartment);
    if (found == nullptr) {
        return {};
    }
    if (type == compartment) {
        return everything();
    }
    std::vector<Plan> any;
    for (const Parameter* const parameter : members_by(parameters, *found, type)) {
        any.push_back(chain(parameter->column, compartment, of));
    }
    if (any.empty()) {
        return {};
    }
    return any_of(std::move(any));
}

TypeId patient_type() noexcept {
    static const TypeId type = *find_resource_type("Patient");
    return type;
}

namespace {

TypeId device_type() {
    static const TypeId type = *find_resource_type("Device");
    return type;
}

// By which devices refer to their patient.
Column device_column(const ParameterSet& parameters) {
    return parameters.find(device_type(), "patient")->column;
}

}  // namespace

bool may_be_of_patients(TypeId type) noexcept {
    return type == device_type() || belongs_to_patients(type);
}

std::optional<Plan> of_patients(const ParameterSet& parameters, std::span<const std::uint64_t> keys,
                                TypeId type) {
    if (type != device_type()) {
        return in_compartments(parameters, patient_type(), keys, type);
    }
    std::vector<Term> terms;
    terms.reserve(keys.size());
    for (const std::uint64_t key : keys) {
        terms.push_back(reference(device_column(parameters), key));
    }
    return carrying(std::move(terms));
}

std::optional<Plan> of_any_patient(const ParameterSet& parameters, TypeId type) {
    return type == device_type() ? chain(device_column(parameters), patient_type(), everything())
                                 : in_any_compartment(parameters, patient_type(), type);
}

}  // namespace annals::core::search
