#include "core/base/parts.h"
#include "core/bulk/export.h"
#include "core/bulk/import.h"
#include "core/interactions/history_deletion.h"
#include "core/operations/backup.h"
#include "core/operations/closure.h"
#include "core/operations/compact.h"
#include "core/operations/diff.h"
#include "core/operations/digest.h"
#include "core/operations/docref.h"
#include "core/operations/document.h"
#include "core/operations/everything.h"
#include "core/operations/expand.h"
#include "core/operations/graphql.h"
#include "core/operations/install_package.h"
#include "core/operations/lastn.h"
#include "core/operations/lookup.h"
#include "core/operations/match.h"
#include "core/operations/meta.h"
#include "core/operations/operations.h"
#include "core/operations/purge.h"
#include "core/operations/purge_history.h"
#include "core/operations/reindex.h"
#include "core/operations/restore_store.h"
#include "core/operations/restore_version.h"
#include "core/operations/stats.h"
#include "core/operations/translate.h"
#include "core/operations/undo.h"
#include "core/operations/validate.h"
#include "core/operations/validate_code.h"
#include "core/operations/versions.h"

#include <array>

namespace annals::core {

namespace {

// clang-format off
constexpr auto kOperations = std::to_array<Operation>({
    {"$validate", kOnSystem | kOnType | kOnInstance, kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Resource-validate", validate_operation, "", Extent::part},
    {"$meta", kOnSystem | kOnType | kOnInstance | kOnVersion, kOnSystem | kOnType | kOnInstance | kOnVersion, false,
     Access::read, "http://hl7.org/fhir/OperationDefinition/Resource-meta", meta_operation, "", Extent::part},
    {"$meta-add", kOnInstance, 0, true, Access::update,
     "http://hl7.org/fhir/OperationDefinition/Resource-meta-add", meta_add_operation, "", Extent::part},
    {"$meta-delete", kOnInstance, 0, true, Access::update,
     "http://hl7.org/fhir/OperationDefinition/Resource-meta-delete", meta_delete_operation, "", Extent::part},
    {"$diff", kOnInstance, kOnInstance, false, Access::read,
     "urn:x-annals:OperationDefinition:diff", diff_operation, "", Extent::part},
    {"$diff", kOnSystem, kOnSystem, false, Access::bundle,
     "urn:x-annals:OperationDefinition:diff-resources", diff_operation, "", Extent::part},
    {"$restore", kOnInstance, 0, true, Access::administer,
     "urn:x-annals:OperationDefinition:restore", restore_operation},
    {"$purge", kOnInstance, 0, true, Access::administer,
     "urn:x-annals:OperationDefinition:purge", purge_operation, "Patient"},
    {"$purge-history", kOnInstance, 0, true, Access::erase,
     "urn:x-annals:OperationDefinition:purge-history", purge_history_operation, "", Extent::all, hard_delete_on},
    {"$lastn", kOnType, kOnType, false, Access::search,
     "http://hl7.org/fhir/OperationDefinition/Observation-lastn", lastn_operation, "Observation", Extent::part},
    {"$stats", kOnType, kOnType, false, Access::search,
     "http://hl7.org/fhir/OperationDefinition/Observation-stats", stats_operation, "Observation", Extent::part},
    {"$docref", kOnType, kOnType, false, Access::search,
     "http://hl7.org/fhir/us/core/OperationDefinition/docref", docref_operation, "DocumentReference", Extent::part},
    {"$match", kOnType, 0, false, Access::search,
     "http://hl7.org/fhir/OperationDefinition/Patient-match", match_operation, "Patient", Extent::part},
    {"$graphql", kOnSystem, kOnSystem, false, Access::judged,
     "http://hl7.org/fhir/OperationDefinition/Resource-graphql", graphql_operation, "", Extent::part},
    {"$graphql", kOnInstance, kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Resource-graphql", graphql_operation, "", Extent::part},
    {"$undo", kOnSystem, 0, true, Access::administer,
     "urn:x-annals:OperationDefinition:undo", undo_operation},
    {"$versions", kOnSystem, kOnSystem, false, Access::open,
     "http://hl7.org/fhir/OperationDefinition/CapabilityStatement-versions", versions_operation},
    {"$everything", kOnInstance, kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Patient-everything", everything_operation, "Patient", Extent::part},
    {"$everything", kOnType, kOnType, false, Access::search,
     "http://hl7.org/fhir/OperationDefinition/Patient-everything", everything_operation, "Patient", Extent::part},
    {"$everything", kOnInstance, kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Encounter-everything", everything_operation, "Encounter", Extent::part},
    {"$document", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/Composition-document", document_operation, "Composition", Extent::part},
    {"$backup", kOnSystem, kOnSystem, true, Access::administer,
     "urn:x-annals:OperationDefinition:backup", backup_operation},
    {"$restore", kOnSystem, kOnSystem, true, Access::administer,
     "urn:x-annals:OperationDefinition:restore-backup", restore_store_operation},
    {"$digest", kOnSystem, kOnSystem, false, Access::administer,
     "urn:x-annals:OperationDefinition:digest", digest_operation},
    {"$expand", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/ValueSet-expand", expand_operation, "ValueSet"},
    {"$validate-code", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/ValueSet-validate-code", validate_code_operation, "ValueSet"},
    {"$validate-code", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/CodeSystem-validate-code", validate_code_operation, "CodeSystem"},
    {"$lookup", kOnType, kOnType, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup", lookup_operation, "CodeSystem"},
    {"$subsumes", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes", subsumes_operation, "CodeSystem"},
    {"$translate", kOnType | kOnInstance, kOnType | kOnInstance, false, Access::read,
     "http://hl7.org/fhir/OperationDefinition/ConceptMap-translate", translate_operation, "ConceptMap"},
    {"$compact", kOnSystem, kOnSystem, true, Access::administer,
     "urn:x-annals:OperationDefinition:compact",
     compact_operation},
    {"$closure", kOnSystem, 0, true, Access::update,
     "http://hl7.org/fhir/OperationDefinition/ConceptMap-closure", closure_operation},
    {"$install-package", kOnSystem, 0, true, Access::administer,
     "urn:x-annals:OperationDefinition:install-package", install_package_operation},
    {"$reindex", kOnSystem, kOnSystem, true, Access::administer,
     "urn:x-annals:OperationDefinition:reindex",
     reindex_operation},
    {"$export", kOnSystem, kOnSystem, false, Access::judged,
     "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/export", export_operation},
    {"$export", kOnType, kOnType, false, Access::judged,
     "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/patient-export", export_operation,
     "Patient"},
    {"$export", kOnInstance, kOnInstance, false, Access::judged,
     "http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export", export_operation,
     "Group"},
    {"$import", kOnSystem, 0, true, Access::administer,
     "urn:x-annals:OperationDefinition:import", import_operation},
});
// clang-format on

std::uint8_t level_of(const Target& target) noexcept {
    switch (target.level) {
        case Level::system_operation:
            return kOnSystem;
        case Level::type_operation:
            return kOnType;
        case Level::instance_operation:
            return kOnInstance;
        case Level::version_operation:
            return kOnVersion;
        default:
            return 0;
    }
}

}  // namespace

bool is_on(const Operation& operation, const Config& config) noexcept {
    return operation.enabled == nullptr || operation.enabled(config);
}

bool is_told(const Operation& operation, const Config& config) noexcept {
    // $reindex changes only memory, and an export writes files. A closure table is created as a resource with
    // an id chosen by this server.
    const bool writes =
        (operation.affects_state && operation.name != "$reindex") || operation.name == "$export";
    return is_on(operation, config) && !(writes && config.read_only) &&
           (operation.name != "$closure" || config.update_create);
}

bool is_for(const Operation& operation, TypeId type) noexcept {
    return operation.types.empty() || has_word(operation.types, resource_type_name(type));
}

std::span<const Operation> operations() noexcept {
    return kOperations;
}

const Operation* find_operation(const Target& target) noexcept {
    for (const Operation& operation : kOperations) {
        if (operation.name == target.operation && (operation.levels & level_of(target)) != 0 &&
            (target.level == Level::system_operation || is_for(operation, target.type))) {
            return &operation;
        }
    }
    return nullptr;
}

bool takes(const Operation& operation, const Target& target, HttpMethod method) noexcept {
    return method == HttpMethod::post ||
           (method == HttpMethod::get && (operation.by_get & level_of(target)) != 0);
}

asio::awaitable<Response> run_operation(const Service& service, const Request& request,
                                        const Target& target) {
    return find_operation(target)->handler(service, request, target);
}

}  // namespace annals::core
