// Cursor: reads the markup of XML 1.0, one tag at a time; no document types.
//
// Layer:   codec, inside codec/xml.
// Spec:    XML 1.0 (fifth edition) sections 2 and 3; FHIR R4 xml.html.
// Threads: one thread.

#pragma once

#include "codec/xml/fault.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace annals::xml {

/// An attribute of a start tag.
struct Attribute {
    std::string_view name;   ///< with its prefix
    std::string_view value;  ///< between the quotes, verbatim
    bool plain = true;       ///< no reference, no tab or line break, no " and no backslash
};

inline constexpr std::size_t kAttributesMax = 32;  ///< of one tag

/// A start tag or empty-element tag.
struct Tag {
    std::size_t begin = 0;   ///< offset of '<'
    std::string_view name;   ///< with its prefix
    std::string_view local;  ///< without
    std::size_t attribute_count = 0;
    bool empty = false;  ///< <name/>
    std::array<Attribute, kAttributesMax> attributes;

    std::string_view prefix() const noexcept {
        return local.size() == name.size() ? std::string_view()
                                           : name.substr(0, name.size() - local.size() - 1);
    }
};

/// Reads the construct at its place and moves past it. After a fault, every function except at() and text()
/// returns false or does nothing.
///
/// Requires: the text passed check_characters(). Lifetime: views point into the text.
class Cursor {
  public:
    explicit Cursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

    std::string_view text() const noexcept { return text_; }

    std::size_t at() const noexcept { return at_; }

    bool done() const noexcept { return at_ == text_.size(); }

    const Fault& fault() const noexcept { return fault_; }

    bool looking_at(std::string_view what) const noexcept {
        return text_.substr(at_, what.size()) == what;
    }

    void skip_space() noexcept;

    /// <!-- ... -->
    bool skip_comment();

    /// <?target ... ?>, except an XML declaration.
    bool skip_instruction();

    /// <![CDATA[ ... ]]>; `data` is the content.
    bool read_cdata(std::string_view& data);

    /// Characters up to the next '<' or the end; references are checked.
    bool skip_text(bool& blank);

    /// <name attribute="value"...> or <name/>. Attributes must be unique.
    bool read_start_tag(Tag& tag);

    /// </name>, which must close `name`.
    bool read_end_tag(std::string_view name);

    /// Records a fault; returns false.
    bool fail(std::size_t offset, const char* message, Errc code = Errc::invalid);

    /// Whether flaw() continues from now on.
    void set_lenient(bool lenient) noexcept { lenient_ = lenient; }

    /// For what is well-formed, but not allowed in FHIR's XML: a fault. If the cursor is lenient, returns
    /// true instead, and the first flaw is kept.
    bool flaw(std::size_t offset, const char* message, Errc code);

    /// Returns the flaw that was kept, and forgets it.
    Fault take_flaw() noexcept { return std::exchange(flaw_, {}); }

  private:
    bool skip_reference();
    bool read_attribute(Attribute& attribute);
    std::string_view read_name() noexcept;
    std::string_view read_qualified_name(std::string_view& local) noexcept;

    std::string_view text_;
    std::size_t at_;
    Fault fault_;
    Fault flaw_;
    bool lenient_ = false;
};

/// Skips a byte-order mark and the XML declaration, which must say 1.0 and UTF-8.
bool read_declaration(Cursor& cursor);

}  // namespace annals::xml
