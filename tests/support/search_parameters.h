// R4's search parameters by their types and codes, one by one.
//
// Threads: plain functions.

#pragma once

#include "codec/schema/schema.h"

#include <string_view>

namespace annals::test {

/// The one of `type`, or of what it is derived from, with that code; missing if there is none.
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
