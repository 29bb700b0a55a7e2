#include "core/search/walk.h"

#include <algorithm>
#include <bit>

namespace annals::core::search {

namespace {

/// Hashes the name of a member by its size and three of its characters.
std::size_t slot_of(std::string_view name, std::size_t slots) noexcept {
    const auto byte = [&](std::size_t at) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(name[at]));
    };
    const std::uint32_t features = static_cast<std::uint32_t>(name.size()) | byte(0) << 8 |
                                   byte(name.size() / 2) << 16 | byte(name.size() - 1) << 24;
    return ((features * 0x9e3779b1U) >> 16) & (slots - 1);
}

// Whether JSON has at most one value under this name. A choice's name includes its type.
bool has_one(schema::Type type, std::string_view member) {
    const schema::Element element = type.is_primitive() ? schema::Element() : type.find(member);
    return element && !element.is_choice() && !element.repeats();
}

std::string_view key_of(const json::Tree& tree, const json::Node& key) {
    return {tree.text().data() + key.begin + 1, key.end - key.begin - 2};
}

}  // namespace

Walk::Walk(schema::Type type) {
    nodes_.push_back({type, {}, {}, {}});
}

bool Walk::add(const Path& path, schema::SearchType search, const Columns& columns) {
    return add(
        path, std::optional(search),
        Use{&columns, path.refers_to ? path.refers_to.resource_type() : std::optional<TypeId>()});
}

bool Walk::add_presence(const Path& path) {
    return !path.refers_to && add(path, std::nullopt, Use{});
}

bool Walk::add(const Path& path, std::optional<schema::SearchType> search, const Use& use) {
    // Only references can be distinguished by their targets.
    if (path.steps.empty() || (path.refers_to && search != schema::SearchType::reference) ||
        !can_follow(nodes_.front().type, path, 0)) {
        return false;
    }
    follow(0, path, 0, search, use);
    return true;
}

bool Walk::add(const CompositePaths& composite, Pairs& pairs) {
    std::uint32_t node = 0;
    if (!composite.element.steps.empty() &&
        !can_follow(nodes_.front().type, composite.element, 0)) {
        return false;
    }
    const auto can_follow_all = [&](std::span<const Path> paths) {
        return std::all_of(paths.begin(), paths.end(), [&](const Path& path) {
            return !path.steps.empty() && can_follow(composite.type, path, 0);
        });
    };
    if (!can_follow_all(composite.keys) || !can_follow_all(composite.values)) {
        return false;
    }
    for (const Step& step : composite.element.steps) {
        node = next(node, nodes_[node].type.find_base(step.name)[0], step.condition);
    }
    for (const Path& path : composite.keys) {
        follow(node, path, 0, schema::SearchType::token, {&pairs.columns, {}, &pairs, true});
    }
    for (const Path& path : composite.values) {
        follow(node, path, 0, composite.value_type, {&pairs.columns, {}, &pairs, false});
    }
    nodes_[node].pairs.push_back(&pairs);
    return true;
}

bool Walk::can_follow(schema::Type type, const Path& path, std::size_t step) const {
    // A primitive's children are beside it in JSON; a nested resource's depend on its type.
    if (type.is_primitive() || (step > 0 && type.is_resource())) {
        return false;
    }
    const Step& wanted = path.steps[step];
    const auto elements = type.find_base(wanted.name);
    if (elements.empty() || elements[0].is_primitive_value()) {
        return false;
    }
    for (const schema::Element element : elements) {
        if (wanted.only && element.type().is_resource()) {
            return false;
        }
        if (wanted.only && !is_kept_by_as(element.type(), wanted.only)) {
            continue;
        }
        if (wanted.condition.kind == Condition::Kind::equals &&
            !has_one(element.type(), wanted.condition.member)) {
            return false;
        }
        if (step + 1 < path.steps.size() && !can_follow(element.type(), path, step + 1)) {
            return false;
        }
    }
    return true;
}

