#include "core/interactions/read.h"

#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/outcome.h"

namespace annals::core {

namespace {

// What a package defines; it has no versions, so there is no ETag to ask by.
std::optional<Response> answer_packaged(const Service& service, TypeId type, std::string_view id) {
    std::shared_ptr<const void> pin;
    const auto resource = service.definitions().packages().read(type, id, pin);
    if (!resource) {
        return {};
    }
    Response response;
    response.body.append_view(resource->body, std::move(pin));
    return response;
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
        std::optional<Response> packaged =
            as_of ? std::nullopt : answer_packaged(service, target.type, target.id);
        return packaged ? *std::move(packaged) : answer_absent(request, target.type, target.id);
    }
    if (info->deletion) {
        return answer_deleted(service, request, target.id, *info);
    }
    return answer_version(service, request, *info);
}

}  // namespace annals::core
