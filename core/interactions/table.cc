#include "core/interactions/bundle.h"
#include "core/interactions/changes.h"
#include "core/interactions/create.h"
#include "core/interactions/delete.h"
#include "core/interactions/history.h"
#include "core/interactions/history_deletion.h"
#include "core/interactions/metadata.h"
#include "core/interactions/patch.h"
#include "core/interactions/read.h"
#include "core/interactions/search.h"
#include "core/interactions/update.h"
#include "core/interactions/vread.h"
#include "core/jobs/answers.h"
#include "core/operations/operations.h"
#include "core/service.h"

#include <array>

namespace annals::core {

namespace {

bool vread_on(const Config& config) {
    return config.interactions.instance_vread;
}

bool instance_history_on(const Config& config) {
    return config.interactions.instance_history;
}

bool type_history_on(const Config& config) {
    return config.interactions.type_history;
}

bool system_history_on(const Config& config) {
    return config.interactions.system_history;
}

constexpr auto kGet = HttpMethod::get;
constexpr auto kPost = HttpMethod::post;
constexpr auto kPut = HttpMethod::put;
constexpr auto kPatch = HttpMethod::patch;
constexpr auto kDelete = HttpMethod::delete_;
constexpr Extent kInPart = Extent::part;

constexpr Interaction plain(Level level, HttpMethod method, PlainHandler handler,
                            bool (*enabled)(const Config&), std::string_view capability,
                            std::string_view page, Access access, Extent extent = Extent::all) {
    return {level, method, handler, nullptr, enabled, capability, page, access, extent};
}

constexpr Interaction awaiting(Level level, HttpMethod method, AwaitingHandler handler,
                               bool (*enabled)(const Config&), std::string_view capability,
                               std::string_view page, Access access, Extent extent = Extent::all) {
    return {level, method, nullptr, handler, enabled, capability, page, access, extent};
}

constexpr Interaction committing(Level level, HttpMethod method, AwaitingHandler handler,
                                 EarlyHandler early, std::string_view capability, Access access) {
    return {level,      method,     nullptr, handler,      nullptr,
            capability, capability, access,  Extent::part, early};
}

// clang-format off
constexpr auto kTable = std::to_array<Interaction>({
    plain(Level::instance, kGet, read, nullptr, "read", "read", Access::read, kInPart),
    plain(Level::version, kGet, vread, vread_on, "vread", "vread", Access::read, kInPart),
    committing(Level::instance, kPut, update, update_early, "update", Access::update),
    awaiting(Level::instance, kPatch, patch_resource, nullptr, "patch", "patch", Access::update, kInPart),
    committing(Level::instance, kDelete, delete_resource, delete_early, "delete", Access::remove),
    awaiting(Level::instance_history, kGet, instance_history, instance_history_on, "history-instance", "history", Access::read, kInPart),
    awaiting(Level::type_history, kGet, history_of_many, type_history_on, "history-type", "history", Access::search, kInPart),
    committing(Level::type, kPost, create, create_early, "create", Access::create),
    awaiting(Level::type, kGet, search_resources, nullptr, "search-type", "search", Access::search, kInPart),
    awaiting(Level::type_search, kPost, search_resources, nullptr, "search-type", "search", Access::search, kInPart),
    awaiting(Level::compartment, kGet, search_resources, nullptr, "", "search", Access::search, kInPart),
    awaiting(Level::compartment_search, kPost, search_resources, nullptr, "", "search", Access::search, kInPart),
    awaiting(Level::type, kPut, conditional_update, nullptr, "", "update", Access::update, kInPart),
    awaiting(Level::type, kPatch, conditional_patch, nullptr, "", "patch", Access::update, kInPart),
    awaiting(Level::type, kDelete, conditional_delete, nullptr, "", "delete", Access::remove, kInPart),
    awaiting(Level::version, kDelete, delete_version, hard_delete_on, "", "history-deletion", Access::erase),
    awaiting(Level::instance_history, kDelete, delete_history, hard_delete_on, "", "history-deletion", Access::erase),
    awaiting(Level::root, kPost, submit_bundle, nullptr, "transaction batch", "batch", Access::bundle),
    awaiting(Level::root, kGet, search_resources, nullptr, "search-system", "search", Access::search, kInPart),
    awaiting(Level::system_search, kPost, search_resources, nullptr, "search-system", "search", Access::search, kInPart),
    awaiting(Level::system_history, kGet, history_of_many, system_history_on, "history-system", "history", Access::search, kInPart),
    awaiting(Level::changes, kGet, changes, nullptr, "", "changes", Access::administer),
    awaiting(Level::system_operation, kPost, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::system_operation, kGet, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::type_operation, kPost, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::type_operation, kGet, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::instance_operation, kPost, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::instance_operation, kGet, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::version_operation, kPost, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::version_operation, kGet, run_operation, nullptr, "", "operations", Access::operation),
    awaiting(Level::job, kGet, job_status, nullptr, "", "jobs", Access::judged),
    awaiting(Level::job, kDelete, delete_job, nullptr, "", "jobs", Access::judged),
    awaiting(Level::job_file, kGet, job_file, nullptr, "", "jobs", Access::judged),
    awaiting(Level::metadata, kGet, metadata, nullptr, "", "metadata", Access::open),
    plain(Level::openapi, kGet, openapi, nullptr, "", "openapi", Access::open),
    awaiting(Level::root, HttpMethod::options, metadata, nullptr, "", "metadata", Access::open),
});
// clang-format on

}  // namespace

std::span<const Interaction> interactions() noexcept {
    return kTable;
}

}  // namespace annals::core
