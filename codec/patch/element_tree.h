// ElementTree: the elements of a resource under change. What JSON keeps of an element in two places, its value and its id and
// extensions beside it (birthDate, _birthDate), is changed as one.
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

/// Elements are named as JSON names them, without "_". Each `way` leads to the object that has the element.
class ElementTree {
  public:
    /// Lifetime and Requires: as of EditTree.
    ElementTree(json::Value resource, json::Value parameters, const Limits& limits)
        : resource_(resource), tree_(resource, parameters, limits) {}

    EditTree& tree() noexcept { return tree_; }

    // The resource as it came, by the numbers of its nodes.

    /// The way to the object or value at `node`.
    Way way_to(std::uint32_t node) const;

    /// The type of the object at `node`, by the names on the way to it; missing if one is not known.
    schema::Type type_at(std::uint32_t node) const;

    // The resource as it is by now.

    bool has(const Way& way, std::string_view name);

    /// Elements of a list, counted in whichever of its two places has more.
    std::size_t list_size(const Way& way, const std::string& name);

    /// Puts in a value that does not repeat.
    void set_members(const Way& way, const std::string& name, PatchValue value);

    /// Puts a value in the place of one that does not repeat, and may be called otherwise: of a choice.
    void replace_members(const Way& way, const std::string& name, const std::string& new_name,
                         PatchValue value);

    /// Takes an element out; what is empty then goes, too.
    void remove_members(const Way& way, const std::string& name);

    /// Puts a value into a list, which has `size` elements.
    void insert_element(const Way& way, const std::string& name, std::size_t size,
                        std::size_t index, PatchValue value);
    void replace_element(const Way& way, const std::string& name, std::size_t index,
                         PatchValue value);
    void move_element(const Way& way, const std::string& name, std::size_t source,
                      std::size_t destination);

    /// Takes an element out of a list; what is empty then goes, too.
    void remove_element(const Way& way, const std::string& name, std::size_t index);

    /// The way to the object beside a primitive, made if it is not there. `index`: in a list.
    Way way_beside(Way way, const std::string& name, std::optional<std::size_t> index);

  private:
    using Slot = EditTree::Slot;

    Slot slot_at(const Way& way);

    /// The list `key`; null if there is none. What stands beside a list is none where FHIR does not have it: "_name" of complex
    /// elements, and whatever was not validated.
    Slot list_at(const Way& way, const std::string& key);

    /// The list `key`, made if it is not there, with at least `size` elements: as many as are beside it, as JSON of FHIR has it.
    Slot padded_list(const Way& way, const std::string& key, std::size_t size);

    /// Removes the object at the end of `way` if nothing is left in it.
    void prune(Way way);

    /// Takes out the list `key` if nothing is in it.
    void drop_if_all_null(const Way& way, const std::string& key);

    json::Value resource_;
    EditTree tree_;
};

}  // namespace annals::patch
