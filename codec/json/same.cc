#include "codec/json/same.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace annals::json {

namespace {

using NamedMembers = std::vector<std::pair<std::string, Value>>;

NamedMembers sorted_members(Value object) {
    NamedMembers members;
    for (const auto [key, value] : object.members()) {
        members.emplace_back(key.string(), value);
    }
    std::ranges::sort(members, {}, &NamedMembers::value_type::first);
    return members;
}

// Sorted by name, so that large objects don't take quadratic time.
bool is_same_object(Value a, Value b) {
    return std::ranges::equal(
        sorted_members(a), sorted_members(b), [](const auto& one, const auto& other) {
            return one.first == other.first && is_same(one.second, other.second);
        });
}

}  // namespace

bool is_same(Value a, Value b) {
    if (a.raw() == b.raw()) {
        return true;
    }
    if (a.is_string() && b.is_string()) {
        return a.string() == b.string();
    }
    if (a.size() != b.size()) {
        return false;
    }
    if (a.is_array() && b.is_array()) {
        auto other = b.elements().begin();
        for (const Value element : a.elements()) {
            if (!is_same(element, *other)) {
                return false;
            }
            ++other;
        }
        return true;
    }
    return a.is_object() && b.is_object() && is_same_object(a, b);
}

}  // namespace annals::json
