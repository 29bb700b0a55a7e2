// The XHTML of narratives: what is allowed in it, and its text for JSON and for XML.
//
// Layer:   codec.
// Spec:    FHIR R4 narrative.html#rules (txt-1, txt-2). The text stays byte for byte as it came, except that
//          prefixes are resolved, CDATA sections become characters, and processing instructions and comments
//          whose end an HTML parser could see too early are left out.
// Threads: plain functions.

#pragma once

#include "codec/xml/cursor.h"
#include "codec/xml/namespaces.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {

inline constexpr std::size_t kXhtmlDepthMax = 200;

/// A replacement of a part of a narrative's text.
struct XhtmlEdit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
};

/// The div of a narrative in a text, and how its own text differs from that.
struct Xhtml {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool says_namespace = false;  ///< whether the div itself declares it
    bool has_content = false;     ///< txt-2: characters that are not white space, or an image
    std::vector<XhtmlEdit> edits;
};

/// Reads the rest of the element whose start tag has just been read, including its end tag. The namespaces
/// are those inside the element, which is at `depth`.
///
/// Errors: invalid (not well-formed), value (not allowed by txt-1: other elements and attributes, scripts in links
///         and styles), as the cursor's fault; value as its flaw if it is lenient.
bool read_xhtml(Cursor& cursor, const Tag& div, Namespaces& namespaces, std::uint32_t depth,
                Xhtml& xhtml);

/// Calls `append(text)` for each run of a narrative's own text.
template <typename Append>
void for_each_run(const Xhtml& xhtml, std::string_view text, Append append) {
    std::size_t at = xhtml.begin;
    for (const XhtmlEdit& edit : xhtml.edits) {
        append(text.substr(at, edit.begin - at));
        append(std::string_view(edit.text));
        at = edit.end;
    }
    append(text.substr(at, xhtml.end - at));
}

/// Reads a text that consists of a narrative's div, as Narrative.div has it in JSON; a div without a
/// namespace is taken as XHTML, an XML declaration before it is skipped.
///
/// Errors: invalid, value, as read_xhtml(); value if it is not a div.
Result<Xhtml> read_narrative(std::string_view text);

/// read_narrative(), which also checks txt-1 and txt-2.
///
/// Errors: invalid (not well-formed), value; the detail says what, in which line and column.
Result<Xhtml> check_narrative(std::string_view text);

}  // namespace annals::xml
