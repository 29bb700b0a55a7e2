#include "core/bulk/export.h"

#include "core/access.h"
#include "core/bulk/export_scope.h"
#include "core/bulk/export_task.h"
#include "core/definitions.h"
#include "core/interactions/negotiation.h"
#include "core/interactions/turns.h"
#include "core/jobs/answers.h"
#include "core/scoped_view.h"

#include <vector>

namespace annals::core {

namespace {

Result<ExportTask> read_export(const Service& service, const Request& request, const Target& target,
                               std::vector<Position>* unread) {
    ANNALS_TRY(ExportTask task, read_export_task(service.store(), request, target));
    ANNALS_TRY_VOID(authorise_export(service, request, task));
    if (!read_preference(request).respond_async) {
        return Error{Errc::invalid, "An export is asynchronous: send Prefer: respond-async"};
    }
    // Errors are reported now and not by the job, which reads all of this again at its own snapshot.
    search::Snapshot snapshot(service.store(),
                              task.as_of.value_or(service.store().last_position()));
    const ScopedView view(service, request, kMaySearch, "search");
    ANNALS_TRY(const std::vector<TypeId> looked_at,
               check_scope(task, snapshot, service.indexing().parameters(),
                           service.definitions().carried(), request.base_url, unread, view));
    ANNALS_TRY_VOID(require_search(service, request, looked_at, Extent::all));
    return task;
}

}  // namespace

asio::awaitable<Response> export_operation(const Service& service, const Request& request,
                                           const Target& target) {
    const Result<ExportTask> task =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            return read_export(service, request, target, unread);
        });
    if (!task) {
        co_return task.error();
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
