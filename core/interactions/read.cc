#include "core/interactions/read.h"

#include "core/interactions/answer.h"

namespace annals::core {

Response read(const Service& service, const Request& request, const Target& target) {
    const auto info = service.store().current(target.type, target.id);
    if (!info) {
        return answer_absent(request, target.type, target.id);
    }
    if (info->deletion) {
        return answer_deleted(service, request, target.id, *info);
    }
    return answer_version(service, request, *info);
}

}  // namespace annals::core
