// Document: one parse of a JSON text into a flat array of nodes over the text itself.
//
// Layer:   codec; depends on core/base and, as the parser checks structure, on codec/schema. The one user of simdjson (stage 1
//          and minify).
// Spec:    RFC 8259, FHIR R4 json.html. Refused: duplicate keys (compared with escapes resolved), lone
//          surrogates, invalid UTF-8, raw control characters in strings, a byte-order mark, nesting beyond
//          the limit, anything after the value. Kept: numbers of any size, as text; \u0000 as an escape.
// Threads: a Parser belongs to one thread; a Document is const after parsing.

#pragma once

#include "core/base/limits.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace annals::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

/// A value, or an object's key (Kind::string). In pre-order: an object is followed by key, value,
/// key, value...; an array by its elements.
struct Node {
    std::uint32_t begin;  ///< offset of the first byte in the text (a string's quote, a bracket)
    std::uint32_t end;    ///< offset after the last byte
    std::uint32_t next;   ///< index of the node after this value and all inside it
    std::uint32_t count;  ///< members of an object, elements of an array, else 0
    Kind kind;
    bool escaped;  ///< a string that contains a backslash
    bool control =
        false;  ///< a string that escapes a control character other than tab, line feed and return
    bool sound =
        false;  ///< a resource that parse_resource() has found to have the structure that FHIR R4 defines
};

/// What a Document owns: the minified text and its nodes. It stays where it is when the Document moves.
class Tree {
  public:
    /// Readable bytes after the text.
    static constexpr std::size_t kPaddingBytes = 64;

    /// The whole text without insignificant white space.
    std::string_view text() const noexcept { return {text_.get(), text_size_}; }

    /// Every node; the root is at 0.
    std::span<const Node> nodes() const noexcept { return {nodes_.get(), node_count_}; }

    /// Whether anything is nested deeper than kJsonDepthMax, counted from the root.
    bool deep() const noexcept { return deep_; }

  private:
    friend class Parser;
    friend class Substitution;

    void reserve_text(std::size_t bytes);   // loses what was there if it grows
    void reserve_nodes(std::size_t count);  // the same

    std::size_t bytes() const noexcept { return text_capacity_ + node_capacity_ * sizeof(Node); }

    std::unique_ptr<char[]> text_;
    std::unique_ptr<Node[]> nodes_;
    mutable std::size_t text_size_ = 0;  ///< a Substitution appends to the text temporarily
    std::size_t text_capacity_ = 0;
    std::size_t node_count_ = 0;
    std::size_t node_capacity_ = 0;
    bool deep_ = false;
};

class Value;

/// A parsed text. Movable, not copyable.
///
/// Lifetime: Values and views point into what it owns, until it is destroyed, assigned to or recycled;
///           moving it keeps them valid.
class Document {
  public:
    Document() = default;

    /// The root value; missing if nothing was parsed into this.
    Value root() const noexcept;

    /// The whole text without insignificant white space; empty if nothing was parsed into this.
    std::string_view text() const noexcept { return tree_ ? tree_->text() : std::string_view(); }

    std::span<const Node> nodes() const noexcept {
        return tree_ ? tree_->nodes() : std::span<const Node>();
    }

  private:
    friend class Parser;
    friend class Value;

    explicit Document(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}

    std::unique_ptr<Tree> tree_;
};

/// A place in a Document: cheap to copy. A default-constructed Value is "missing": it has no kind and
/// every accessor answers missing, empty or false, so that look-ups chain.
class Value {
  public:
    Value() = default;

    Value(const Tree& tree, std::uint32_t index) noexcept : tree_(&tree), index_(index) {}

    Value(const Document& document, std::uint32_t index) noexcept
        : tree_(document.tree_.get()), index_(index) {}

    explicit operator bool() const noexcept { return tree_ != nullptr; }

    bool is(Kind kind) const noexcept { return tree_ != nullptr && node().kind == kind; }

    bool is_string() const noexcept { return is(Kind::string); }

    bool is_object() const noexcept { return is(Kind::object); }

    bool is_array() const noexcept { return is(Kind::array); }

    /// Its bytes in the minified text, quotes and brackets included; empty if missing.
    std::string_view raw() const noexcept {
        if (tree_ == nullptr) {
            return {};
        }
        return tree_->text().substr(node().begin, node().end - node().begin);
    }

    /// A string's characters between the quotes, verbatim (escapes unresolved).
    /// Empty if it isn't a string.
    std::string_view raw_string() const noexcept {
        return is_string() ? tree_->text().substr(node().begin + 1, node().end - node().begin - 2)
                           : std::string_view();
    }

    /// A string with its escapes resolved, as UTF-8; empty if it isn't a string.
    std::string string() const;

