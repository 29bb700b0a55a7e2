#include "core/operations/purge_history.h"

#include "core/interactions/history_deletion.h"
#include "core/operations/input.h"
#include "core/operations/parameters_writer.h"

#include <string>

namespace annals::core {

asio::awaitable<Response> purge_history_operation(const Service& service, const Request& request,
                                                  const Target& target) {
    if (const Result<void> fit = OperationInput::none(request); !fit) {
        co_return fit.error();
    }
    const Result<std::uint64_t> erased = co_await erase_history(service, request, target);
    if (!erased) {
        co_return erased.error();
    }
    ParametersWriter out;
    out.add("count", "valueInteger", std::to_string(*erased));
    Response response = out.response();
    response.position = service.store().last_position();
    co_return response;
}

}  // namespace annals::core
