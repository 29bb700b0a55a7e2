#include "codec/xml/fault.h"

#include <fmt/format.h>

namespace annals::xml {

Error describe(std::string_view text, const Fault& fault) {
    return describe(json::place_of(text, fault.offset), fault);
}

Error describe(json::Place place, const Fault& fault) {
    return {fault.code,
            fmt::format("{} at line {}, column {}: {}",
                        fault.code == Errc::invalid ? "invalid XML" : "XML", place.line,
                        place.column, fault.message),
            {}};
}

}  // namespace annals::xml
