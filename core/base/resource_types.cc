#include "core/base/resource_types.h"

#include "core/base/bytes.h"
#include "core/base/check.h"

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

constexpr std::size_t kNameBytesMin = 4;
static_assert(std::ranges::all_of(kNames, [](std::string_view name) {
    return name.size() >= kNameBytesMin;
}));

// A name's size, and its first and last eight bytes, or its first and last four: all of a name of up to 16 bytes.
// No two names have the same. Requires: at least kNameBytesMin bytes.
struct Ends {
    std::size_t size;
    std::uint64_t first;
    std::uint64_t last;

    bool operator==(const Ends&) const = default;
};

Ends ends_of(std::string_view name) noexcept {
    const char* const begin = name.data();
    const std::size_t size = name.size();
    const char* const end = begin + size;
    return size >= 8 ? Ends{size, load_le<std::uint64_t>(begin), load_le<std::uint64_t>(end - 8)}
                     : Ends{size, load_le<std::uint32_t>(begin), load_le<std::uint32_t>(end - 4)};
}

// An open-addressing table of names by their ends, built before main() and constant afterwards.
class NameTable {
  public:
    NameTable() {
        slots_.fill(kEmpty);
        for (std::uint16_t i = 0; i < kNames.size(); ++i) {
            ends_[i] = ends_of(kNames[i]);
            std::size_t slot = slot_of(ends_[i]);
            while (slots_[slot] != kEmpty) {
                ANNALS_CHECK(ends_[slots_[slot]] != ends_[i]);
                slot = (slot + 1) % slots_.size();
            }
            slots_[slot] = i;
        }
    }

    std::optional<TypeId> find(std::string_view name) const noexcept {
        if (name.size() < kNameBytesMin) {
            return std::nullopt;
        }
        const Ends ends = ends_of(name);
        std::size_t slot = slot_of(ends);
        while (slots_[slot] != kEmpty && ends_[slots_[slot]] != ends) {
            slot = (slot + 1) % slots_.size();
        }
        const std::uint16_t i = slots_[slot];
        if (i == kEmpty || (name.size() > 16 && kNames[i] != name)) {
            return std::nullopt;
        }
        return TypeId{i};
    }

  private:
    static constexpr std::uint16_t kEmpty = 0xffff;

    static std::size_t slot_of(const Ends& ends) noexcept {
        // The upper bits depend on all bits below them.
        return (ends.first * 0x9e37'79b9'7f4a'7c15 + ends.last * 0xc2b2'ae3d'27d4'eb4f) >> 55;
    }

    std::array<std::uint16_t, 512> slots_;
    std::array<Ends, kNames.size()> ends_;
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
