// EditTree: a JSON value under change, as references into the texts that it came from.
//
// Layer:   codec; depends on core/base only.
// Spec:    RFC 6902, FHIR R4 fhirpatch.html: both patch formats edit through this.
// Threads: a tree belongs to one thread.

#pragma once

#include "codec/json/document.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace annals::patch {

/// What a document may come to while it is patched. Past a bound the patch fails.
struct Limits {
    std::size_t bytes_max = std::size_t{64} << 20;  ///< of the result
    std::size_t steps_max = std::size_t{1} << 23;   ///< members and elements looked at or moved
};

/// A document that starts as `document` and takes parts of `source` (the patch) as it is changed. Only what
/// lies on the way to a change is taken apart; all else stays a run of the text that it came from, so digits,
/// escapes and member order survive.
///
/// Lifetime: both values' documents outlive the tree.
class EditTree {
  public:
    /// Requires: each document has less than 2^30 nodes (fits()).
    EditTree(json::Value document, json::Value source, const Limits& limits);
    EditTree(const EditTree&) = delete;
    EditTree& operator=(const EditTree&) = delete;

    static bool fits(json::Value value) noexcept;

    /// A value in the tree or on its way into it; cheap to copy.
    struct Ref {
        std::uint32_t bits = 0;

        bool operator==(const Ref&) const = default;
    };

    /// A place that holds a value. Valid until the object or array that holds it gains or loses a child.
    using Slot = Ref*;

    Slot root() noexcept { return &root_; }

    /// Of `source`'s document. Requires: `value` is in it.
    Ref from_source(json::Value value) const noexcept;

    /// Of minified JSON text made elsewhere. The tree does not look into it: it can be put somewhere, and
    /// replaced or removed again.
    Ref from_text(std::string json);

    /// A new empty object or array.
    Ref make_object() { return make(true); }

    Ref make_array() { return make(false); }

    json::Kind kind(Ref ref) const noexcept;

    /// Members of an object or elements of an array, else 0.
    std::size_t size(Ref ref) const noexcept;

    /// The member `key` of an object; null if there is none or `slot` holds no object.
    Slot member(Slot slot, std::string_view key);

    /// The element at `index`; null if there is none or `slot` holds no array.
    Slot element(Slot slot, std::size_t index);

    /// Puts a member at the end, or in the place of the one of that name. Requires: an object.
    void set_member(Slot slot, std::string_view key, Ref value);

    /// Requires: an array, index <= size.
    void insert_element(Slot slot, std::size_t index, Ref value);

    /// Requires: they are there.
    void remove_member(Slot slot, std::string_view key);
    void remove_element(Slot slot, std::size_t index);

    /// Puts `value` where another stands.
    void replace(Slot slot, Ref value);

    /// A copy that later changes of either leave alone.
    Ref clone(Ref ref);

    /// How many objects and arrays are nested in it, itself included; 0 for a scalar.
    std::size_t depth(Ref ref);

    /// True if both are the same JSON value: numbers by value, strings by characters, members in any order.
    bool equals(Ref ref, json::Value value);

    /// The bytes that render() will write.
    std::size_t bytes() const noexcept { return bytes_; }

    /// More steps than the limit were taken, or the result would be larger: nothing in the tree counts any more.
    bool exhausted() const noexcept { return steps_ > limits_.steps_max; }

    bool too_large() const noexcept { return bytes_ > limits_.bytes_max; }

    /// The tree as minified text.
    std::string render() const;

  private:
    struct Child {
        Ref key;  ///< of an object's member; the key as JSON text
        Ref value;
    };

    struct Container {
        bool object = false;
        std::vector<Child> children;
    };

    Ref make(bool object);
    Container& open(Slot slot);
    json::Value value_of(Ref ref) const noexcept;
    std::string_view text_of(Ref ref) const noexcept;
    bool has_key(Ref key, std::string_view name, std::string& quoted_name) const;
    std::size_t find(const Container& container, std::string_view key);
    std::size_t bytes_of(Ref ref) const;
    bool same(json::Value a, json::Value b);
    bool same_container(const Container& container, json::Value value);
    void append(std::string& out, Ref ref) const;

    void step(std::size_t count) noexcept { steps_ += count; }

    json::Value document_;
    json::Value source_;
    Limits limits_;
    Ref root_;
    std::deque<Container> containers_;  // references to them stay valid while it grows
    std::deque<std::string> texts_;
    std::size_t steps_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace annals::patch
