#include "core/interactions/read.h"

#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/interactions/submitted_resource.h"
#include "core/operations/definition.h"
#include "core/scoped_view.h"

#include <optional>

namespace annals::core {

namespace {

// What is not shown counts as absent.
bool is_shown(const Service& service, const Request& request, const storage::VersionInfo& info) {
    return !is_restricted(request) || ScopedView(service, request, kMayRead, "read").shows(info);
}

bool shows_carried(const Service& service, const Request& request, const Target& target,
                   std::string_view body) {
    if (!is_restricted(request)) {
        return true;
    }
    const auto document = thread_parser().parse(body);
    return document && ScopedView(service, request, kMayRead, "read")
                           .shows(target.type, target.id, document->root());
}

// A resource of a package, or one of the server's OperationDefinitions. It has no versions and therefore no ETag.
std::optional<Response> answer_carried(const Service& service, const Request& request,
                                       const Target& target) {
    std::shared_ptr<const void> pin;
    Response response;
    if (const auto resource = service.definitions().packages().read(target.type, target.id, pin)) {
        if (!shows_carried(service, request, target, resource->body)) {
            return {};
        }
        response.body.append_view(resource->body, std::move(pin));
        return response;
    }
    if (resource_type_name(target.type) == "OperationDefinition") {
        auto ours = operation_definition(target.id, request.base_url, service.config());
        if (ours && shows_carried(service, request, target, *ours)) {
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
            return found.error();
        }
        as_of = *found;
    }
    const auto info = as_of ? current_as_of(service.store(), target.type, target.id, *as_of)
                            : service.store().current(target.type, target.id,
                                                      request.seen_at.value_or(Position{}));
    if (!info) {
        std::optional<Response> carried =
            as_of ? std::nullopt : answer_carried(service, request, target);
        return carried ? *std::move(carried) : Response(no_such_resource(target.type, target.id));
    }
    if (is_restricted(request)) {
        if (auto later =
                answer_later(service, request, looked_at(service, request, target.id, *info))) {
            return *std::move(later);
        }
    }
    if (!is_shown(service, request, *info)) {
        return no_such_resource(target.type, target.id);
    }
    if (info->deletion) {
        return answer_deleted(service, target.id, *info);
    }
    return answer_version(service, request, *info);
}

}  // namespace annals::core
