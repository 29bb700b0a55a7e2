#include "core/interactions/read.h"

#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/operations/definition.h"
#include "core/outcome.h"

#include <optional>
#include <string>

namespace annals::core {

namespace {

// What a package defines, or an OperationDefinition of ours; it has no versions, so there is no ETag to ask by.
std::optional<Response> answer_carried(const Service& service, const Request& request,
                                       const Target& target) {
    std::shared_ptr<const void> pin;
    Response response;
    if (const auto resource = service.definitions().packages().read(target.type, target.id, pin)) {
        response.body.append_view(resource->body, std::move(pin));
        return response;
    }
    if (resource_type_name(target.type) == "OperationDefinition") {
        if (auto ours = operation_definition(target.id, request.base_url)) {
            response.body = Body(*std::move(ours));
            return response;
        }
    }
    return {};
}

}  // namespace

Response read(const Service& service, const Request& request, const Target& target) {
    std::optional<Position> as_of;
    if (!request.query.empty()) {
        Result<std::optional<Position>> found = find_as_of(service.store(), request.query);
        if (!found) {
            return outcome_response(found.error(), request);
        }
        as_of = *found;
    }
    if (as_of && as_of->value == 0) {
        return answer_absent(request, target.type, target.id);
    }
    const auto info = service.store().current(target.type, target.id, as_of.value_or(Position{}));
    if (!info) {
        std::optional<Response> carried =
            as_of ? std::nullopt : answer_carried(service, request, target);
        return carried ? *std::move(carried) : answer_absent(request, target.type, target.id);
    }
    if (info->deletion) {
        return answer_deleted(service, request, target.id, *info);
    }
    return answer_version(service, request, *info);
}

}  // namespace annals::core