    /// True if this is a string equal to `text` (escapes resolved).
    bool equals(std::string_view text) const;

    /// The member `key` of an object; missing if there is none or this is not an object. Cost: linear.
    Value operator[](std::string_view key) const;

    /// Members of an object or elements of an array.
    std::size_t size() const noexcept { return tree_ == nullptr ? 0 : node().count; }

    /// Requires: not missing.
    const Node& node() const noexcept { return tree_->nodes()[index_]; }

    std::uint32_t index() const noexcept { return index_; }

    /// The text and nodes around it. Requires: not missing.
    const Tree& tree() const noexcept { return *tree_; }

    class ElementIterator;
    class MemberIterator;
    struct Elements;
    struct Members;

    /// `for (Value element : value.elements())`; empty unless this is an array.
    Elements elements() const noexcept;

    /// `for (auto [key, value] : object.members())`: key is a Value of Kind::string.
    Members members() const noexcept;

  private:
    const Tree* tree_ = nullptr;
    std::uint32_t index_ = 0;
};

struct Member {
    Value key;
    Value value;
};

class Value::ElementIterator {
  public:
    ElementIterator(const Tree* tree, std::uint32_t index) noexcept : tree_(tree), index_(index) {}

    Value operator*() const noexcept { return {*tree_, index_}; }

    ElementIterator& operator++() noexcept {
        index_ = tree_->nodes()[index_].next;
        return *this;
    }

    bool operator==(const ElementIterator& other) const noexcept { return index_ == other.index_; }

  private:
    const Tree* tree_;
    std::uint32_t index_;
};

class Value::MemberIterator {
  public:
    MemberIterator(const Tree* tree, std::uint32_t index) noexcept : tree_(tree), index_(index) {}

    Member operator*() const noexcept { return {Value(*tree_, index_), Value(*tree_, index_ + 1)}; }

    MemberIterator& operator++() noexcept {
        index_ = tree_->nodes()[index_ + 1].next;
        return *this;
    }

    bool operator==(const MemberIterator& other) const noexcept { return index_ == other.index_; }

  private:
    const Tree* tree_;
    std::uint32_t index_;
};

struct Value::Elements {
    ElementIterator first, last;

    ElementIterator begin() const noexcept { return first; }

    ElementIterator end() const noexcept { return last; }
};

struct Value::Members {
    MemberIterator first, last;

    MemberIterator begin() const noexcept { return first; }

    MemberIterator end() const noexcept { return last; }
};

inline Value::Elements Value::elements() const noexcept {
    if (!is(Kind::array)) {
        return {{tree_, 0}, {tree_, 0}};
    }
    return {{tree_, index_ + 1}, {tree_, node().next}};
}

inline Value::Members Value::members() const noexcept {
    if (!is(Kind::object)) {
        return {{tree_, 0}, {tree_, 0}};
    }
    return {{tree_, index_ + 1}, {tree_, node().next}};
}

inline Value Document::root() const noexcept {
    return tree_ ? Value(*tree_, 0) : Value();
}

/// Whether `value`, itself counted, nests deeper than a resource may (kJsonDepthMax).
/// Cost: constant unless the document as a whole nests that deep.
bool is_too_deep(Value value) noexcept;

/// Parses texts, reusing its buffers. Not copyable; one per thread.
class Parser {
  public:
    /// `depth_max`: how deep texts may nest; kJsonWrappedDepthMax for those that contain resources.
    explicit Parser(std::size_t depth_max = kJsonDepthMax);
    ~Parser();
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    /// Parses `text` into a new Document. Needs no padding.
    ///
    /// Errors: invalid; the detail says what, at which byte of `text` (from 0), in which line and column
    ///         (from 1, in characters); body_too_large beyond kJsonBytesMax.
    /// Cost:   no allocation when recycled buffers suffice.
    Result<Document> parse(std::string_view text);

    /// Parses `text` the same way, and on the way checks the structure that FHIR R4 defines for it and for the resources in it.
    /// Node::sound marks those that are certainly right, so that schema::check_structure() need not check them again.
    Result<Document> parse_resource(std::string_view text);

    /// The text of a Document with needless escapes in its keys and in resourceType resolved; empty if there are none.
    /// Requires: it is the result of the last parse.
    std::string with_plain_names(const Document& document) const;

    /// Takes a Document's buffers back for the next parse, which saves allocations on hot paths. Buffers beyond
    /// 16 MiB in total are freed instead.
    void recycle(Document&& document) noexcept;

  private:
    Result<Document> run(std::string_view text, bool checked);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Appends `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
void append_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string with its quotes.
std::string quoted(std::string_view text);

}  // namespace annals::json
