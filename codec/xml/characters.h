// The characters of XML 1.0: which are allowed, references to them, and how they are written in JSON and in XML.
//
// Layer:   codec, inside codec/xml; append_xml_characters() also serves HTML pages.
// Spec:    XML 1.0 (fifth edition) sections 2.2, 2.11, 3.3.3, 4.1 and 4.6.
// Threads: plain functions.

#pragma once

#include "codec/xml/fault.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::xml {

/// Checks that `text` is UTF-8 with only characters that XML 1.0 allows.
Fault check_characters(std::string_view text) noexcept;

/// A reference: the character it stands for and its length; 0 if XML without a document type has no such reference.
struct Reference {
    std::uint32_t code_point = 0;
    std::size_t size = 0;
};

/// Reads the reference at the start of `text`. Requires: it begins with '&'.
Reference read_reference(std::string_view text) noexcept;

/// Appends an attribute's value, whose references are valid, as characters of a JSON string. Literal tabs and line
/// breaks become blanks (XML section 3.3.3).
void append_json_characters(std::string& out, std::string_view raw);

/// Appends `text`, which passed check_characters(), as characters of a JSON string.
void append_json_text(std::string& out, std::string_view text);

/// Appends `text` as characters of XML, with the references &amp; &lt; &gt; &quot; where needed.
void append_xml_characters(std::string& out, std::string_view text);

}  // namespace annals::xml
