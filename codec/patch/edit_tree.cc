#include "codec/patch/edit_tree.h"

#include "codec/patch/same_number.h"
#include "core/base/check.h"

#include <algorithm>
#include <array>

namespace annals::patch {

namespace {

using json::Kind;
using json::Value;
using Ref = EditTree::Ref;

// The two high bits of a Ref say what the others index.
constexpr std::uint32_t kIndexBits = 30;
constexpr std::uint32_t kIndexMask = (1U << kIndexBits) - 1;
enum class Where : std::uint32_t { document, source, container, text };

Where where(Ref ref) noexcept {
    return static_cast<Where>(ref.bits >> kIndexBits);
}

std::uint32_t index_of(Ref ref) noexcept {
    return ref.bits & kIndexMask;
}

Ref ref_to(Where place, std::uint32_t index) noexcept {
    return {static_cast<std::uint32_t>(place) << kIndexBits | index};
}

Kind kind_of_text(std::string_view text) noexcept {
    switch (text.front()) {
        case '"':
            return Kind::string;
        case 't':
        case 'f':
            return Kind::boolean;
        case 'n':
            return Kind::null;
        case '{':
            return Kind::object;
        case '[':
            return Kind::array;
        default:
            return Kind::number;
    }
}

}  // namespace

EditTree::EditTree(Value document, Value source, const Limits& limits)
    : document_(document),
      source_(source),
      limits_(limits),
      root_(ref_to(Where::document, document.index())),
      bytes_(document.raw().size()) {
    ANNALS_CHECK(fits(document) && fits(source));
}

bool EditTree::fits(Value value) noexcept {
    return !value || value.tree().nodes().size() <= kIndexMask;
}

Ref EditTree::from_source(Value value) const noexcept {
    return ref_to(Where::source, value.index());
}

Ref EditTree::from_text(std::string json) {
    texts_.push_back(std::move(json));
    return ref_to(Where::text, static_cast<std::uint32_t>(texts_.size() - 1));
}

Ref EditTree::make(bool object) {
    containers_.push_back({object, {}});
    return ref_to(Where::container, static_cast<std::uint32_t>(containers_.size() - 1));
}

Value EditTree::value_of(Ref ref) const noexcept {
    switch (where(ref)) {
        case Where::document:
            return {document_.tree(), index_of(ref)};
        case Where::source:
            return {source_.tree(), index_of(ref)};
        case Where::container:
        case Where::text:
            break;
    }
    return {};
}

std::string_view EditTree::text_of(Ref ref) const noexcept {
    return where(ref) == Where::text ? std::string_view(texts_[index_of(ref)])
                                     : value_of(ref).raw();
}

Kind EditTree::kind(Ref ref) const noexcept {
    switch (where(ref)) {
        case Where::document:
        case Where::source:
            return value_of(ref).node().kind;
        case Where::container:
            return containers_[index_of(ref)].object ? Kind::object : Kind::array;
        case Where::text:
            break;
    }
    return kind_of_text(texts_[index_of(ref)]);
}

std::size_t EditTree::size(Ref ref) const noexcept {
    return where(ref) == Where::container ? containers_[index_of(ref)].children.size()
                                          : value_of(ref).size();
}

EditTree::Container& EditTree::open(Slot slot) {
    if (where(*slot) == Where::container) {
        return containers_[index_of(*slot)];
    }
    const Where place = where(*slot);
    const Value value = value_of(*slot);
    ANNALS_CHECK(value);
    *slot = make(value.is_object());
    Container& container = containers_.back();
    container.children.reserve(value.size());
    for (const auto [key, member] : value.members()) {
        container.children.push_back({ref_to(place, key.index()), ref_to(place, member.index())});
    }
    for (const Value element : value.elements()) {
        container.children.push_back({{}, ref_to(place, element.index())});
    }
    step(container.children.size());
    return container;
}

bool EditTree::has_key(Ref key, std::string_view name, std::string& quoted_name) const {
    if (where(key) != Where::text) {
        return value_of(key).equals(name);
    }
    // Both were quoted by the same function, so equal characters have equal text.
    if (quoted_name.empty()) {
        quoted_name = json::quoted(name);
    }
    return texts_[index_of(key)] == quoted_name;
}

std::optional<std::size_t> EditTree::find(const Container& container, std::string_view key) {
    std::string quoted_key;
    for (std::size_t i = 0; i < container.children.size(); ++i) {
        step(1);
        if (has_key(container.children[i].key, key, quoted_key)) {
            return i;
        }
    }
    return std::nullopt;
}

EditTree::Slot EditTree::member(Slot slot, std::string_view key) {
    if (kind(*slot) != Kind::object) {
        return nullptr;
    }
    Container& container = open(slot);
    const auto at = find(container, key);
    return at ? &container.children[*at].value : nullptr;
}

EditTree::Slot EditTree::element(Slot slot, std::size_t index) {
    if (kind(*slot) != Kind::array || index >= size(*slot)) {
        return nullptr;
    }
    return &open(slot).children[index].value;
}

void EditTree::set_member(Slot slot, std::string_view key, Ref value) {
    Container& container = open(slot);
    if (const auto at = find(container, key)) {
        replace(&container.children[*at].value, value);
        return;
    }
    const Ref quoted_key = from_text(json::quoted(key));
    bytes_ +=
        text_of(quoted_key).size() + 1 + bytes_of(value) + (container.children.empty() ? 0 : 1);
    container.children.push_back({quoted_key, value});
}

void EditTree::insert_element(Slot slot, std::size_t index, Ref value) {
    Container& container = open(slot);
    ANNALS_CHECK(index <= container.children.size());
    step(container.children.size() - index);
    bytes_ += bytes_of(value) + (container.children.empty() ? 0 : 1);
    container.children.insert(container.children.begin() + static_cast<std::ptrdiff_t>(index),
                              {{}, value});
}

void EditTree::remove_member(Slot slot, std::string_view key) {
    Container& container = open(slot);
    const auto at = find(container, key);
    ANNALS_CHECK(at);
    const Child& child = container.children[*at];
    bytes_ -= text_of(child.key).size() + 1 + bytes_of(child.value) +
              (container.children.size() == 1 ? 0 : 1);
    step(container.children.size() - *at);
    container.children.erase(container.children.begin() + static_cast<std::ptrdiff_t>(*at));
}

void EditTree::remove_element(Slot slot, std::size_t index) {
    Container& container = open(slot);
    ANNALS_CHECK(index < container.children.size());
    bytes_ -= bytes_of(container.children[index].value) + (container.children.size() == 1 ? 0 : 1);
    step(container.children.size() - index);
    container.children.erase(container.children.begin() + static_cast<std::ptrdiff_t>(index));
}

void EditTree::replace(Slot slot, Ref value) {
    bytes_ -= bytes_of(*slot);
    bytes_ += bytes_of(value);
    *slot = value;
}

Ref EditTree::clone(Ref ref) {
    if (where(ref) != Where::container) {
        return ref;  // never changed in place: open() leaves what it opens alone
    }
    const Ref copy = make(containers_[index_of(ref)].object);
    const std::vector<Child>& children = containers_[index_of(ref)].children;
    step(children.size());
    std::vector<Child> copies;
    copies.reserve(children.size());
    for (const Child& child : children) {
        copies.push_back({child.key, clone(child.value)});
    }
    containers_[index_of(copy)].children = std::move(copies);
    return copy;
}

std::size_t EditTree::depth(Ref ref) {
    std::size_t deepest = 0;
    if (where(ref) == Where::container) {
        const std::vector<Child>& children = containers_[index_of(ref)].children;
        step(children.size());
        for (const Child& child : children) {
            deepest = std::max(deepest, depth(child.value));
        }
        return deepest + 1;
    }
    const Value value = value_of(ref);
    if (!value) {
        return 0;
    }
    const std::span<const json::Node> nodes = value.tree().nodes();
    std::array<std::uint32_t, kJsonDepthMax> ends;  // of what is open; no document nests deeper
    std::size_t open_count = 0;
    step(value.node().next - value.index());
    for (std::uint32_t i = value.index(); i < value.node().next; ++i) {
        while (open_count > 0 && ends[open_count - 1] <= i) {
            --open_count;
        }
        if (nodes[i].kind == Kind::object || nodes[i].kind == Kind::array) {
            ends[open_count++] = nodes[i].next;
            deepest = std::max(deepest, open_count);
        }
    }
    return deepest;
}

bool EditTree::equals(Ref ref, Value value) {
    return where(ref) == Where::container ? same_container(containers_[index_of(ref)], value)
                                          : same(value_of(ref), value);
}

bool EditTree::same(Value a, Value b) {
    step(1);
    if (exhausted() || a.node().kind != b.node().kind) {
        return false;
    }
    if (a.raw() == b.raw()) {
        return true;
    }
    switch (a.node().kind) {
        case Kind::null:
        case Kind::boolean:
            return false;
        case Kind::number:
            return same_number(a.raw(), b.raw());
        case Kind::string:
            return (a.node().escaped || b.node().escaped) && a.string() == b.string();
        case Kind::array: {
            if (a.size() != b.size()) {
                return false;
            }
            auto other = b.elements().begin();
            for (const Value element : a.elements()) {
                if (!same(element, *other)) {
                    return false;
                }
                ++other;
            }
            return true;
        }
        case Kind::object:
            break;
    }
    if (a.size() != b.size()) {
        return false;
    }
    // Keys are unique in both, so it suffices that b has each of a's. Mostly they are in the same order.
    auto next = b.members().begin();
    for (const auto [key, value] : a.members()) {
        Value other = (*next).value;
        if ((*next).key.raw() != key.raw()) {
            step(b.size());
            other = b[key.string()];
        }
        ++next;
        if (!other || !same(value, other)) {
            return false;
        }
    }
    return true;
}

bool EditTree::same_container(const Container& container, Value value) {
    step(1);
    if (exhausted() || !value.is(container.object ? Kind::object : Kind::array) ||
        value.size() != container.children.size()) {
        return false;
    }
    if (!container.object) {
        auto other = value.elements().begin();
        for (const Child& child : container.children) {
            if (!equals(child.value, *other)) {
                return false;
            }
            ++other;
        }
        return true;
    }
    for (const auto [key, member] : value.members()) {
        const auto at = find(container, key.string());
        if (exhausted() || !at || !equals(container.children[*at].value, member)) {
            return false;
        }
    }
    return true;
}

std::size_t EditTree::bytes_of(Ref ref) const {
    if (where(ref) != Where::container) {
        return text_of(ref).size();
    }
    const Container& container = containers_[index_of(ref)];
    std::size_t bytes = 2 + (container.children.empty() ? 0 : container.children.size() - 1);
    for (const Child& child : container.children) {
        bytes += bytes_of(child.value) + (container.object ? text_of(child.key).size() + 1 : 0);
    }
    return bytes;
}

void EditTree::append(std::string& out, Ref ref) const {
    if (where(ref) != Where::container) {
        out += text_of(ref);
        return;
    }
    const Container& container = containers_[index_of(ref)];
    out += container.object ? '{' : '[';
    bool first = true;
    for (const Child& child : container.children) {
        if (!first) {
            out += ',';
        }
        first = false;
        if (container.object) {
            out += text_of(child.key);
            out += ':';
        }
        append(out, child.value);
    }
    out += container.object ? '}' : ']';
}

std::string EditTree::render() const {
    std::string out;
    out.reserve(bytes_);
    append(out, root_);
    return out;
}

}  // namespace annals::patch
