#include "core/interactions/bundle.h"
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

bool hard_delete_on(const Config& config) {
    return config.hard_delete;
}

constexpr auto kGet = HttpMethod::get;
constexpr auto kPost = HttpMethod::post;
constexpr auto kPut = HttpMethod::put;
constexpr auto kPatch = HttpMethod::patch;
constexpr auto kDelete = HttpMethod::delete_;

constexpr Interaction plain(Level level, HttpMethod method, PlainHandler handler,
                            bool (*enabled)(const Config&), std::string_view capability,
                            std::string_view page) {
    return {level, method, handler, nullptr, enabled, capability, page};
}

constexpr Interaction awaiting(Level level, HttpMethod method, AwaitingHandler handler,
                               bool (*enabled)(const Config&), std::string_view capability,
                               std::string_view page) {
    return {level, method, nullptr, handler, enabled, capability, page};
}

// clang-format off
constexpr auto kTable = std::to_array<Interaction>({
    plain(Level::instance, kGet, read, nullptr, "read", "read"),
    plain(Level::version, kGet, vread, vread_on, "vread", "vread"),
    awaiting(Level::instance, kPut, update, nullptr, "update", "update"),
    awaiting(Level::instance, kPatch, patch_resource, nullptr, "patch", "patch"),
    awaiting(Level::instance, kDelete, delete_resource, nullptr, "delete", "delete"),
    plain(Level::instance_history, kGet, instance_history, instance_history_on, "history-instance", "history"),
    awaiting(Level::type_history, kGet, type_history, type_history_on, "history-type", "history"),
    awaiting(Level::type, kPost, create, nullptr, "create", "create"),
    awaiting(Level::type, kGet, search_resources, nullptr, "search-type", "search"),
    awaiting(Level::type_search, kPost, search_resources, nullptr, "search-type", "search"),
    awaiting(Level::compartment, kGet, search_resources, nullptr, "", "search"),
    awaiting(Level::type, kPut, conditional_update, nullptr, "", "update"),
    awaiting(Level::type, kPatch, conditional_patch, nullptr, "", "patch"),
    awaiting(Level::type, kDelete, conditional_delete, nullptr, "", "delete"),
    awaiting(Level::version, kDelete, delete_version, hard_delete_on, "", "history-deletion"),
    awaiting(Level::instance_history, kDelete, delete_history, hard_delete_on, "", "history-deletion"),
    awaiting(Level::root, kPost, submit_bundle, nullptr, "transaction batch", "batch"),
    awaiting(Level::root, kGet, search_resources, nullptr, "search-system", "search"),
    awaiting(Level::system_search, kPost, search_resources, nullptr, "search-system", "search"),
    awaiting(Level::system_history, kGet, system_history, system_history_on, "history-system", "history"),
    awaiting(Level::system_operation, kPost, run_operation, nullptr, "", "operations"),
    awaiting(Level::system_operation, kGet, run_operation, nullptr, "", "operations"),
    awaiting(Level::type_operation, kPost, run_operation, nullptr, "", "operations"),
    awaiting(Level::type_operation, kGet, run_operation, nullptr, "", "operations"),
    awaiting(Level::instance_operation, kPost, run_operation, nullptr, "", "operations"),
    awaiting(Level::instance_operation, kGet, run_operation, nullptr, "", "operations"),
    plain(Level::metadata, kGet, metadata, nullptr, "", "metadata"),
    plain(Level::root, HttpMethod::options, metadata, nullptr, "", "metadata"),
});
// clang-format on

}  // namespace

std::span<const Interaction> interactions() noexcept {
    return kTable;
}

}  // namespace annals::core
