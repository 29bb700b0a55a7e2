#include "core/base/ids.h"

namespace annals {

bool is_resource_id(std::string_view text) noexcept {
    if (text.empty() || text.size() > 64) {
        return false;
    }
    // Without a way out of the loop it is done for many characters at once.
    bool wrong = false;
    for (const char c : text) {
        const bool letter = static_cast<unsigned char>((c | 0x20) - 'a') < 26;
        const bool digit = static_cast<unsigned char>(c - '0') < 10;
        wrong |= !(letter || digit || c == '-' || c == '.');
    }
    return !wrong;
}

}  // namespace annals
