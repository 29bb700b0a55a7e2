// Any bytes as XML, and JSON as JSON: nothing crashes; what is accepted is XML to pugixml, too; it becomes JSON
// that is the same when written as XML, indented or not, and read again; XML written from any JSON is well-formed.

#include "codec/json/document.h"
#include "codec/xml/elements.h"
#include "codec/xml/reader.h"
#include "core/base/resource_types.h"
#include "tests/support/xml_text.h"

#include <pugixml.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::xml {
namespace {

// Expects the JSON to be the same when written as XML and read again.
void check_round_trip(Reader& reader, json::Parser& parser, std::string_view json) {
    Result<json::Document> document = parser.parse(json);
    if (!document) {
        // XML may nest resources deeper than JSON's 64 levels.
        ANNALS_CHECK(document.error().detail.find("level") != std::string::npos ||
                         document.error().detail.find("deep") != std::string::npos,
                     document.error().detail);
        return;
    }
    for (const bool pretty : {false, true}) {
        const std::string xml = test::xml_from_json(document->root(), pretty);
        const Result<std::string> again = reader.read(xml);
        ANNALS_CHECK(again, again.error().detail);
        ANNALS_CHECK(*again == json, *again);
    }
    parser.recycle(std::move(*document));
}

// Whatever the JSON is, it is written as XML, and reading that is refused at worst.
void check_writer(Reader& reader, json::Parser& parser, std::string_view text) {
    Result<json::Document> document = parser.parse(text);
    if (!document) {
        return;
    }
    for (const bool pretty : {false, true}) {
        const std::string xml = test::xml_from_json(document->root(), pretty);
        const json::Value name = document->root()["resourceType"];
        if (!find_resource_type(name.raw_string())) {
            continue;
        }
        ElementParser elements;
        const Result<void> parsed = elements.parse(xml);
        ANNALS_CHECK(parsed || parsed.error().detail.find("must have a value or children") !=
                                   std::string::npos,
                     parsed.error().detail);
        pugi::xml_document theirs;
        ANNALS_CHECK(theirs.load_buffer(xml.data(), xml.size()));
        if (const Result<std::string> again = reader.read(xml)) {
            const std::string once = *again;
            check_round_trip(reader, parser, once);
        }
    }
}

}  // namespace
}  // namespace annals::xml

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals;
    using namespace annals::xml;
    static json::Parser parser;
    static Reader reader;
    // An exact copy, so that sanitizers detect reads beyond the end.
    const std::vector<char> copy(data, data + size);
    const std::string_view text(copy.data(), copy.size());

    if (const Result<std::string> json = reader.read(text)) {
        pugi::xml_document theirs;
        ANNALS_CHECK(theirs.load_buffer(text.data(), text.size()));
        const std::string once = *json;
        check_round_trip(reader, parser, once);
    } else {
        ANNALS_CHECK(!json.error().detail.empty());
    }
    std::vector<UnreadableEntry> unreadable;
    const Result<std::string> entries = reader.read_entries(text, unreadable);
    if (entries && !unreadable.empty()) {
        pugi::xml_document theirs;
        ANNALS_CHECK(theirs.load_buffer(text.data(), text.size()));
        ANNALS_CHECK(!reader.read(text));
        // It is JSON, but need not survive a round trip: an unreadable entry may be left as an object without members.
        const Result<json::Document> document = parser.parse(*entries);
        ANNALS_CHECK(document || document.error().detail.find("level") != std::string::npos ||
                         document.error().detail.find("deep") != std::string::npos,
                     *entries);
    }
    (void)check_narrative(text);
    check_writer(reader, parser, text);
    return 0;
}
