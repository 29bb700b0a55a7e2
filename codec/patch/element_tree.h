// ElementTree: the elements of a resource being edited. JSON keeps a primitive's value and its id and extensions in two
// places (birthDate, _birthDate); both are changed as one.
//
// Layer:   codec, inside codec/patch.
// Spec:    FHIR R4 json.html#primitive, fhirpatch.html.
// Threads: a tree belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "codec/patch/edit_tree.h"
#include "codec/patch/patch_value.h"
#include "codec/schema/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::patch {

/// A step from an object or array to its child.
struct Step {
    std::string key;  ///< of an object's member
    std::size_t index = 0;
    bool into_object = false;
};

/// From the resource down.
using Way = std::vector<Step>;

/// Elements have their JSON names, without "_". Each `way` leads to the object that contains the element.
class ElementTree {
  public:
    /// Lifetime, Requires: as for EditTree.
    ElementTree(json::Value resource, json::Value parameters, const Limits& limits)
        : resource_(resource), tree_(resource, parameters, limits) {}

    EditTree& tree() noexcept { return tree_; }

    // The original resource, by its node numbers.

    /// The way to the object or value at `node`.
    Way way_to(std::uint32_t node) const;

    /// The type of the object at `node`, from the names on the way to it; missing if one is unknown.
    schema::Type type_at(std::uint32_t node) const;

    // The resource as edited so far.

    bool has(const Way& way, std::string_view name);

    /// The number of elements of a list: that of its longer array.
    std::size_t list_size(const Way& way, const std::string& name);

    /// Adds an element that does not repeat.
    void set_members(const Way& way, const std::string& name, PatchValue value);

    /// Replaces an element that does not repeat; a choice may get another name.
    void replace_members(const Way& way, const std::string& name, const std::string& new_name,
                         PatchValue value);

    /// Removes an element, and what becomes empty by that.
    void remove_members(const Way& way, const std::string& name);

    /// Inserts an element into a list, which has `size` elements.
    void insert_element(const Way& way, const std::string& name, std::size_t size,
                        std::size_t index, PatchValue value);
    void replace_element(const Way& way, const std::string& name, std::size_t index,
                         PatchValue value);
    void move_element(const Way& way, const std::string& name, std::size_t source,
                      std::size_t destination);

    /// Removes an element from a list, and what becomes empty by that.
    void remove_element(const Way& way, const std::string& name, std::size_t index);

    /// The way to the object beside a primitive, created if missing. `index`: in a list.
    Way way_beside(Way way, const std::string& name, std::optional<std::size_t> index);

  private:
    using Slot = EditTree::Slot;

    Slot slot_at(const Way& way);

    /// The array `key`; null if there is none. `_name` beside a list is none if FHIR has no such
    /// member (for complex elements), or if the resource was not validated.
    Slot list_at(const Way& way, const std::string& key);

    /// The array `key`, created if missing and padded with nulls to at least `size` elements, the
    /// length of the array beside it.
    Slot padded_list(const Way& way, const std::string& key, std::size_t size);

    /// Removes the object at the end of `way` if it is empty.
    void prune(Way way);

    /// Removes the array `key` if it has only nulls.
    void drop_if_all_null(const Way& way, const std::string& key);

    json::Value resource_;
    EditTree tree_;
};

}  // namespace annals::patch
