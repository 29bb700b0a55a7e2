// Look-up of R4's search parameters by type and code.
//
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <string_view>

namespace annals::test {

/// The one with that code of `type` or a type it is derived from; missing if there is none.
inline schema::SearchParameter find_search_parameter(schema::Type type, std::string_view code) {
    for (; type; type = type.base()) {
        for (const schema::SearchParameter parameter : schema::search_parameters(type)) {
            if (parameter.code() == code) {
                return parameter;
            }
        }
    }
    return {};
}

}  // namespace annals::test
