#include "core/operations/signatures.h"

#include <algorithm>
#include <array>

namespace annals::core {

namespace {

// clang-format off
constexpr auto kSignatures = std::to_array<Signature>({
    {"http://hl7.org/fhir/OperationDefinition/Resource-validate",
     "Validates a resource as with validation = full",
     "resource:Resource mode:code profile:uri*", "OperationOutcome"},
    {"http://hl7.org/fhir/OperationDefinition/Resource-meta",
     "Returns profiles, tags and security labels; POST on a resource adds some", "meta:Meta"},
    {"http://hl7.org/fhir/OperationDefinition/Resource-meta-add",
     "Adds profiles, tags and security labels to a resource", "meta:Meta!"},
    {"http://hl7.org/fhir/OperationDefinition/Resource-meta-delete",
     "Removes profiles, tags and security labels from a resource", "meta:Meta!"},
    {"urn:x-annals:OperationDefinition:diff",
     "Returns the patch that turns one version of a resource into another",
     "from:string fromVersion:string to:string toVersion:string includeMeta:boolean"},
    {"urn:x-annals:OperationDefinition:diff-resources",
     "Returns the patch that turns one resource, or a version of it, into another",
     "from:string! to:string! includeMeta:boolean"},
    {"urn:x-annals:OperationDefinition:purge",
     "Erases a patient and everything that belongs to the patient", "dryRun:boolean includeShared:boolean"},
    {"urn:x-annals:OperationDefinition:purge-history",
     "Erases all versions of a resource except the current one", ""},
    {"urn:x-annals:OperationDefinition:restore",
     "Writes an earlier version of a resource as its newest", "version:string!", "Resource"},
    {"http://hl7.org/fhir/OperationDefinition/Observation-lastn",
     "Finds the newest Observations of each code",
     "max:positiveInt patient:string subject:string category:string* code:string* date:string* status:string*", "Bundle"},
    {"http://hl7.org/fhir/OperationDefinition/Observation-stats",
     "Returns statistics of a subject's Observations",
     "subject:uri! code:string* system:uri coding:Coding* duration:decimal period:Period statistic:code* include:boolean limit:positiveInt"},
    {"http://hl7.org/fhir/us/core/OperationDefinition/docref",
     "Finds the documents of a patient", "patient:id! start:dateTime end:dateTime type:CodeableConcept on-demand:boolean", "Bundle"},
    {"http://hl7.org/fhir/OperationDefinition/Patient-match",
     "Finds Patients that may be the same person", "resource:Patient! onlyCertainMatches:boolean count:integer", "Bundle"},
    {"http://hl7.org/fhir/OperationDefinition/Resource-graphql",
     "Answers a GraphQL query", "query:string! operationName:string variables:string _asOf:string", "Binary"},
    {"urn:x-annals:OperationDefinition:undo",
     "Reverts what was written between two positions, or by one transaction or request",
     "from:integer to:integer position:integer transaction:integer requestId:string dryRun:boolean"},
    {"http://hl7.org/fhir/OperationDefinition/CapabilityStatement-versions",
     "Lists the supported versions of FHIR", ""},
    {"http://hl7.org/fhir/OperationDefinition/Patient-everything",
     "Returns everything that belongs to a patient",
     "start:date end:date _since:instant _type:code* _count:integer _asOf:string _cursor:string", "Bundle"},
    {"http://hl7.org/fhir/OperationDefinition/Encounter-everything",
     "Returns everything that belongs to an encounter",
     "start:date end:date _since:instant _type:code* _count:integer _asOf:string _cursor:string", "Bundle"},
    {"http://hl7.org/fhir/OperationDefinition/Composition-document",
     "Creates a document from a Composition and what it refers to",
     "id:uri persist:boolean graph:uri _asOf:string", "Bundle"},
    {"urn:x-annals:OperationDefinition:backup", "Makes a backup of the store", "to:string!"},
    {"urn:x-annals:OperationDefinition:restore-backup",
     "Restores what a backup contains and the store lacks", "from:string! position:integer instant:instant"},
    {"urn:x-annals:OperationDefinition:digest",
     "Returns hashes of the store's contents, to be compared with those of another server", "prefix:string"},
    {"http://hl7.org/fhir/OperationDefinition/ValueSet-expand",
     "Lists the codes of a value set",
     "url:uri valueSet:ValueSet context:uri contextDirection:code date:dateTime valueSetVersion:string filter:string count:integer offset:integer activeOnly:boolean "
     "displayLanguage:code includeDesignations:boolean designation:string* includeDefinition:boolean excludeNested:boolean "
     "excludeNotForUI:boolean excludePostCoordinated:boolean system-version:canonical* "
     "check-system-version:canonical* force-system-version:canonical* exclude-system:canonical*", "ValueSet"},
    {"http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code",
     "Checks whether a code is in a value set",
     "url:uri valueSet:ValueSet valueSetVersion:string context:uri code:code system:uri systemVersion:string "
     "display:string coding:Coding codeableConcept:CodeableConcept date:dateTime abstract:boolean displayLanguage:code "
     "inferSystem:boolean"},
    {"http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code",
     "Checks whether a code is in a code system",
     "url:uri codeSystem:CodeSystem code:code system:uri version:string display:string coding:Coding "
     "codeableConcept:CodeableConcept date:dateTime abstract:boolean displayLanguage:code"},
    {"http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup",
     "Returns what is known about a code",
     "code:code system:uri version:string coding:Coding date:dateTime displayLanguage:code language:code property:code*"},
    {"http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes",
     "Checks whether one code subsumes another",
     "codeA:code codeB:code system:uri version:string codingA:Coding codingB:Coding"},
    {"http://hl7.org/fhir/OperationDefinition/ConceptMap-translate",
     "Translates a code with a concept map",
     "url:uri conceptMap:ConceptMap conceptMapVersion:string code:code system:uri version:string source:uri "
     "coding:Coding codeableConcept:CodeableConcept target:uri targetsystem:uri reverse:boolean"},
    {"urn:x-annals:OperationDefinition:compact",
     "Reclaims the space of erased data", "dryRun:boolean"},
    {"http://hl7.org/fhir/OperationDefinition/ConceptMap-closure",
     "Maintains a closure table: which codes subsume which", "name:string! concept:Coding* version:string", "ConceptMap"},
    {"urn:x-annals:OperationDefinition:install-package",
     "Installs the definitions of a FHIR package",
     "name:string version:string package:base64Binary includeDependencies:boolean"},
    {"urn:x-annals:OperationDefinition:reindex",
     "Rebuilds the search index of some types", "type:code* url:uri*"},
    {"http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export",
     "Starts an export of the store",
     "_outputFormat:string _since:instant _until:instant _asOf:string _type:string* _typeFilter:string* _elements:string* patient:Reference* "
     "includeHistory:boolean", ""},
    {"http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export",
     "Starts an export of what belongs to patients",
     "_outputFormat:string _since:instant _until:instant _asOf:string _type:string* _typeFilter:string* _elements:string* patient:Reference* "
     "includeHistory:boolean", ""},
    {"http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export",
     "Starts an export of what belongs to the patients of a group",
     "_outputFormat:string _since:instant _until:instant _asOf:string _type:string* _typeFilter:string* _elements:string* patient:Reference* "
     "includeHistory:boolean", ""},
    {"urn:x-annals:OperationDefinition:import",
     "Starts an import of files",
     "inputFormat:code inputSource:uri input*(type:code url:url!) keepVersions:boolean", ""},
});
// clang-format on

}  // namespace

std::span<const Signature> signatures() noexcept {
    return kSignatures;
}

const Signature* find_signature(std::string_view definition) noexcept {
    const auto* const found =
        std::find_if(kSignatures.begin(), kSignatures.end(),
                     [&](const Signature& line) { return line.definition == definition; });
    return found == kSignatures.end() ? nullptr : found;
}

std::optional<SignatureParameter> next_parameter(std::string_view& parameters) noexcept {
    if (parameters.empty()) {
        return {};
    }
    SignatureParameter parameter;
    const std::size_t name_end = std::min(parameters.find_first_of(" :*!("), parameters.size());
    parameter.name = parameters.substr(0, name_end);
    std::size_t at = name_end;
    if (at < parameters.size() && parameters[at] == ':') {
        const std::size_t end = std::min(parameters.find_first_of(" *!", at), parameters.size());
        parameter.type = parameters.substr(at + 1, end - at - 1);
        at = end;
    }
    for (; at < parameters.size() && (parameters[at] == '*' || parameters[at] == '!'); ++at) {
        (parameters[at] == '*' ? parameter.repeats : parameter.required) = true;
    }
    if (at < parameters.size() && parameters[at] == '(') {
        const std::size_t end = parameters.find(')', at);
        parameter.parts = parameters.substr(at + 1, end - at - 1);
        at = end + 1;
    }
    parameters.remove_prefix(std::min(at + 1, parameters.size()));
    return parameter;
}

}  // namespace annals::core
