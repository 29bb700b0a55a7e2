#include "core/graphql/types.h"

#include "core/base/all_resource_types.h"
#include "core/base/ascii.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace annals::core::graphql {

namespace {

constexpr std::string_view kList = "List";
constexpr std::string_view kConnection = "Connection";
constexpr std::string_view kEdge = "Edge";
constexpr std::string_view kQuery = "Query";

/// The resource type that precedes `suffix` in `name`.
std::optional<TypeId> resource_before(std::string_view name, std::string_view suffix) {
    if (!name.ends_with(suffix)) {
        return {};
    }
    name.remove_suffix(suffix.size());
    return find_resource_type(name);
}

FieldDefinition find_search(std::string_view name) {
    if (const auto type = resource_before(name, kList)) {
        return {FieldKind::list, {}, schema::Type(*type)};
    }
    if (const auto type = resource_before(name, kConnection)) {
        return {FieldKind::connection, {}, schema::Type(*type)};
    }
    return {};
}

FieldDefinition find_of_query(std::string_view name) {
    if (const auto type = find_resource_type(name)) {
        return {FieldKind::read, {}, schema::Type(*type)};
    }
    return find_search(name);
}

FieldDefinition find_of_fhir(schema::Type type, std::string_view name) {
    if (const schema::Element element = type.find(name)) {
        return {FieldKind::element, element, {}};
    }
    if (name.starts_with('_')) {
        const schema::Element element = type.find(name.substr(1));
        return element.type().is_primitive() ? FieldDefinition{FieldKind::sibling, element, {}}
                                             : FieldDefinition();
    }
    if (type == schema::reference_type() && name == "resource") {
        return {FieldKind::resolved, {}, {}};
    }
    if (!type.is_resource()) {
        return {};
    }
    return name == "resourceType" ? FieldDefinition{FieldKind::resource_type, {}, {}}
                                  : find_search(name);
}

using Named = std::pair<std::string_view, FieldKind>;

FieldDefinition find_among(std::span<const Named> fields, std::string_view name,
                           schema::Type type) {
    const auto found = std::ranges::find(fields, name, &Named::first);
    return found == fields.end() ? FieldDefinition() : FieldDefinition{found->second, {}, type};
}

/// "PatientContact" for "Patient.contact".
std::string name_of(schema::Type type) {
    std::string out;
    bool begins = false;
    for (const char c : type.name()) {
        if (c != '.') {
            out += begins ? ascii_upper(c) : c;
        }
        begins = c == '.';
    }
    return out;
}

/// Whether name_of() is `name`. Cost: stops at the first difference.
bool is_called(schema::Type type, std::string_view name) {
    bool begins = false;
    for (const char c : type.name()) {
        if (c != '.') {
            if (!name.starts_with(begins ? ascii_upper(c) : c)) {
                return false;
            }
            name.remove_prefix(1);
        }
        begins = c == '.';
    }
    return name.empty();
}

const std::vector<schema::Type>& all_resources() {
    static const std::vector<schema::Type> all = [] {
        std::vector<schema::Type> types;
        for (const TypeId type : kAllResourceTypes) {
            types.emplace_back(type);
        }
        return types;
    }();
    return all;
}

}  // namespace

bool FieldDefinition::is_leaf() const noexcept {
    switch (kind) {
        case FieldKind::element:
            return element.type().is_primitive();
        case FieldKind::read:
        case FieldKind::list:
        case FieldKind::connection:
        case FieldKind::sibling:
        case FieldKind::resolved:
        case FieldKind::edges:
        case FieldKind::edge_resource:
            return false;
        default:
            return true;
    }
}

FieldDefinition find_field(const ObjectType& object, std::string_view name) {
    static constexpr auto kOfConnections = std::to_array<Named>({{"count", FieldKind::count},
                                                                 {"offset", FieldKind::offset},
                                                                 {"pagesize", FieldKind::pagesize},
                                                                 {"pageSize", FieldKind::pagesize},
                                                                 {"first", FieldKind::first},
                                                                 {"previous", FieldKind::previous},
                                                                 {"next", FieldKind::next},
                                                                 {"last", FieldKind::last},
                                                                 {"edges", FieldKind::edges}});
    static constexpr auto kOfEdges = std::to_array<Named>({{"mode", FieldKind::mode},
                                                           {"score", FieldKind::score},
                                                           {"resource", FieldKind::edge_resource}});
    if (name == "__typename") {
        return {FieldKind::type_name, {}, {}};
    }
    switch (object.kind) {
        case ObjectKind::query:
            return find_of_query(name);
        case ObjectKind::fhir:
            return find_of_fhir(object.type, name);
        case ObjectKind::connection:
            return find_among(kOfConnections, name, object.type);
        case ObjectKind::edge:
            return find_among(kOfEdges, name, object.type);
    }
    return {};
}

std::string type_name(const ObjectType& object) {
    switch (object.kind) {
        case ObjectKind::query:
            return std::string(kQuery);
        case ObjectKind::fhir:
            return name_of(object.type);
        case ObjectKind::connection:
            return std::string(object.type.name()).append(kConnection);
        case ObjectKind::edge:
            return std::string(object.type.name()).append(kEdge);
    }
    return {};
}

std::string Scope::name() const {
    return types.size() == 1 ? type_name({kind, types.front()}) : "Resource";
}

Scope scope_of(const FieldDefinition& field) {
    switch (field.kind) {
        case FieldKind::connection:
            return {ObjectKind::connection, {field.type}};
        case FieldKind::edges:
            return {ObjectKind::edge, {field.type}};
        case FieldKind::sibling:
            return {ObjectKind::fhir, {schema::find_type("Element")}};
        case FieldKind::element:
            return {ObjectKind::fhir,
                    field.is_any_resource() ? all_resources() : std::vector{field.element.type()}};
        case FieldKind::resolved:
            return {ObjectKind::fhir, all_resources()};
        default:
            return {ObjectKind::fhir, {field.type}};
    }
}

bool is_for(std::string_view name, const ObjectType& object) {
    if (object.kind != ObjectKind::fhir) {
        return name == type_name(object);
    }
    if (const schema::Type type = schema::find_type(name)) {
        return object.type.is_a(type);
    }
    return object.type.kind() == schema::TypeKind::backbone && is_called(object.type, name);
}

bool is_type_name(std::string_view name) {
    if (schema::find_type(name) || name == kQuery || resource_before(name, kConnection) ||
        resource_before(name, kEdge)) {
        return true;
    }
    for (const schema::Type type : schema::types()) {
        if (is_called(type, name)) {
            return true;
        }
    }
    return false;
}

}  // namespace annals::core::graphql
