#include "core/validation/references.h"

#include "core/validation/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace annals::validation {

Literal parse_literal(std::string_view text) {
    Literal literal;
    text = text.substr(0, text.find_first_of("#|"));
    text = text.substr(0, text.find("/_history/"));
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos || slash == 0) {
        return literal;
    }
    const std::size_t before = text.rfind('/', slash - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    literal.base = text.substr(0, begin);
    literal.type_name = text.substr(begin, slash - begin);
    literal.id = text.substr(slash + 1);
    const schema::Type type = schema::find_type(literal.type_name);
    if (type && type.resource_type() && is_resource_id(literal.id)) {
        literal.type = type;
    }
    return literal;
}

bool is_absolute(std::string_view text) {
    const std::size_t colon = text.find(':');
    return colon != std::string_view::npos && colon > 0 &&
           text.substr(0, colon).find_first_of("/?#") == std::string_view::npos;
}

namespace {

/// The base of an entry's fullUrl if that is a RESTful URL, with the trailing slash.
const std::string& base_of(Context& context, json::Value entry) {
    const auto [place, missing] = context.bases.try_emplace(entry.index());
    if (missing) {
        const std::string full_url = entry["fullUrl"].string();
        const Literal literal = parse_literal(full_url);
        if (literal.type && (full_url.starts_with("http://") || full_url.starts_with("https://"))) {
            place->second = literal.base;
        }
    }
    return place->second;
}

const Frame* bundle_around(const Frame& frame) {
    for (const Frame* outer = frame.outer; outer != nullptr; outer = outer->outer) {
        if (outer->resource.type && outer->resource.type.name() == "Bundle") {
            return outer;
        }
    }
    return nullptr;
}

/// The resources in `holder`'s `list` whose `member` is `name`, in order.
std::span<const Held> held_as(Context& context, json::Value holder, std::string_view list,
                              std::string_view member, const std::string& name) {
    const auto [place, missing] = context.within.try_emplace({holder.index(), list});
    auto& by_name = place->second;
    if (missing) {
        for (const json::Value element : holder[list].elements()) {
            if (!context.spend()) {
                break;
            }
            const json::Value resource = list == "entry" ? element["resource"] : element;
            by_name[element[member].string()].push_back(
                {element, resource_spot(resource), resource["meta"]["versionId"]});
        }
    }
    const auto found = by_name.find(name);
    return found == by_name.end() ? std::span<const Held>() : found->second;
}

/// Calls `see(held)` for each resource of the bundle that matches the reference, until it returns false.
template <typename See>
void for_each_match(Context& context, const Frame& frame, const Frame& bundle,
                    std::string_view reference, const See& see) {
    std::string_view version;
    if (const std::size_t history = reference.find("/_history/");
        history != std::string_view::npos) {
        version = reference.substr(history + 10);
        reference = reference.substr(0, history);
    }
    std::string wanted(reference);
    if (!is_absolute(reference)) {
        const std::string& base = base_of(context, frame.entry);
        if (base.empty() || !context.spend(base.size() / 64)) {
            return;
        }
        wanted = base + wanted;
    }
    for (const Held& held : held_as(context, bundle.resource.value(), "entry", "fullUrl", wanted)) {
        if (!context.spend()) {
            return;
        }
        if (held.resource.value().is_object() &&
            (version.empty() || held.version.equals(version)) && !see(held)) {
            return;
        }
    }
}

/// A spot without a value if there is none.
Spot find_contained(Context& context, const Frame& frame, const std::string& id) {
    const auto found = held_as(context, frame.container.value(), "contained", "id", id);
    return found.empty() ? Spot() : found.front().resource;
}

/// The type in a conditional reference (Type?criteria); missing if it isn't one.
schema::Type conditional_type(std::string_view text) {
    const std::size_t query = text.find('?');
    const schema::Type type =
        query == std::string_view::npos ? schema::Type() : schema::find_type(text.substr(0, query));
    return type.is_resource() ? type : schema::Type();
}

/// Whether a relative reference has one of the permitted forms: Type/id or Type?criteria.
bool is_relative_form(std::string_view text) {
    const Literal literal = parse_literal(text);
    return (literal.type && literal.base.empty()) || conditional_type(text);
}

}  // namespace

Target resolve(Context& context, const Frame& frame, json::Value reference) {
    return reference.is_string() ? resolve(context, frame, reference.string()) : Target();
}

