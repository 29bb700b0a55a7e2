// Elements: parses FHIR XML in one pass into a flat array of elements over the text itself.
//
// Layer:   codec, inside codec/xml.
// Spec:    FHIR R4 xml.html. Refused: document types, entities but the predefined, processing of anything but UTF-8,
//          text between elements, namespaces other than FHIR's (and XHTML's for narratives), attributes other than id,
//          url and value. Ignored: comments, processing instructions, xsi:schemaLocation.
// Threads: an ElementParser belongs to one thread.

#pragma once

#include "codec/xml/cursor.h"
#include "codec/xml/namespaces.h"
#include "codec/xml/narrative.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace annals::xml {

/// An attribute's value, verbatim.
struct Value {
    std::uint32_t begin = 0;  ///< 0: the attribute is not there (nothing can begin at 0)
    std::uint32_t size = 0;
    bool plain = true;  ///< can be copied into a JSON string as it is

    explicit operator bool() const noexcept { return begin != 0; }
};

/// An element; in pre-order, followed by the elements inside it.
struct Element {
    std::uint32_t begin = 0;  ///< offset of its '<'
    std::uint32_t name = 0;   ///< offset of its name without a prefix
    std::uint32_t name_size = 0;
    std::uint32_t next = 0;  ///< index of the element after it and all inside
    Value id, url, value;
    std::uint32_t narrative = 0;  ///< 1 + index in narratives() of an XHTML div; else 0
};

/// The first flaw in an entry of a Bundle.
struct EntryFlaw {
    std::uint32_t element;  ///< the entry
    Fault fault;
};

/// Parses texts, reusing its buffers.
class ElementParser {
  public:
    /// Reads `text`, to which it keeps views until the next call. If `lenient`, errors of structure and value
    /// inside an entry of a Bundle are not returned, but listed in flaws().
    ///
    /// Errors: invalid (not well-formed XML; too many levels), structure (what FHIR's XML does not have),
    ///         value (narratives); the detail has line and column. body_too_large beyond kXmlBytesMax.
    Result<void> parse(std::string_view text, bool lenient = false);

    /// Frees memory that an unusually large text needed; the parsed elements may be gone.
    void trim();

    std::string_view text() const noexcept { return text_; }

    /// The root is at 0.
    std::span<const Element> elements() const noexcept { return elements_; }

    std::span<const Xhtml> narratives() const noexcept { return narratives_; }

    /// Ascending.
    std::span<const EntryFlaw> flaws() const noexcept { return flaws_; }

    std::string_view name_of(const Element& element) const noexcept {
        return text_.substr(element.name, element.name_size);
    }

    std::string_view view(Value value) const noexcept {
        return text_.substr(value.begin, value.size);
    }

  private:
    struct Open {
        std::uint32_t element;
        std::string_view name;  // with its prefix
    };

    bool read(Cursor& cursor);
    bool read_outside(Cursor& cursor);
    bool read_inside(Cursor& cursor);
    bool read_tag(Cursor& cursor);
    bool read_end_tag(Cursor& cursor);
    bool take_attributes(Cursor& cursor, Element& element);
    void begin_child(Cursor& cursor) const;
    void end_child(Cursor& cursor, std::uint32_t element);

    std::string_view text_;
    std::vector<Element> elements_;
    std::vector<Xhtml> narratives_;
    std::vector<EntryFlaw> flaws_;
    bool lenient_ = false;
    std::vector<Open> open_;
    Namespaces namespaces_;
    Tag tag_;
};

inline constexpr std::size_t kXmlBytesMax = 0xffff'0000;  ///< offsets are 32 bits

}  // namespace annals::xml
