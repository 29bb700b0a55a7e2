#include "core/graphql/elements.h"

#include "core/graphql/fhirpath.h"

#include <algorithm>
#include <string>
#include <utility>

namespace annals::core::graphql {

std::vector<json::Value> values_of(json::Value value) {
    if (!value.is_array()) {
        return value ? std::vector{value} : std::vector<json::Value>();
    }
    std::vector<json::Value> values;
    for (const json::Value element : value.elements()) {
        values.push_back(element);
    }
    return values;
}

schema::Type type_of(const schema::Element element, json::Value value) {
    if (element.type() != schema::resource_base_type()) {
        return element.type();
    }
    const schema::Type type = schema::find_type(value["resourceType"].string());
    return type.resource_type() ? type : schema::Type();
}

fhirpath::Item item_of(json::Value value, schema::Type type) {
    if (type.is_resource()) {
        return fhirpath::Item::resource(value);
    }
    fhirpath::Place place;
    place.tree = &value.tree();
    place.value = value.index();
    return fhirpath::Item::element(place, type);
}

namespace {

bool equals(json::Value object, const std::pair<std::string, std::string>& wanted) {
    return std::ranges::any_of(values_of(object[wanted.first]), [&](json::Value value) {
        return value.is_string() ? value.equals(wanted.second) : value.raw() == wanted.second;
    });
}

/// Whether the arguments select the element, not considering offset and count.
Result<bool> is_wanted(json::Value value, std::uint64_t index, const FieldPlan& field,
                       json::Value resource) {
    const ElementFilter& wanted = field.call.elements;
    const schema::Type type = type_of(field.definition.element, value);
    const bool fits =
        value.is_object() && type &&
        std::ranges::all_of(wanted.equal, [&](const auto& pair) { return equals(value, pair); });
    if (!fits || !wanted.filter) {
        return fits;
    }
    return passes_filter(*wanted.filter, item_of(value, type), resource, index);
}

}  // namespace

asio::awaitable<Result<std::vector<Numbered>>> choose_elements(json::Value value,
                                                               const FieldPlan& field,
                                                               json::Value resource, Turns& turns) {
    const ElementFilter& wanted = field.call.elements;
    const std::uint64_t most = std::min<std::uint64_t>(wanted.count.value_or(UINT64_MAX),
                                                       field.call.first ? 1 : UINT64_MAX);
    std::vector<Numbered> out;
    std::uint64_t index = 0;
    std::uint64_t passed = 0;
    for (const json::Value one : values_of(value)) {
        if (out.size() == most) {
            break;
        }
        const Result<bool> passes = is_wanted(one, index, field, resource);
        if (!passes) {
            co_return passes.error();
        }
        if (*passes && passed++ >= wanted.offset) {
            out.push_back({one, index});
        }
        ++index;
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
    }
    co_return out;
}

}  // namespace annals::core::graphql
