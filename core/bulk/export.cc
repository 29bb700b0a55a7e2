#include "core/bulk/export.h"

#include "core/access.h"
#include "core/bulk/export_scope.h"
#include "core/bulk/export_task.h"
#include "core/bulk/group_members.h"
#include "core/definitions.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/turns.h"
#include "core/jobs/answers.h"
#include "core/scoped_view.h"

#include <optional>
#include <vector>

namespace annals::core {

namespace {

Result<ExportTask> read_export(const Service& service, const Request& request,
                               const Target& target) {
    ANNALS_TRY(ExportTask task, read_export_task(service.store(), request, target));
    ANNALS_TRY_VOID(authorise_export(service, request, task));
    if (!read_preference(request).respond_async) {
        return Error{Errc::invalid, "An export is asynchronous: send Prefer: respond-async"};
    }
    return task;
}

/// Reports errors now that the job would only find at its own snapshot, where it reads all of this again.
asio::awaitable<Result<void>> check_export(const Service& service, const Request& request,
                                           const ExportTask& task) {
    const auto position = [&] { return task.as_of.value_or(service.store().last_position()); };
    search::Snapshot of_group(service.store(), position());
    std::optional<GroupMembers> group;
    if (task.level == ExportTask::Level::group) {
        group.emplace(of_group, task.group, request.base_url);
        Turns turns(*request.loop, service.config().limits.request_timeout);
        Result<void> read = co_await turns.finish(*group);
        if (!read) {
            co_return read;
        }
    }
    const ScopedView view(service, request, kMaySearch, "search");
    const Result<std::vector<TypeId>> looked_at =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            search::Snapshot snapshot(service.store(), position());
            return check_scope(task, snapshot, service.indexing().parameters(),
                               service.definitions().carried(), request.base_url,
                               group ? &group->patients() : nullptr, unread, view);
        });
    co_return looked_at ? require_search(service, request, *looked_at, Extent::all)
                        : Result<void>(looked_at.error());
}

}  // namespace

asio::awaitable<Response> export_operation(const Service& service, const Request& request,
                                           const Target& target) {
    const Result<ExportTask> task = read_export(service, request, target);
    if (!task) {
        co_return task.error();
    }
    const Result<void> fit = co_await check_export(service, request, *task);
    if (!fit) {
        co_return fit.error();
    }
    if (request.method == HttpMethod::head) {
        // A safe method (RFC 9110 section 9.2.1): answers whether the export is possible, but starts none.
        Response told;
        told.status = 202;
        co_return told;
    }
    Response response =
        co_await begin_job(service, request, "export", task_json(*task), "_export-status");
    co_return response;
}

}  // namespace annals::core
