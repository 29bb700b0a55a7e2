// Writer: converts FHIR JSON to the equivalent XML.
//
// Layer:   codec; depends on core/base, codec/json and codec/schema.
// Spec:    FHIR R4 xml.html, json.html; docs/xml.md says what XML can't express.
// Threads: a Writer belongs to one thread.

#pragma once

#include "codec/json/document.h"
#include "codec/schema/schema.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {

/// Writes resources, reusing its buffers. The XML is well-formed whatever the JSON is: elements that FHIR does
/// not have, values of the wrong JSON kind and resources of unknown types are left out, characters that XML does not
/// have become U+FFFD, a narrative that is not FHIR's is shown as text.
///
/// Cost: one walk over the nodes; no allocation but `out`'s growth.
class Writer {
  public:
    explicit Writer(bool pretty = false) : pretty_(pretty) {}

    /// Appends the XML declaration and the resource; of a value that is not an R4 resource, the declaration alone.
    void write(std::string& out, json::Value resource);

    /// The same in parts, for a Bundle whose entries come one by one: the declaration, the start tag, and the
    /// elements before the entries.
    void write_head(std::string& out, json::Value bundle);

    /// An entry, between head and tail.
    void write_entry(std::string& out, json::Value entry);

    /// The elements after the entries, and the end tag.
    void write_tail(std::string& out, json::Value bundle);

  private:
    /// The members of one name: "given" and "_given".
    struct Entry {
        schema::Element definition;
        json::Value value;
        json::Value extra;
    };

    void collect(schema::Type type, json::Value object, json::Value& id, json::Value& url);
    void write_entries(std::string& out, std::size_t begin, std::size_t end, std::size_t depth);
    void write_resource(std::string& out, json::Value resource, std::size_t depth, bool root);
    void write_complex(std::string& out, const schema::Element& definition, json::Value value,
                       std::size_t depth);
    void write_primitive(std::string& out, const schema::Element& definition, json::Value value,
                         json::Value extra, std::size_t depth);
    /// Ends the start tag of `name`, with the entries from `base` on as its content, if there are any.
    void write_content(std::string& out, std::string_view name, std::size_t base,
                       std::size_t depth);
    void write_narrative(std::string& out, json::Value value, std::size_t depth);
    void begin_line(std::string& out, std::size_t depth) const;

    bool pretty_;
    std::vector<Entry> entries_;  // of the objects being written, inner ones last
    std::string narrative_;
};

}  // namespace annals::xml