void Walk::follow(std::uint32_t node, const Path& path, std::size_t step,
                  std::optional<schema::SearchType> search, const Use& use) {
    const Step& wanted = path.steps[step];
    for (const schema::Element element : nodes_[node].type.find_base(wanted.name)) {
        if (wanted.only && !is_kept_by_as(element.type(), wanted.only)) {
            continue;
        }
        const bool last = step + 1 == path.steps.size();
        const ValueKind kind = !search ? ValueKind::presence : value_kind(*search, element.type());
        if (last && kind == ValueKind::none) {
            continue;
        }
        if (!last) {
            follow(next(node, element, wanted.condition), path, step + 1, search, use);
            continue;
        }
        auto& sinks = route(node, element, wanted.condition).sinks;
        auto sink =
            std::find_if(sinks.begin(), sinks.end(), [&](const Sink& s) { return s.kind == kind; });
        if (sink == sinks.end()) {
            sink = sinks.insert(sinks.end(), {kind, implied_system(element), {}});
        }
        sink->uses.push_back(use);
    }
}

Walk::Route& Walk::route(std::uint32_t node, schema::Element element, const Condition& condition) {
    auto& branches = nodes_[node].branches;
    auto branch = std::find_if(branches.begin(), branches.end(),
                               [&](const Branch& b) { return b.element == element; });
    if (branch == branches.end()) {
        branch = branches.insert(branches.end(), {element, element.name(), {}});
    }
    auto found = std::find_if(branch->routes.begin(), branch->routes.end(),
                              [&](const Route& r) { return r.condition == condition; });
    return found != branch->routes.end()
               ? *found
               : *branch->routes.insert(branch->routes.end(), {condition, {}, 0});
}

/// The node that a route leads to, created if necessary, which may move the nodes.
std::uint32_t Walk::next(std::uint32_t node, schema::Element element, const Condition& condition) {
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    std::uint32_t& to = route(node, element, condition).next;
    if (to != 0) {
        return to;
    }
    to = made;
    nodes_.push_back({element.type(), {}, {}, {}});
    return made;
}

void Walk::finish() {
    for (Node& node : nodes_) {
        node.slots.assign(std::bit_ceil(node.branches.size() * 4 + 1), 0);
        for (std::size_t i = 0; i < node.branches.size(); ++i) {
            std::size_t slot = slot_of(node.branches[i].name, node.slots.size());
            while (node.slots[slot] != 0) {
                slot = (slot + 1) & (node.slots.size() - 1);
            }
            node.slots[slot] = static_cast<std::uint8_t>(i + 1);
        }
    }
}

const Walk::Branch* Walk::find(const Node& node, std::string_view name) const noexcept {
    if (name.empty()) {
        return nullptr;
    }
    std::size_t slot = slot_of(name, node.slots.size());
    while (node.slots[slot] != 0) {
        const Branch& branch = node.branches[node.slots[slot] - 1U];
        if (branch.name == name) {
            return &branch;
        }
        slot = (slot + 1) & (node.slots.size() - 1);
    }
    return nullptr;
}

void Walk::run(json::Value object, ValueWriter& writer) const {
    if (object.is_object()) {
        run(nodes_.front(), object, writer);
    }
}

void Walk::run(const Node& node, json::Value object, ValueWriter& writer) const {
    const json::Tree& tree = object.tree();
    const json::Node* const nodes = tree.nodes().data();
    const std::uint32_t end = nodes[object.index()].next;
    for (std::uint32_t i = object.index() + 1; i < end; i = nodes[i + 1].next) {
        const Branch* const branch = find(node, key_of(tree, nodes[i]));
        if (branch == nullptr) {
            continue;
        }
        if (nodes[i + 1].kind != json::Kind::array) {
            take(*branch, json::Value(tree, i + 1), 0, writer);
            continue;
        }
        std::size_t index = 0;
        for (std::uint32_t j = i + 2; j < nodes[i + 1].next; j = nodes[j].next) {
            take(*branch, json::Value(tree, j), index++, writer);
        }
    }
    for (Pairs* const pairs : node.pairs) {
        writer.write(*pairs);
    }
}

void Walk::take(const Branch& branch, json::Value value, std::size_t index,
                ValueWriter& writer) const {
    for (const Route& route : branch.routes) {
        if (route.condition.kind == Condition::Kind::equals &&
            !value[route.condition.member].equals(route.condition.value)) {
            continue;
        }
        if (route.condition.kind == Condition::Kind::index && route.condition.index != index) {
            continue;
        }
        for (const Sink& sink : route.sinks) {
            writer.write(sink.kind, value, sink.uses, sink.system);
        }
        if (route.next != 0 && value.is_object()) {
            run(nodes_[route.next], value, writer);
        }
    }
}

}  // namespace annals::core::search
