// The XHTML of narratives: what may stand in it, and its text for JSON and for XML.
//
// Layer:   codec.
// Spec:    FHIR R4 narrative.html#rules (txt-1, txt-2). The text stays byte for byte as it came, except that
//          prefixes are resolved, CDATA sections become characters, and processing instructions and the
//          comments that an HTML parser could see the end of too early are left out.
// Threads: plain functions.

#pragma once

#include "codec/xml/cursor.h"
#include "codec/xml/namespaces.h"

#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {

inline constexpr std::size_t kXhtmlDepthMax = 200;

/// What stands instead of a part of a narrative's text.
struct XhtmlEdit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
};

/// A narrative's div in a text, and how its own text differs from that.
struct Xhtml {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool says_namespace = false;  ///< the div does, itself
    bool has_content = false;     ///< txt-2: characters that are not white space, or an image
    std::vector<XhtmlEdit> edits;
};

/// Reads the rest of the element whose start tag has just been read, up to behind its end tag. The namespaces
/// are those inside of the element, which is at `depth`.
///
/// Errors: invalid (not well-formed), value (what txt-1 does not allow: elements and attributes outside of its
///         list, scripts in links and styles), as the cursor's fault; the latter as its flaw, where it is lenient.
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

/// Reads a text that is a narrative's div and nothing else, as Narrative.div has it in JSON; a div without
/// a namespace is taken for XHTML, an XML declaration before it is passed over.
///
/// Errors: invalid, value, as read_xhtml(); value if it is no div.
Result<Xhtml> read_narrative(std::string_view text);

/// read_narrative() of a narrative as FHIR has it, txt-1 and txt-2.
///
/// Errors: invalid (not well-formed), value; the detail says what, in which line and column.
Result<Xhtml> check_narrative(std::string_view text);

}  // namespace annals::xml
