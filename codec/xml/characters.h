// The characters of XML 1.0: which there are, references to them, and how they stand in JSON and in XML.
//
// Layer:   codec, inside codec/xml; append_xml_characters() is for pages of HTML, too.
// Spec:    XML 1.0 (fifth edition) sections 2.2, 2.11, 3.3.3, 4.1 and 4.6.
// Threads: plain functions.

#pragma once

#include "codec/xml/fault.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::xml {

/// Is `text` UTF-8 of the characters that XML 1.0 allows?
Fault check_characters(std::string_view text) noexcept;

/// A reference: what it stands for and its length, 0 if it is none that XML has without a document type.
struct Reference {
    std::uint32_t code_point = 0;
    std::size_t size = 0;
};

/// Reads the reference that `text` begins with. Requires: it begins with '&'.
Reference read_reference(std::string_view text) noexcept;

/// Appends an attribute's value, whose references are right, as characters of a JSON string. Literal tabs and line
/// breaks are blanks (XML section 3.3.3).
void append_json_characters(std::string& out, std::string_view raw);

/// Appends `text`, which check_characters() has passed, as characters of a JSON string.
void append_json_text(std::string& out, std::string_view text);

/// Appends `text` as characters of XML: the references &amp; &lt; &gt; &quot; where they must be.
void append_xml_characters(std::string& out, std::string_view text);

}  // namespace annals::xml
