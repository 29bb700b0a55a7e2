// Steps through a resource: members, children, extensions, references.

#include "codec/fhirpath/machine.h"
#include "codec/xml/narrative.h"

namespace annals::fhirpath {
namespace {

using json::Kind;

std::string_view key_text(const json::Tree& tree, std::uint32_t key) {
    const json::Node& node = tree.nodes()[key];
    return tree.text().substr(node.begin + 1, node.end - node.begin - 2);
}

bool is_null(const json::Tree& tree, std::uint32_t node) {
    return tree.nodes()[node].kind == Kind::null;
}

}  // namespace

Item Item::resource(json::Value value) {
    Place place;
    if (value) {
        place.tree = &value.tree();
        place.value = value.index();
    }
    return element(place, types::of_resource(value));
}

Item Item::element(const Place& place, schema::Type type) {
    Item item;
    item.kind_ = Kind::element;
    item.type_ = type;
    item.place_ = place;
    return item;
}

std::uint32_t Machine::object_of(const Item& item) {
    const Place& place = item.place();
    if (place.tree == nullptr) {
        return Place::kNone;
    }
    if (place.value != Place::kNone && place.tree->nodes()[place.value].kind == Kind::object) {
        return place.value;
    }
    return place.sibling != Place::kNone && place.tree->nodes()[place.sibling].kind == Kind::object
               ? place.sibling
               : Place::kNone;
}

bool Machine::push_element(const Place& place, schema::Type type) {
    // A resource names its own type.
    if (type == schema::resource_base_type() && place.value != Place::kNone) {
        type = types::of_resource(json::Value(*place.tree, place.value));
    }
    return push(Item::element(place, type));
}

bool Machine::push_values(const json::Tree& tree, std::uint32_t parent, std::string_view json_name,
                          schema::Type type) {
    const json::Node* nodes = tree.nodes().data();
    const char* text = tree.text().data();
    Place member;
    member.tree = &tree;
    member.parent = parent;
    // One pass finds the member and its sibling, which begins with an underscore.
    const std::size_t wanted = json_name.size();
    std::uint32_t members = 0;
    for (std::uint32_t i = parent + 1; i < nodes[parent].next; i = nodes[i + 1].next) {
        const json::Node& key = nodes[i];
        const std::size_t length = key.end - key.begin - 2;
        ++members;
        if (length == wanted && std::memcmp(text + key.begin + 1, json_name.data(), wanted) == 0) {
            member.value = i + 1;
            member.key = i;
        } else if (length == wanted + 1 && text[key.begin + 1] == '_' &&
                   std::memcmp(text + key.begin + 2, json_name.data(), wanted) == 0) {
            member.sibling = i + 1;
            member.key = member.key == Place::kNone ? i : member.key;
        }
    }
    if (!step(members / 4)) {
        return false;
    }
    return member.key == Place::kNone || push_pair(member, type);
}

bool Machine::push_pair(const Place& member, schema::Type type) {
    const json::Tree& tree = *member.tree;
    const json::Node* nodes = tree.nodes().data();
    const std::uint32_t value = member.value;
    // Beside anything but a primitive it is not an element of FHIR.
    const std::uint32_t sibling = type && !type.is_primitive() ? Place::kNone : member.sibling;
    Place place = member;
    const bool many = (value != Place::kNone && nodes[value].kind == Kind::array) ||
                      (sibling != Place::kNone && nodes[sibling].kind == Kind::array);
    if (!many) {
        place.value =
            value != Place::kNone && nodes[value].kind == Kind::null ? Place::kNone : value;
        place.sibling = sibling;
        return place.value == Place::kNone && sibling == Place::kNone ? true
                                                                      : push_element(place, type);
    }
    // Two parallel arrays; either may be shorter or missing.
    const auto first = [&](std::uint32_t array) {
        return array != Place::kNone && nodes[array].kind == Kind::array ? array + 1 : Place::kNone;
    };
    std::uint32_t in_values = first(value);
    std::uint32_t in_siblings = first(sibling);
    const std::uint32_t values_end = in_values == Place::kNone ? Place::kNone : nodes[value].next;
    const std::uint32_t siblings_end =
        in_siblings == Place::kNone ? Place::kNone : nodes[sibling].next;
    for (place.index = 0; in_values != values_end || in_siblings != siblings_end; ++place.index) {
        place.value = Place::kNone;
        place.sibling = Place::kNone;
        if (in_values != values_end) {
            place.value = is_null(tree, in_values) ? Place::kNone : in_values;
            in_values = nodes[in_values].next;
        }
        if (in_siblings != siblings_end) {
            place.sibling = is_null(tree, in_siblings) ? Place::kNone : in_siblings;
            in_siblings = nodes[in_siblings].next;
        }
        if ((place.value != Place::kNone || place.sibling != Place::kNone) &&
            (!step() || !push_element(place, type))) {
            return false;
        }
    }
    return true;
}

bool Machine::push_members(const Item& item, const Name& name) {
    if (item.kind() == Item::Kind::type_info) {
        const bool system = item.system_;
        if (name.text == "namespace") {
            return push(Item::string(system ? "System" : "FHIR"));
        }
        if (name.text == "name") {
            return push(Item::string(system ? types::system_name(item.kind_of_)
                                            : types::public_name(item.type())));
        }
        return true;
    }
    if (!item.is_element()) {
        return true;
    }
    const std::uint32_t object = object_of(item);
    if (object == Place::kNone) {
        return true;
    }
    const json::Tree& tree = *item.place().tree;
    if (!item.type()) {
        return push_values(tree, object, name.text, {});
    }
    const schema::Range<schema::Element> found = item.type().find_base(name.text);
    if (found.empty() || found[0].is_primitive_value()) {
        return true;
    }
    if (!found[0].is_choice()) {
        return push_values(tree, object, name.text, found[0].type());
    }
    const json::Node* nodes = tree.nodes().data();
    for (std::uint32_t i = object + 1; i < nodes[object].next; i = nodes[i + 1].next) {
        std::string_view key = key_text(tree, i);
        if (key.starts_with('_')) {
            key.remove_prefix(1);
        }
        if (key.size() <= name.text.size() || !key.starts_with(name.text)) {
            continue;
        }
        const schema::Element option = item.type().find(key);
        if (option && option.is_choice() && option.base_name() == name.text) {
            return push_values(tree, object, key, option.type());
        }
    }
    return true;
}

bool Machine::member(const Node& node, const Scope& scope) {
    const Name& name = program_->names[node.value];
    if (node.a == kNone) {
        if (!scope.has_self) {
            return true;
        }
        // A type's name at the start of a path means the context, if that has the type.
        if (name.type && scope.self.is_element() && scope.self.type().is_a(name.type)) {
            return push(scope.self);
        }
        return push_members(scope.self, name);
    }
    const std::uint32_t mark = top_;
    if (!evaluate(node.a, scope)) {
        return false;
    }
    const std::uint32_t end = top_;
    for (std::uint32_t i = mark; i < end; ++i) {
        if (!step() || !push_members(stack_[i], name)) {
            return false;
        }
    }
    collapse(mark, end);
    return true;
}

bool Machine::push_children(const Item& item) {
    if (!item.is_element()) {
        return true;
    }
    const std::uint32_t object = object_of(item);
    if (object == Place::kNone) {
        return true;
    }
    const json::Tree& tree = *item.place().tree;
    const json::Node* nodes = tree.nodes().data();
    const schema::Type owner = item.type();
    bool beside = false;  // whether some member's name begins with an underscore
    for (std::uint32_t i = object + 1; i < nodes[object].next; i = nodes[i + 1].next) {
        beside = beside || key_text(tree, i).starts_with('_');
    }
    const auto find = [&](std::string_view name, std::string_view prefix) {
        for (std::uint32_t i = object + 1; i < nodes[object].next; i = nodes[i + 1].next) {
            const std::string_view key = key_text(tree, i);
            if (key.size() == prefix.size() + name.size() && key.starts_with(prefix) &&
                key.ends_with(name)) {
                return i + 1;
            }
        }
        return Place::kNone;
    };
    for (std::uint32_t i = object + 1; i < nodes[object].next; i = nodes[i + 1].next) {
        std::string_view key = key_text(tree, i);
        const bool alone = key.starts_with('_');
        if (alone) {
            key.remove_prefix(1);
        }
        const schema::Element found = owner.find(key);
        if (!step(beside ? 1 + nodes[object].count / 4 : 1)) {
            return false;
        }
        if (owner ? !found : key == "resourceType") {
            continue;
        }
        if (alone && find(key, "") != Place::kNone) {
            continue;  // it is pushed together with its value
        }
        const Place member{.tree = &tree,
                           .value = alone ? Place::kNone : i + 1,
                           .sibling = alone    ? i + 1
                                      : beside ? find(key, "_")
                                               : Place::kNone,
                           .parent = object,
                           .key = i};
        if (!push_pair(member, found.type())) {
            return false;
        }
    }
    return true;
}

bool Machine::push_extensions(const Item& item, std::string_view url) {
    if (!item.is_element()) {
        return true;
    }
    const std::uint32_t object = object_of(item);
    if (object == Place::kNone) {
        return true;
    }
    const std::uint32_t mark = top_;
    if (!push_values(*item.place().tree, object, "extension", schema::extension_type())) {
        return false;
    }
    std::uint32_t kept = mark;
    for (std::uint32_t i = mark; i < top_; ++i) {
        if (stack_[i].value()["url"].equals(url)) {
            stack_[kept++] = stack_[i];
        }
    }
    top_ = kept;
    return step();
}

bool Machine::find_local(const Item& resource, std::string_view reference, bool& found) {
    const json::Value root = resource.value();
    if (reference.starts_with('#')) {
        if (reference.size() == 1) {
            found = true;
            return push(resource);
        }
        for (const json::Value contained : root["contained"].elements()) {
            if (!step()) {
                return false;
            }
            if (contained["id"].equals(reference.substr(1))) {
                found = true;
                return push(Item::resource(contained));
            }
        }
        return true;
    }
    if (!root["resourceType"].equals("Bundle")) {
        return true;
    }
    const std::size_t slash = reference.find('/');
    for (const json::Value entry : root["entry"].elements()) {
        if (!step(4)) {
            return false;
        }
        const json::Value inside = entry["resource"];
        bool matches = entry["fullUrl"].equals(reference);
        if (!matches && slash != std::string_view::npos) {
            matches = inside["resourceType"].equals(reference.substr(0, slash)) &&
                      inside["id"].equals(reference.substr(slash + 1));
        }
        if (matches && inside.is_object()) {
            found = true;
            return push(Item::resource(inside));
        }
    }
    return true;
}

bool Machine::resolve(const Item& item) {
    // A Reference, or a uri, canonical or string that is the reference itself.
    json::Value text = item.value();
    std::string_view reference;
    if (item.kind() == Item::Kind::string) {
        reference = item.as_string();
    } else if (item.is_element()) {
        if (text.is_object()) {
            text = text["reference"];
        }
        if (!text.is_string()) {
            undecided_ = true;
            return true;
        }
        if (!string_of(text, reference)) {
            return false;
        }
    }
    if (reference.empty()) {
        return true;
    }
    bool found = false;
    const Item resource = environment_->resource.value_or(*input_);
    if (resource.is_element() && !find_local(resource, reference, found)) {
        return false;
    }
    if (!found && environment_->root_resource &&
        !find_local(*environment_->root_resource, reference, found)) {
        return false;
    }
    if (found) {
        return true;
    }
    Result<std::optional<Item>> answer = std::optional<Item>();
    if (environment_->hooks != nullptr && environment_->hooks->resolve) {
        answer = environment_->hooks->resolve(reference);
    }
    if (!answer) {
        return fail(std::move(answer.error()));
    }
    undecided_ = undecided_ || !*answer;
    return !*answer || push(**answer);
}

bool Machine::html_checks(Range input) {
    if (input.size() == 0) {
        return true;
    }
    std::optional<Item> value;
    if (!single(input, value, "htmlChecks()")) {
        return false;
    }
    if (!value || value->kind() != Item::Kind::string) {
        return push(Item::boolean(false));
    }
    const std::string_view text = value->as_string();
    return step(text.size() / 16) && push(Item::boolean(xml::check_narrative(text).has_value()));
}

}  // namespace annals::fhirpath
