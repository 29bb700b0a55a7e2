#include "core/terminology/names.h"

#include "core/search/fold.h"

#include <string>

namespace annals::terminology {

bool is_called(std::string_view name, std::initializer_list<json::Value> elements) {
    const std::string wanted = core::search::fold(name);
    const auto is_it = [&](std::string_view own) {
        return !own.empty() && (own == name || core::search::fold(own) == wanted);
    };
    bool has_display = false;
    for (const json::Value element : elements) {
        const std::string display = element["display"].string();
        has_display = has_display || !display.empty();
        if (is_it(display)) {
            return true;
        }
        for (const json::Value designation : element["designation"].elements()) {
            if (is_it(designation["value"].string())) {
                return true;
            }
        }
    }
    return !has_display;
}

}  // namespace annals::terminology
