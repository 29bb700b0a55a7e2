#include "core/definitions.h"

#include "core/terminology/r4.h"

namespace annals::core {

const terminology::Source& Definitions::carried() const noexcept {
    return terminology::r4_definitions();
}

validation::Definition Definitions::find(std::string_view type, std::string_view url,
                                         std::string_view version) const {
    if (validation::Definition stored = stored_.find(type, url, version)) {
        return stored;
    }
    Result<validation::Definition> found = carried().find(type, url, version);
    return found ? *std::move(found) : nullptr;
}

}  // namespace annals::core
