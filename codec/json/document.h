// Document: one parse of a JSON text into a flat array of nodes over the text itself.
//
// Layer:   codec; depends on core/base only. The one user of simdjson (stage 1 and minify).
// Spec:    RFC 8259, FHIR R4 json.html. Refused: duplicate keys, lone surrogates, invalid UTF-8,
//          control characters, NUL, a byte-order mark, nesting beyond the limit, anything after the value.
// Threads: a Parser belongs to one thread; a Document is const after parsing.

#pragma once

#include "core/base/limits.h"
#include "core/base/result.h"

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

/// A value, or an object's key (Kind::string). In pre-order: an object is followed by key, value,
/// key, value...; an array by its elements.
struct Node {
    std::uint32_t begin =
        0;                   ///< offset of the first byte in the text (a string's quote, a bracket)
    std::uint32_t end = 0;   ///< offset after the last byte
    std::uint32_t next = 0;  ///< index of the node after this value and all inside it
    std::uint32_t count = 0;  ///< members of an object, elements of an array
    Kind kind = Kind::null;
    bool escaped = false;  ///< a string that contains a backslash
};

class Value;

/// A parsed text.
///
/// Lifetime: owns its minified text and nodes; Values and views point into it. Movable; moving keeps
/// views valid.
class Document {
  public:
    Document() = default;
    Document(Document&&) noexcept = default;
    Document& operator=(Document&&) noexcept = default;

    /// The root value. Requires: a parsed document.
    Value root() const noexcept;

    /// The whole text without insignificant white space.
    std::string_view text() const noexcept { return {text_.get(), text_size_}; }

    const std::vector<Node>& nodes() const noexcept { return nodes_; }

  private:
    friend class Parser;
    std::unique_ptr<char[]> text_;
    std::size_t text_size_ = 0;
    std::size_t text_capacity_ = 0;
    std::vector<Node> nodes_;
};

/// A place in a Document: cheap to copy. A default-constructed Value is "missing": it has no kind and
/// every accessor answers missing, empty or false, so that look-ups chain.
class Value {
  public:
    Value() = default;

    Value(const Document& document, std::uint32_t index) : document_(&document), index_(index) {}

    explicit operator bool() const noexcept { return document_ != nullptr; }

    bool is(Kind kind) const noexcept { return document_ != nullptr && node().kind == kind; }

    bool is_string() const noexcept { return is(Kind::string); }

    bool is_object() const noexcept { return is(Kind::object); }

    bool is_array() const noexcept { return is(Kind::array); }

    /// Its bytes in the minified text, quotes and brackets included; empty if missing.
    std::string_view raw() const noexcept {
        if (document_ == nullptr) {
            return {};
        }
        return document_->text().substr(node().begin, node().end - node().begin);
    }

    /// A string's characters between the quotes as they stand in the text (escapes unresolved).
    /// Empty if it isn't a string.
    std::string_view raw_string() const noexcept;

    /// A string with its escapes resolved, as UTF-8; empty if it isn't a string.
    std::string string() const;

    /// True if this is a string equal to `text` (escapes resolved).
    bool equals(std::string_view text) const;

    /// The member `key` of an object; missing if there is none or this is no object. Linear.
    Value operator[](std::string_view key) const;

    /// Members of an object or elements of an array.
    std::size_t size() const noexcept { return document_ == nullptr ? 0 : node().count; }

    const Node& node() const noexcept { return document_->nodes()[index_]; }

    std::uint32_t index() const noexcept { return index_; }

    const Document& document() const noexcept { return *document_; }

    class ElementIterator;
    class MemberIterator;
    struct Elements;
    struct Members;

    /// `for (Value element : value.elements())`; empty unless this is an array.
    Elements elements() const noexcept;

    /// `for (auto [key, value] : object.members())`: key is a Value of Kind::string.
    Members members() const noexcept;

  private:
    const Document* document_ = nullptr;
    std::uint32_t index_ = 0;
};

struct Member {
    Value key;
    Value value;
};

class Value::ElementIterator {
  public:
    ElementIterator(const Document* document, std::uint32_t index)
        : document_(document), index_(index) {}

    Value operator*() const noexcept { return {*document_, index_}; }

    ElementIterator& operator++() noexcept {
        index_ = document_->nodes()[index_].next;
        return *this;
    }

    bool operator==(const ElementIterator& other) const noexcept { return index_ == other.index_; }

  private:
    const Document* document_;
    std::uint32_t index_;
};

class Value::MemberIterator {
  public:
    MemberIterator(const Document* document, std::uint32_t index)
        : document_(document), index_(index) {}

    Member operator*() const noexcept {
        return {Value(*document_, index_), Value(*document_, index_ + 1)};
    }

    MemberIterator& operator++() noexcept {
        index_ = document_->nodes()[index_ + 1].next;
        return *this;
    }

    bool operator==(const MemberIterator& other) const noexcept { return index_ == other.index_; }

  private:
    const Document* document_;
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
        return {{document_, 0}, {document_, 0}};
    }
    return {{document_, index_ + 1}, {document_, node().next}};
}

inline Value::Members Value::members() const noexcept {
    if (!is(Kind::object)) {
        return {{document_, 0}, {document_, 0}};
    }
    return {{document_, index_ + 1}, {document_, node().next}};
}

inline Value Document::root() const noexcept {
    return {*this, 0};
}

/// Parses texts, reusing its buffers. Not copyable; one per thread.
class Parser {
  public:
    explicit Parser(std::size_t depth_max = kJsonDepthMax);
    ~Parser();
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;

    /// Parses `text` into a new Document. Needs no padding.
    ///
    /// Errors: invalid; the detail says what and at which byte offset of `text` (and line and column).
    Result<Document> parse(std::string_view text);

    /// Takes a Document's buffers back for the next parse (saves allocations on hot paths).
    void recycle(Document&& document) noexcept;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Appends `text` as a JSON string with its quotes.
void append_quoted(std::string& out, std::string_view text);

/// `text` as a JSON string with its quotes.
std::string quoted(std::string_view text);

}  // namespace annals::json
