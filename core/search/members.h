// Access to an element's members for indexing.
//
// Layer:   core/search; used only by ValueWriter.
// Threads: plain functions.

#pragma once

#include "codec/json/document.h"
#include "core/search/ranges.h"

#include <optional>
#include <string_view>

namespace annals::core::search {

/// The raw characters of a string, inlined.
inline std::string_view raw_of(json::Value value) {
    const json::Node& node = value.node();
    return {value.tree().text().data() + node.begin + 1, node.end - node.begin - 2};
}

/// The member if it is a number that fits a double.
inline std::optional<double> number_of_member(json::Value object, std::string_view member) {
    const json::Value value = object[member];
    return value.is(json::Kind::number) ? number_value(value.raw()) : std::nullopt;
}

/// Calls `see` for the value or, if it is an array, for each element.
template <typename See>
void each(json::Value value, const See& see) {
    if (value.is_array()) {
        for (const json::Value element : value.elements()) {
            see(element);
        }
    } else if (value) {
        see(value);
    }
}

}  // namespace annals::core::search
