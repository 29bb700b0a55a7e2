// EditTree: a JSON value being edited, as references into the texts that it came from.
//
// Layer:   codec; depends on codec/json and core/base.
// Spec:    RFC 6902, FHIR R4 fhirpatch.html: both patch formats edit through this.
// Threads: a tree belongs to one thread.

#pragma once

#include "codec/json/document.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::patch {

/// The FHIRPath steps of a whole patch.
inline constexpr std::uint64_t kEvaluationStepsMax = 50'000'000;

/// Limits of a patch; it fails if it exceeds one.
struct Limits {
    std::size_t bytes_max = std::size_t{64} << 20;  ///< of the result
    std::size_t steps_max = std::size_t{1} << 23;   ///< members and elements looked at or moved
    std::uint64_t evaluation_steps_max = kEvaluationStepsMax;
};

/// A document that starts as `document` and takes in parts of `source` (the patch) as it is edited. Only the path to a
/// change is taken apart; everything else stays a run of the text that it came from, so digits, escapes and the order of
/// members survive.
///
/// Lifetime: both values' documents outlive the tree.
class EditTree {
  public:
    /// Requires: each document has less than 2^30 nodes (fits()).
    EditTree(json::Value document, json::Value source, const Limits& limits);
    EditTree(const EditTree&) = delete;
    EditTree& operator=(const EditTree&) = delete;

    static bool fits(json::Value value) noexcept;

    /// A value in the tree, or one to be put into it; cheap to copy.
    struct Ref {
        std::uint32_t bits = 0;

        bool operator==(const Ref&) const = default;
    };

    /// A place that holds a value; valid until its object or array gains or loses a child.
    using Slot = Ref*;

    Slot root() noexcept { return &root_; }

    /// A value of the document of `source`. Requires: `value` is in it.
    Ref from_source(json::Value value) const noexcept;

    /// A value given as minified JSON text. The tree does not look into it: it can only be
    /// inserted, replaced and removed.
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

    /// Appends a member, or replaces the one of that name. Requires: an object.
    void set_member(Slot slot, std::string_view key, Ref value);

    /// Requires: an array, index <= size.
    void insert_element(Slot slot, std::size_t index, Ref value);

    /// Requires: the member or element exists.
    void remove_member(Slot slot, std::string_view key);
    void remove_element(Slot slot, std::size_t index);

    /// Replaces the value in `slot`.
    void replace(Slot slot, Ref value);

    /// A copy that is independent of later changes to either.
    Ref clone(Ref ref);

    /// How deep objects and arrays nest in it, itself included; 0 for a scalar.
    std::size_t depth(Ref ref);

    /// True if both are the same JSON value: numbers by value, strings by characters, members in any order. Requires: nothing
    /// of from_text() is in `ref`.
    bool equals(Ref ref, json::Value value);

    /// Whether more steps than the limit were taken: the tree is invalid then.
    bool exhausted() const noexcept { return steps_ > limits_.steps_max; }

    /// Whether the result would be larger than the limit: the tree is invalid then.
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
    std::optional<std::size_t> find(const Container& container, std::string_view key);
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
