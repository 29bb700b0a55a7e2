// Reader: converts FHIR XML to the equivalent JSON.
//
// Layer:   codec; depends on core/base, codec/json and codec/schema.
// Spec:    FHIR R4 xml.html, json.html; docs/xml.md says what is kept and what is refused.
// Threads: a Reader belongs to one thread.

#pragma once

#include "codec/schema/schema.h"
#include "codec/xml/elements.h"
#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {

/// An entry of a Bundle that could not be converted to JSON, and why.
struct UnreadableEntry {
    std::size_t index = 0;  ///< in Bundle.entry
    Error error;
};

/// A Bundle with more unreadable entries is refused as a whole.
inline constexpr std::size_t kUnreadableEntriesMax = 50'000;

/// Reads texts, reusing its buffers.
class Reader {
  public:
    /// The minified JSON of the resource in `xml`: members in the order of FHIR's definitions, decimals with their
    /// digits, arrays where an element may repeat. Elements may come in any order. The JSON parser and validation
    /// must still check the result, for everything that is not refused here.
    ///
    /// Errors: invalid (not well-formed), structure (elements, attributes, namespaces and repetitions that
    ///         FHIR does not have), value (a malformed number or boolean, a resource type that R4 does not
    ///         have, a narrative beyond txt-1); the detail has line and column, `expression` the element.
    ///         body_too_large. After a malformed number or boolean the rest is checked as well, as by
    ///         schema::check_structure(): see Error::others.
    Result<std::string> read(std::string_view xml);

    /// The same for a Bundle whose entries fail separately. Of an entry that can't be read, the JSON has fullUrl and request, as
    /// far as these can be read, and its index is in `unreadable`, ascending.
    ///
    /// Errors: those of read(), except for structure and value inside an entry.
    Result<std::string> read_entries(std::string_view xml,
                                     std::vector<UnreadableEntry>& unreadable);

  private:
    struct Child {
        std::uint32_t element;
        schema::Element definition;
    };

    struct WrongValue {
        std::uint32_t element;
        Fault fault;
    };

    Result<std::string> convert(std::string_view xml);
    bool append_resource(std::string& out, std::uint32_t index);
    bool append_object(std::string& out, schema::Type type, std::uint32_t index);
    bool append_braced(std::string& out, schema::Type type, std::uint32_t index);
    bool append_members(std::string& out, schema::Type type, std::uint32_t index, bool& first);
    bool collect_children(schema::Type type, std::uint32_t index);
    bool append_run(std::string& out, const schema::Element& definition, std::size_t begin,
                    std::size_t end);
    bool append_complex(std::string& out, const schema::Element& definition, std::uint32_t index);
    bool append_primitives(std::string& out, const schema::Element& definition, std::size_t begin,
                           std::size_t end, bool& first);
    bool append_value(std::string& out, schema::Type type, std::uint32_t index);
    bool append_extra(std::string& out, schema::Type type, std::uint32_t index);
    /// A comma before every member but the first, and the key.
    static void append_key(std::string& out, std::string_view name, bool& first,
                           bool extra = false);
    void append_string(std::string& out, Value value) const;
    void append_narrative(std::string& out, const Xhtml& xhtml) const;

    // reader_entries.cc

    bool append_entries(std::string& out, const schema::Element& definition, std::size_t begin,
                        std::size_t end);
    bool add_unreadable(std::size_t entry, schema::Type type, std::uint32_t index);
    void append_name(std::string& out, schema::Type type, std::uint32_t index);

    // reader_faults.cc

    /// Always false.
    bool fail(std::uint32_t element, const char* message, Errc code = Errc::structure);
    Error errors_of(std::string_view xml, std::string_view made, bool whole) const;
    std::string expression_of(std::uint32_t index) const;
    std::string expression_below(std::string out, schema::Type type, std::uint32_t at,
                                 std::uint32_t index) const;

    ElementParser parser_;
    std::vector<Child> children_;  // of the elements being written, inner ones last
    std::uint32_t fault_element_ = 0;
    Fault fault_;
    std::vector<WrongValue> wrong_values_;
    std::vector<UnreadableEntry>* unreadable_ = nullptr;  // null: entries don't fail alone
    json::Place place_;                                   // of the last fault of an entry
    std::size_t place_offset_ = 0;
};

/// The same, with its own buffers.
Result<std::string> json_from_xml(std::string_view xml);

}  // namespace annals::xml
