#include "core/interactions/read.h"

#include "core/interactions/answer.h"
#include "core/interactions/as_of.h"
#include "core/outcome.h"

namespace annals::core {

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
        return answer_absent(request, target.type, target.id);
    }
    if (info->deletion) {
        return answer_deleted(service, request, target.id, *info);
    }
    return answer_version(service, request, *info);
}

}  // namespace annals::core
