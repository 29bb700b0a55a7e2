#include "core/operations/under_way.h"

#include "core/outcome.h"

#include <fmt/format.h>

#include <utility>

namespace annals::core {

Response under_way(const Request& request, std::string_view operation, std::string progress,
                   std::string_view said) {
    Response response;
    response.status = 202;
    response.content_location = fmt::format("{}/{}", request.base_url, operation);
    response.headers.emplace_back("X-Progress", std::move(progress));
    response.headers.emplace_back("Retry-After", "1");
    response.body = Body(outcome_json({{"information", "informational", std::string(said), ""}}));
    return response;
}

}  // namespace annals::core
