#include "core/base/ids.h"

namespace annals {

bool is_resource_id(std::string_view text) noexcept {
    if (text.empty() || text.size() > 64) {
        return false;
    }
    for (const char c : text) {
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '.';
        if (!allowed) {
            return false;
        }
    }
    return true;
}

}  // namespace annals
