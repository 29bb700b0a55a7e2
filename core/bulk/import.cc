#include "core/bulk/import.h"

#include "core/bulk/import_task.h"
#include "core/jobs/answers.h"

#include <utility>

namespace annals::core {

asio::awaitable<Response> import_operation(const Service& service, const Request& request,
                                           const Target& /*target*/) {
    std::vector<JobInput> uploads;
    const Result<ImportTask> task = read_import_task(service, request, uploads);
    if (!task) {
        co_return task.error();
    }
    Response response = co_await begin_job(service, request, "import", task_json(*task), "_jobs",
                                           std::move(uploads));
    co_return response;
}

}  // namespace annals::core
