#include "core/operations/versions.h"

#include "core/interactions/negotiation.h"
#include "core/operations/input.h"

namespace annals::core {

asio::awaitable<Response> versions_operation(const Service& /*service*/, const Request& request,
                                             const Target& /*target*/) {
    const Result<OperationInput> input = OperationInput::read(request);
    const Result<void> fit = input ? input->only({}) : Result<void>(input.error());
    if (!fit) {
        co_return fit.error();
    }
    Response response;
    const Result<AnswerFormat> format = read_accept(request);
    if (format && format->format == Format::json && format->close == Naming::generic &&
        !input->has("_format") && !request.inside_bundle) {
        response.content_type = ContentType::json;
        response.body = Body(R"({"versions":["4.0"],"default":"4.0"})");
        co_return response;
    }
    response.body = Body(R"({"resourceType":"Parameters","parameter":[)"
                         R"({"name":"version","valueCode":"4.0"},)"
                         R"({"name":"default","valueCode":"4.0"}]})");
    co_return response;
}

}  // namespace annals::core
