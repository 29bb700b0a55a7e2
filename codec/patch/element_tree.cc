#include "codec/patch/element_tree.h"

#include "core/base/check.h"

#include <algorithm>
#include <utility>

namespace annals::patch {

using json::Kind;
using json::Value;

Way ElementTree::way_to(std::uint32_t node) const {
    Way way;
    Value at = resource_;
    while (at.index() != node) {
        Value next;
        Step step;
        for (const auto [key, member] : at.members()) {
            if (member.index() <= node && node < member.node().next) {
                step = {key.string(), 0, true};
                next = member;
            }
        }
        std::size_t index = 0;
        for (const Value element : at.elements()) {
            if (element.index() <= node && node < element.node().next) {
                step = {{}, index, false};
                next = element;
            }
            ++index;
        }
        ANNALS_CHECK(next);
        way.push_back(std::move(step));
        at = next;
    }
    return way;
}

schema::Type ElementTree::type_at(std::uint32_t node) const {
    schema::Type type = schema::find_type(resource_["resourceType"].string());
    Value at = resource_;
    for (const Step& step : way_to(node)) {
        if (!step.into_object) {
            std::size_t index = 0;
            for (const Value element : at.elements()) {
                if (index++ == step.index) {
                    at = element;
                    break;
                }
            }
        } else {
            at = at[step.key];
            type = step.key.starts_with('_') ? schema::find_type("Element")
                                             : type.find(step.key).type();
        }
        if (at.is_object() && type == schema::resource_base_type()) {
            type = schema::find_type(at["resourceType"].string());
        }
    }
    return type;
}

bool ElementTree::has(const Way& way, std::string_view name) {
    const std::string key(name);
    return tree_.member(slot_at(way), key) != nullptr ||
           tree_.member(slot_at(way), "_" + key) != nullptr;
}

std::size_t ElementTree::list_size(const Way& way, const std::string& name) {
    std::size_t size = 0;
    for (const std::string& key : {name, "_" + name}) {
        const Slot list = list_at(way, key);
        size = std::max(size, list == nullptr ? 0 : tree_.size(*list));
    }
    return size;
}

void ElementTree::set_members(const Way& way, const std::string& name, PatchValue value) {
    if (!value.json.empty()) {
        tree_.set_member(slot_at(way), name, tree_.from_text(std::move(value.json)));
    }
    if (!value.sibling.empty()) {
        tree_.set_member(slot_at(way), "_" + name, tree_.from_text(std::move(value.sibling)));
    }
}

void ElementTree::replace_members(const Way& way, const std::string& name,
                                  const std::string& new_name, PatchValue value) {
    for (const std::string& key : {name, "_" + name}) {
        const std::string& text = key.size() == name.size() ? value.json : value.sibling;
        if (tree_.member(slot_at(way), key) != nullptr && (text.empty() || new_name != name)) {
            tree_.remove_member(slot_at(way), key);
        }
    }
    set_members(way, new_name, std::move(value));
}

void ElementTree::remove_members(const Way& way, const std::string& name) {
    for (const std::string& key : {name, "_" + name}) {
        if (tree_.member(slot_at(way), key) != nullptr) {
            tree_.remove_member(slot_at(way), key);
        }
    }
    prune(way);
}

void ElementTree::insert_element(const Way& way, const std::string& name, std::size_t size,
                                 std::size_t index, PatchValue value) {
    const std::string beside = "_" + name;
    const bool has_list = list_at(way, name) != nullptr;
    if (!value.json.empty() || has_list) {
        tree_.insert_element(padded_list(way, name, size), index,
                             tree_.from_text(value.json.empty() ? "null" : value.json));
    }
    if (!value.sibling.empty() || list_at(way, beside) != nullptr) {
        tree_.insert_element(padded_list(way, beside, size), index,
                             tree_.from_text(value.sibling.empty() ? "null" : value.sibling));
    }
}

void ElementTree::replace_element(const Way& way, const std::string& name, std::size_t index,
                                  PatchValue value) {
    const std::size_t size = list_size(way, name);
    for (const bool beside : {false, true}) {
        const std::string key = beside ? "_" + name : name;
        const std::string& text = beside ? value.sibling : value.json;
        if (text.empty() && list_at(way, key) == nullptr) {
            continue;
        }
        const Slot list = padded_list(way, key, size);
        tree_.replace(tree_.element(list, index), tree_.from_text(text.empty() ? "null" : text));
    }
    drop_if_all_null(way, name);
    drop_if_all_null(way, "_" + name);
}

void ElementTree::remove_element(const Way& way, const std::string& name, std::size_t index) {
    for (const std::string& key : {name, "_" + name}) {
        const Slot list = list_at(way, key);
        if (list != nullptr && index < tree_.size(*list)) {
            tree_.remove_element(list, index);
        }
        drop_if_all_null(way, key);
    }
    prune(way);
}

void ElementTree::move_element(const Way& way, const std::string& name, std::size_t source,
                               std::size_t destination) {
    const std::size_t size = list_size(way, name);
    for (const std::string& key : {name, "_" + name}) {
        if (list_at(way, key) == nullptr) {
            continue;
        }
        const Slot list = padded_list(way, key, size);
        const EditTree::Ref moved = *tree_.element(list, source);
        tree_.remove_element(list, source);
        tree_.insert_element(list, destination, moved);
    }
}

Way ElementTree::way_beside(Way way, const std::string& name, std::optional<std::size_t> index) {
    const std::string key = "_" + name;
    if (!index) {
        const Slot beside = tree_.member(slot_at(way), key);
        if (beside == nullptr || tree_.kind(*beside) != Kind::object) {
            tree_.set_member(slot_at(way), key, tree_.make_object());
        }
        way.push_back({key, 0, true});
        return way;
    }
    const Slot slot = tree_.element(padded_list(way, key, list_size(way, name)), *index);
    if (tree_.kind(*slot) != Kind::object) {
        tree_.replace(slot, tree_.make_object());
    }
    way.push_back({key, 0, true});
    way.push_back({{}, *index, false});
    return way;
}

ElementTree::Slot ElementTree::slot_at(const Way& way) {
    Slot slot = tree_.root();
    for (const Step& step : way) {
        slot = step.into_object ? tree_.member(slot, step.key) : tree_.element(slot, step.index);
        ANNALS_CHECK(slot != nullptr);
    }
    return slot;
}

ElementTree::Slot ElementTree::list_at(const Way& way, const std::string& key) {
    const Slot slot = tree_.member(slot_at(way), key);
    return slot != nullptr && tree_.kind(*slot) == Kind::array ? slot : nullptr;
}

ElementTree::Slot ElementTree::padded_list(const Way& way, const std::string& key,
                                           std::size_t size) {
    if (list_at(way, key) == nullptr) {
        tree_.set_member(slot_at(way), key, tree_.make_array());
    }
    const Slot list = list_at(way, key);
    while (tree_.size(*list) < size) {
        tree_.insert_element(list, tree_.size(*list), tree_.from_text("null"));
    }
    return list;
}

void ElementTree::prune(Way way) {
    if (way.empty() || tree_.size(*slot_at(way)) != 0) {
        return;
    }
    const Step last = way.back();
    way.pop_back();
    if (last.into_object) {
        tree_.remove_member(slot_at(way), last.key);
        prune(std::move(way));
        return;
    }
    if (way.empty() || !way.back().into_object) {
        return;  // a list inside a list, which FHIR does not have
    }
    const std::string key = way.back().key;
    way.pop_back();
    const std::string name = key.starts_with('_') ? key.substr(1) : key;
    const Slot values = name == key ? nullptr : tree_.member(slot_at(way), name);
    const Slot value = values == nullptr ? nullptr : tree_.element(values, last.index);
    if (value == nullptr || tree_.kind(*value) == Kind::null) {
        remove_element(way, name, last.index);
        return;
    }
    // Its index in the list is that of the value beside it.
    tree_.replace(tree_.element(tree_.member(slot_at(way), key), last.index),
                  tree_.from_text("null"));
    drop_if_all_null(way, key);
}

void ElementTree::drop_if_all_null(const Way& way, const std::string& key) {
    const Slot list = list_at(way, key);
    if (list == nullptr) {
        return;
    }
    for (std::size_t i = 0; i < tree_.size(*list); ++i) {
        if (tree_.kind(*tree_.element(list, i)) != Kind::null) {
            return;
        }
    }
    tree_.remove_member(slot_at(way), key);
}

}  // namespace annals::patch
