#include "core/graphql/call.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core::graphql {

namespace {

/// Converts JSON to a value. The parser limits the depth.
Value value_of(json::Value given) {
    Value value;
    if (!given || given.is(json::Kind::null)) {
        return value;
    }
    if (given.is_array()) {
        value.kind = Value::Kind::list;
        for (const json::Value item : given.elements()) {
            value.items.push_back(value_of(item));
        }
    } else if (given.is_object()) {
        value.kind = Value::Kind::object;
        for (const auto [key, member] : given.members()) {
            value.names.push_back(key.string());
            value.items.push_back(value_of(member));
        }
    } else if (given.is_string()) {
        value.kind = Value::Kind::string;
        value.text = given.string();
    } else {
        value.text = given.raw();
        value.kind = given.is(json::Kind::boolean)                          ? Value::Kind::boolean
                     : value.text.find_first_of(".eE") == std::string::npos ? Value::Kind::integer
                                                                            : Value::Kind::real;
    }
    return value;
}

/// Whether a value of that kind fits the type called so; for types that aren't GraphQL's own, any scalar does.
bool is_of(std::string_view type, Value::Kind kind) {
    using Kind = Value::Kind;
    if (type == "Int") {
        return kind == Kind::integer;
    }
    if (type == "Float") {
        return kind == Kind::integer || kind == Kind::real;
    }
    if (type == "Boolean" || type == "boolean") {
        return kind == Kind::boolean;
    }
    if (type == "String") {
        return kind == Kind::string;
    }
    if (type == "ID") {
        return kind == Kind::string || kind == Kind::integer;
    }
    return kind != Kind::object && kind != Kind::list;
}

/// Converts `value` to `type`: a single value becomes a list if a list is needed.
bool coerce(const VariableType& type, Value& value) {
    if (value.is_null()) {
        return !type.required;
    }
    if (type.item.empty()) {
        return is_of(type.name, value.kind);
    }
    if (value.kind != Value::Kind::list) {
        Value list;
        list.kind = Value::Kind::list;
        list.items.push_back(std::move(value));
        value = std::move(list);
    }
    return std::all_of(value.items.begin(), value.items.end(),
                       [&](Value& item) { return coerce(type.item.front(), item); });
}

}  // namespace

Result<Variables> read_variables(const OperationDefinition& operation, json::Value given,
                                 Location& fault) {
    Variables variables;
    if (given.raw().size() > kVariablesBytesMax) {
        return Error{Errc::too_costly,
                     fmt::format("The variables have more than {} bytes", kVariablesBytesMax)};
    }
    std::vector<std::string_view> names;
    for (const VariableDefinition& definition : operation.variables) {
        fault = definition.at;
        if (std::find(names.begin(), names.end(), definition.name) != names.end()) {
            return Error{Errc::invalid,
                         fmt::format("The variable ${} is defined twice", definition.name)};
        }
        names.push_back(definition.name);
        const json::Value found = given[definition.name];
        if (!found && !definition.has_default && !definition.type.required) {
            continue;
        }
        Value value = found ? value_of(found) : definition.default_value;
        if (!coerce(definition.type, value)) {
            return Error{
                Errc::invalid,
                fmt::format("The variable ${} {}", definition.name,
                            value.is_null() ? "has no value" : "does not have the declared type")};
        }
        variables.emplace(definition.name, std::move(value));
    }
    return variables;
}

}  // namespace annals::core::graphql
