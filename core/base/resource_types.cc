#include "core/base/resource_types.h"

#include "core/base/check.h"
#include "core/base/digest.h"

#include <algorithm>
#include <array>

namespace annals {
namespace {

// FHIR R4 4.0.1, every concrete resource type in alphabetical order (resourcelist.html).
constexpr std::array<std::string_view, kResourceTypeCount> kNames = {
    "Account",
    "ActivityDefinition",
    "AdverseEvent",
    "AllergyIntolerance",
    "Appointment",
    "AppointmentResponse",
    "AuditEvent",
    "Basic",
    "Binary",
    "BiologicallyDerivedProduct",
    "BodyStructure",
    "Bundle",
    "CapabilityStatement",
    "CarePlan",
    "CareTeam",
    "CatalogEntry",
    "ChargeItem",
    "ChargeItemDefinition",
    "Claim",
    "ClaimResponse",
    "ClinicalImpression",
    "CodeSystem",
    "Communication",
    "CommunicationRequest",
    "CompartmentDefinition",
    "Composition",
    "ConceptMap",
    "Condition",
    "Consent",
    "Contract",
    "Coverage",
    "CoverageEligibilityRequest",
    "CoverageEligibilityResponse",
    "DetectedIssue",
    "Device",
    "DeviceDefinition",
    "DeviceMetric",
    "DeviceRequest",
    "DeviceUseStatement",
    "DiagnosticReport",
    "DocumentManifest",
    "DocumentReference",
    "EffectEvidenceSynthesis",
    "Encounter",
    "Endpoint",
    "EnrollmentRequest",
    "EnrollmentResponse",
    "EpisodeOfCare",
    "EventDefinition",
    "Evidence",
    "EvidenceVariable",
    "ExampleScenario",
    "ExplanationOfBenefit",
    "FamilyMemberHistory",
    "Flag",
    "Goal",
    "GraphDefinition",
    "Group",
    "GuidanceResponse",
    "HealthcareService",
    "ImagingStudy",
    "Immunization",
    "ImmunizationEvaluation",
    "ImmunizationRecommendation",
    "ImplementationGuide",
    "InsurancePlan",
    "Invoice",
    "Library",
    "Linkage",
    "List",
    "Location",
    "Measure",
    "MeasureReport",
    "Media",
    "Medication",
    "MedicationAdministration",
    "MedicationDispense",
    "MedicationKnowledge",
    "MedicationRequest",
    "MedicationStatement",
    "MedicinalProduct",
    "MedicinalProductAuthorization",
    "MedicinalProductContraindication",
    "MedicinalProductIndication",
    "MedicinalProductIngredient",
    "MedicinalProductInteraction",
    "MedicinalProductManufactured",
    "MedicinalProductPackaged",
    "MedicinalProductPharmaceutical",
    "MedicinalProductUndesirableEffect",
    "MessageDefinition",
    "MessageHeader",
    "MolecularSequence",
    "NamingSystem",
    "NutritionOrder",
    "Observation",
    "ObservationDefinition",
    "OperationDefinition",
    "OperationOutcome",
    "Organization",
    "OrganizationAffiliation",
    "Parameters",
    "Patient",
    "PaymentNotice",
    "PaymentReconciliation",
    "Person",
    "PlanDefinition",
    "Practitioner",
    "PractitionerRole",
    "Procedure",
    "Provenance",
    "Questionnaire",
    "QuestionnaireResponse",
    "RelatedPerson",
    "RequestGroup",
    "ResearchDefinition",
    "ResearchElementDefinition",
    "ResearchStudy",
    "ResearchSubject",
    "RiskAssessment",
    "RiskEvidenceSynthesis",
    "Schedule",
    "SearchParameter",
    "ServiceRequest",
    "Slot",
    "Specimen",
    "SpecimenDefinition",
    "StructureDefinition",
    "StructureMap",
    "Subscription",
    "Substance",
    "SubstanceNucleicAcid",
    "SubstancePolymer",
    "SubstanceProtein",
    "SubstanceReferenceInformation",
    "SubstanceSourceMaterial",
    "SubstanceSpecification",
    "SupplyDelivery",
    "SupplyRequest",
    "Task",
    "TerminologyCapabilities",
    "TestReport",
    "TestScript",
    "ValueSet",
    "VerificationResult",
    "VisionPrescription",
};

static_assert(std::is_sorted(kNames.begin(), kNames.end()));

// An open-addressing table of name hashes, built before main() and constant afterwards.
class NameTable {
  public:
    NameTable() {
        slots_.fill(kEmpty);
        for (std::uint16_t i = 0; i < kNames.size(); ++i) {
            std::size_t slot = hash64(kNames[i]) % slots_.size();
            while (slots_[slot] != kEmpty) {
                slot = (slot + 1) % slots_.size();
            }
            slots_[slot] = i;
        }
    }

    std::optional<TypeId> find(std::string_view name) const noexcept {
        std::size_t slot = hash64(name) % slots_.size();
        while (slots_[slot] != kEmpty) {
            if (kNames[slots_[slot]] == name) {
                return TypeId{slots_[slot]};
            }
            slot = (slot + 1) % slots_.size();
        }
        return std::nullopt;
    }

  private:
    static constexpr std::uint16_t kEmpty = 0xffff;
    std::array<std::uint16_t, 512> slots_;
};

const NameTable kTable;

}  // namespace

std::optional<TypeId> find_resource_type(std::string_view name) noexcept {
    return kTable.find(name);
}

std::string_view resource_type_name(TypeId type) noexcept {
    ANNALS_CHECK(type.value < kNames.size());
    return kNames[type.value];
}

std::span<const std::string_view> resource_type_names() noexcept {
    return kNames;
}

}  // namespace annals