Target resolve(Context& context, const Frame& frame, std::string_view text) {
    Target target;
    target.frame = frame;
    if (text.starts_with('#')) {
        Spot found;
        if (text == "#") {
            found.place.tree = frame.container.place.tree;
            found.place.value = frame.container.place.value;
            found.type = frame.container.type;
        } else {
            found = find_contained(context, frame, std::string(text.substr(1)));
        }
        if (found.value()) {
            target.resource = found;
            target.type = found.type;
            target.frame.resource = found;
        }
        return target;
    }
    for (const Frame* bundle = bundle_around(frame); bundle != nullptr && !target.resource.type;
         bundle = bundle_around(*bundle)) {
        for_each_match(context, frame, *bundle, text, [&](const Held& held) {
            if (const Spot& found = held.resource; found.type) {
                target.resource = found;
                target.type = found.type;
                target.frame.resource = found;
                target.frame.container = found;
                target.frame.outer = bundle;
                target.frame.entry = held.element;
            }
            return !target.resource.type;
        });
    }
    if (!target.type) {
        target.type = conditional_type(text);
    }
    // A reference with a fragment, to a resource contained in another one, doesn't show the type.
    if (!target.type && text.find('#') == std::string_view::npos) {
        target.type = parse_literal(text).type;
    }
    return target;
}

std::optional<std::size_t> count_in_bundle(Context& context, const Frame& frame,
                                           std::string_view reference) {
    const Frame* const bundle = bundle_around(frame);
    if (bundle == nullptr) {
        return std::nullopt;
    }
    std::size_t count = 0;
    for_each_match(context, frame, *bundle, reference, [&](const Held&) {
        ++count;
        return true;
    });
    return count;
}

void check_reference(Context& context, const Frame& frame, const Spot& spot) {
    const json::Value reference = spot.value()["reference"];
    const std::string text = reference.string();
    if (text.starts_with('#')) {
        if (text != "#" && !find_contained(context, frame, text.substr(1)).value()) {
            context.error("invariant", spot,
                          fmt::format("There is no contained resource {} (ref-1)", text));
            return;
        }
    } else if (!text.empty() && !is_absolute(text) && !is_relative_form(text)) {
        context.error("invalid", spot,
                      fmt::format("A relative reference must be Type/id, not {}", text));
        return;
    }
    const Target target = resolve(context, frame, reference);
    schema::Type type = target.type;
    if (const json::Value stated = spot.value()["type"]) {
        const schema::Type named = schema::find_type(stated.string());
        if (type && named && !type.is_a(named)) {
            context.error(
                "structure", spot,
                fmt::format(
                    "The reference states the type {}, but leads to a resource of the type {}",
                    named.name(), type.name()));
            return;
        }
        type = type ? type : named;
    }
    const schema::List<schema::Type> allowed = spot.element.targets();
    if (!type || !type.is_resource() || allowed.empty()) {
        return;
    }
    for (const schema::Type one : allowed) {
        if (type.is_a(one)) {
            return;
        }
    }
    context.error(
        "structure", spot,
        fmt::format("{} does not refer to the type {}", spot.element.name(), type.name()));
}

void check_contained(Context& context, const Frame& frame) {
    const json::Value contained = frame.resource.value()["contained"];
    if (contained.size() == 0 || !context.spend()) {
        return;
    }
    // Collects all texts in the resource that may be local references, and the places of "#".
    const json::Tree& tree = frame.resource.value().tree();
    const auto nodes = tree.nodes();
    const std::uint32_t end = frame.resource.value().node().next;
    std::set<std::string> named;
    std::vector<std::uint32_t> to_container;  // ascending
    std::string resolved;
    context.spend(end - frame.resource.place.value);
    for (std::uint32_t i = frame.resource.place.value; i < end; ++i) {
        if (nodes[i].kind != json::Kind::string || nodes[i].end - nodes[i].begin < 3) {
            continue;
        }
        std::string_view text = json::Value(tree, i).raw_string();
        if (nodes[i].escaped) {
            resolved = json::Value(tree, i).string();
            text = resolved;
        }
        if (text == "#") {
            to_container.push_back(i);
        } else if (text.starts_with('#')) {
            named.emplace(text);
        }
        // Links in narratives: src="#image".
        for (const std::string_view begin : {"=\"#", "='#"}) {
            for (std::size_t at = text.find(begin); at != std::string_view::npos;
                 at = text.find(begin, at + 1)) {
                const std::string_view link = text.substr(at + 2);
                named.emplace(link.substr(0, link.find(begin[1])));
            }
        }
    }
    for (const json::Value inner : contained.elements()) {
        const std::string id = inner["id"].string();
        const auto inside = std::ranges::upper_bound(to_container, inner.index());
        const bool refers = inside != to_container.end() && *inside < inner.node().next;
        if (!id.empty() && !refers && !named.contains("#" + id)) {
            context.error("invariant", inner,
                          fmt::format("Nothing refers to the contained resource #{} (dom-3)", id));
        }
    }
}

}  // namespace annals::validation
