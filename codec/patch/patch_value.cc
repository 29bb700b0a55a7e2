#include "codec/patch/patch_value.h"

#include "codec/schema/primitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace annals::patch {

namespace {

using json::Value;

Error invalid(std::string detail) {
    return {Errc::invalid, std::move(detail)};
}

// The value[x] of a part: valueCode and its _valueCode.
struct TypedValue {
    Value value;
    Value sibling;
    schema::Type type;
};

Result<TypedValue> typed_value(Value part) {
    static const schema::Type kParameter = schema::find_type("Parameters.parameter");
    TypedValue found;
    std::string name;
    for (const auto [key, value] : part.members()) {
        std::string its = key.string();
        const bool beside = its.starts_with('_');
        if (beside) {
            its.erase(0, 1);
        }
        if (!its.starts_with("value")) {
            continue;
        }
        const schema::Element element = kParameter.find(its);
        if (!element) {
            return invalid(fmt::format("'{}' is not a value that Parameters can have", its));
        }
        if (!name.empty() && name != its) {
            return invalid("a part must have one value");
        }
        name = std::move(its);
        found.type = element.type();
        (beside ? found.sibling : found.value) = value;
    }
    return found;
}

// One element, with all its values, of an object given by nested parts.
struct Member {
    schema::Element element;
    std::vector<PatchValue> values;
};

// "name":[...] or "name":..., and "_name" if it has content.
void append_member(std::string& out, const Member& member) {
    const bool repeats = member.element.repeats();
    for (const bool beside : {false, true}) {
        bool any = false;
        std::string texts;
        for (const PatchValue& value : member.values) {
            const std::string& text = beside ? value.sibling : value.json;
            any = any || !text.empty();
            texts += texts.empty() ? "" : ",";
            texts += text.empty() ? "null" : text;
        }
        if (any) {
            out +=
                fmt::format(R"({}"{}{}":{}{}{})", out.size() > 1 ? "," : "", beside ? "_" : "",
                            member.element.name(), repeats ? "[" : "", texts, repeats ? "]" : "");
        }
    }
}

Result<PatchValue> build_object(Value part, schema::Type type) {
    std::vector<Member> members;
    for (const Value child : part["part"].elements()) {
        const std::string name = child["name"].string();
        ANNALS_TRY(const schema::Type child_type, value_type(child));
        ANNALS_TRY(const schema::Element element, find_element(type, name, child_type));
        ANNALS_TRY(PatchValue value, read_value(child, element.type()));
        auto member = std::ranges::find_if(members, [&](const Member& other) {
            return other.element.base_name() == element.base_name();
        });
        if (member == members.end()) {
            member = members.insert(member, Member{element, {}});
        } else if (!element.repeats()) {
            return invalid(fmt::format("'{}' may not occur twice", name));
        }
        member->values.push_back(std::move(value));
    }
    PatchValue out;
    out.json = "{";
    for (const Member& member : members) {
        append_member(out.json, member);
    }
    out.json += "}";
    return out;
}

}  // namespace

Result<schema::Type> value_type(Value part) {
    if (const Value resource = part["resource"]) {
        const schema::Type type = schema::find_type(resource["resourceType"].string());
        if (!type.is_resource()) {
            return invalid("'resource' must be a resource");
        }
        return type;
    }
    if (part["part"].size() != 0) {
        return schema::Type();
    }
    ANNALS_TRY(const TypedValue typed, typed_value(part));
    if (!typed.type) {
        return invalid("a value is missing");
    }
    return typed.type;
}

bool takes(schema::Type type, schema::Type value) noexcept {
    if (!value) {
        return !type.is_primitive();
    }
    if (type.is_primitive() || value.is_primitive()) {
        return type.is_primitive() && value.is_primitive() &&
               schema::kind_of(type.primitive()) == schema::kind_of(value.primitive());
    }
    return value.is_a(type) || type.is_a(value);
}

Result<schema::Element> find_element(schema::Type type, std::string_view name, schema::Type value) {
    if (name.ends_with("[x]")) {
        name.remove_suffix(3);
    }
    const schema::Range<schema::Element> options = type.find_base(name);
    schema::Element found;
    std::size_t fitting = 0;
    for (const schema::Element option : options) {
        if (!option.is_choice() || option.type() == value) {
            found = option;
            fitting = 1;
            break;
        }
        if (takes(option.type(), value)) {
            found = option;
            ++fitting;
        }
    }
    if (fitting > 1) {
        found = {};
    }
    if (options.empty()) {
        found = type.find(name);
    }
    if (!found || found.is_primitive_value()) {
        return invalid(options.empty() ? fmt::format("{} has no element '{}'", type.name(), name)
                                       : fmt::format("'{}' of {} cannot be a {}", name, type.name(),
                                                     value ? value.name() : "value made of parts"));
    }
    if (!takes(found.type(), value)) {
        return invalid(fmt::format("'{}' of {} must be a {}, not {}", name, type.name(),
                                   found.type().name(), value ? value.name() : "parts"));
    }
    return found;
}

Result<PatchValue> read_value(Value part, schema::Type type) {
    PatchValue out;
    if (const Value resource = part["resource"]) {
        out.json = resource.raw();
        return out;
    }
    if (part["part"].size() != 0) {
        return build_object(part, type);
    }
    ANNALS_TRY(const TypedValue typed, typed_value(part));
    out.json = typed.value.raw();
    out.sibling = typed.sibling.raw();
    return out;
}

}  // namespace annals::patch
