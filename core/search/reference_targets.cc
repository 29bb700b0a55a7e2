#include "core/search/reference_targets.h"

#include <algorithm>

namespace annals::core::search {

namespace {

std::string_view take_until(std::string_view& text, std::string_view separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
    return part;
}

/// Adds the target types of these elements; false if they include any type.
bool add_targets(schema::Range<schema::Element> elements, std::vector<TypeId>& types) {
    bool any = false;
    for (const schema::Element element : elements) {
        for (const schema::Type target : element.targets()) {
            any = true;
            const auto id = target.resource_type();
            if (!id) {
                return false;
            }
            types.push_back(*id);
        }
    }
    return any;
}

bool add_of_path(std::string_view path, schema::Type type, std::vector<TypeId>& types) {
    if (take_until(path, ".") != type.name()) {
        return false;
    }
    while (!path.empty()) {
        const auto elements = type.find_base(take_until(path, "."));
        if (path.empty()) {
            return add_targets(elements, types);
        }
        if (elements.begin() == elements.end()) {
            return false;
        }
        type = (*elements.begin()).type();
    }
    return false;
}

bool add_of_operand(std::string_view operand, schema::Type type, std::vector<TypeId>& types) {
    const std::string_view path = take_until(operand, ".where(resolve() is ");
    if (operand.empty()) {
        return add_of_path(path, type, types);
    }
    const schema::Type named = schema::find_type(take_until(operand, ")"));
    if (!named || !named.resource_type() || !operand.empty()) {
        return false;
    }
    types.push_back(*named.resource_type());
    return true;
}

}  // namespace

std::vector<TypeId> types_led_to(std::string_view expression, schema::Type type) {
    std::vector<TypeId> types;
    while (!expression.empty()) {
        if (!add_of_operand(take_until(expression, " | "), type, types)) {
            return {};
        }
    }
    return types;
}

}  // namespace annals::core::search
