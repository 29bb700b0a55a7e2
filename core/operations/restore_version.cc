#include "core/operations/restore_version.h"

#include "core/interactions/answer.h"
#include "core/interactions/rewrite.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/vread.h"
#include "core/operations/input.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// The version to restore.
Result<storage::VersionInfo> find_wanted(const Service& service, const Request& request,
                                         const Target& target) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"version"}));
    ANNALS_TRY(const std::string text, input.required_text("version"));
    const auto info = find_version(service.store(), target.type, target.id, text);
    if (!info) {
        return no_such_version(target.type, target.id, text);
    }
    if (info->deletion) {
        return Error{Errc::invalid,
                     fmt::format("Version {} of {} is a deletion: it has no content",
                                 info->version.value, resource_name(target.type, target.id))};
    }
    return *info;
}

}  // namespace

asio::awaitable<Response> restore_operation(const Service& service, const Request& request,
                                            const Target& target) {
    if (!service.store().current(target.type, target.id)) {
        co_return no_such_resource(target.type, target.id);
    }
    const Result<storage::VersionInfo> found = find_wanted(service, request, target);
    if (!found) {
        co_return found.error();
    }
    co_await request.loop->fetched(std::span(&*found, 1));
    Rewrite rewrite;
    rewrite.type = target.type;
    rewrite.id = target.id;
    rewrite.deleted_too = true;
    rewrite.make = [&](const storage::StoredVersion& base,
                       Unfinished&) -> Result<std::optional<json::Document>> {
        if (base.info.version == found->version) {
            return std::optional<json::Document>();
        }
        // Loaded only now: it may have been erased while this waited.
        ANNALS_TRY(const storage::StoredVersion wanted, service.store().load(*found));
        ANNALS_TRY(json::Document document, thread_parser().parse(wanted.body));
        return std::optional<json::Document>(std::move(document));
    };
    Response response = co_await rewrite_resource(service, request, rewrite);
    if (response.status == 200 && response.body.empty() && response.etag == found->version) {
        Request waiting = request;
        waiting.may_block = true;
        co_return answer_version(service, waiting, *found);
    }
    co_return response;
}

}  // namespace annals::core
