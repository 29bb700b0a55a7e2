#include "core/bulk/export.h"

#include "core/access.h"
#include "core/bulk/export_scope.h"
#include "core/bulk/export_task.h"
#include "core/bulk/group_members.h"
#include "core/definitions.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/query_needs.h"
#include "core/interactions/turns.h"
#include "core/jobs/answers.h"
#include "core/scoped_view.h"
#include "core/search/snapshot_resources.h"

#include <optional>
#include <string>

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
    const storage::Store& store = service.store();
    Turns turns(*request.loop, service.config().limits.request_timeout);
    search::Snapshot snapshot(store, task.as_of.value_or(store.last_position()));
    std::optional<GroupMembers> group;
    if (task.level == ExportTask::Level::group) {
        group.emplace(snapshot, task.group, request.base_url);
        Result<void> read = co_await turns.finish(*group);
        if (!read) {
            co_return read;
        }
    }
    for (const std::string& id : task.patients) {
        Result<void> fit = check_patient(snapshot, id, group ? &group->patients() : nullptr);
        if (fit && turns.pace().is_over()) {
            fit = co_await turns.next();
        }
        if (!fit) {
            co_return fit;
        }
    }
    const ScopedView view(service, request, kMaySearch, "search");
    for (const std::string& filter : task.filters) {
        const Result<search::Query> query =
            co_await prepare_and_look(service, *request.loop, [&](QueryNeeds& needs) {
                // The index may have dropped what the snapshot before needs.
                search::Snapshot newest(store, task.as_of.value_or(store.last_position()));
                const search::SnapshotResources stored(newest, service.definitions().carried(),
                                                       needs.unread(), needs.put_off());
                const search::QueryContext context{.stored = stored,
                                                   .view = view,
                                                   .parameters = service.indexing().parameters(),
                                                   .base_url = std::string(request.base_url),
                                                   .strict = task.strict};
                return read_filter(context, filter);
            });
        if (!query) {
            co_return query.error();
        }
        Result<void> fit = require_search(service, request, query->others, Extent::all);
        // A filter may name a value set with very many codes.
        if (fit && turns.pace().is_over()) {
            fit = co_await turns.next();
        }
        if (!fit) {
            co_return fit;
        }
    }
    co_return Result<void>();
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
