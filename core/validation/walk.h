// Walks from the members of a JSON object to the elements that they represent.
//
// Layer:   core, inside core/validation.
// Spec:    FHIR R4 json.html (arrays, members with an underscore).
// Threads: plain functions.

#pragma once

#include "codec/json/resource.h"
#include "core/validation/context.h"

namespace annals::validation {

/// A member of an object, paired with the member of the same name with an underscore.
struct Member {
    json::Value object;
    json::Value key;
    json::Value value;
    json::Value sibling;
    schema::Element element;
};

Spot make_spot(const Member& member, json::Value value, json::Value sibling, std::uint32_t index);

/// Calls `see(spot)` for each element in the member: one, or each of its array.
template <typename See>
void for_each_spot(const Member& member, const See& see) {
    // Siblings without counterpart are not FHIR elements.
    const json::Value beside =
        member.element.type().is_primitive() ? member.sibling : json::Value();
    if (!member.value && !beside) {
        return;
    }
    if (!member.value.is_array() && !beside.is_array()) {
        see(make_spot(member, member.value, beside, fhirpath::Place::kNone));
        return;
    }
    auto value = member.value.elements().begin();
    const auto value_end = member.value.elements().end();
    auto sibling = beside.elements().begin();
    const auto sibling_end = beside.elements().end();
    for (std::uint32_t i = 0; value != value_end || sibling != sibling_end; ++i) {
        const json::Value own = value != value_end ? *value : json::Value();
        const json::Value extra = sibling != sibling_end ? *sibling : json::Value();
        if ((own && !own.is(json::Kind::null)) || extra.is_object()) {
            see(make_spot(member, own, extra, i));
        }
        if (value != value_end) {
            ++value;
        }
        if (sibling != sibling_end) {
            ++sibling;
        }
    }
}

/// Calls `see(spot)` for each element that the parent's type has; a primitive's value and its sibling together.
/// Cost: a pass over the members for each such element; other members cost nothing more.
template <typename See>
void for_each_child(const Spot& parent, const See& see) {
    const json::Value object = parent.object();
    if (!parent.type) {
        return;
    }
    bool has_siblings = false;
    for (const auto [key, value] : object.members()) {
        has_siblings = has_siblings || key.raw_string().starts_with('_');
    }
    std::string name;
    for (const auto [key, value] : object.members()) {
        std::string_view bare = key.raw_string();
        const bool is_sibling = bare.starts_with('_');
        bare.remove_prefix(is_sibling ? 1 : 0);
        Member member{object, key, value, {}, parent.type.find(bare)};
        if (!member.element) {
            continue;
        }
        if (is_sibling) {
            if (object[bare]) {
                continue;  // seen together with the value
            }
            member.value = {};
            member.sibling = value;
        } else if (has_siblings) {
            name.assign("_").append(bare);
            member.sibling = object[name];
        }
        for_each_spot(member, see);
    }
}

}  // namespace annals::validation
