// Any bytes as JSON: nothing crashes; what is accepted is accepted by simdjson's DOM, too, and is the
// same when parsed again; white space between tokens changes nothing; a fault lies inside the text; what
// a checked parse finds sound is sound. Accepted texts go through everything that walks a resource; what
// the strict rules of structure accept, the others do, too, and faults are reported up to the bound.

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "codec/schema/structure.h"
#include "codec/xml/narrative_links.h"
#include "tests/support/checked_parse.h"

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::json {
namespace {

bool same_nodes(const Document& a, const Document& b) {
    if (a.nodes().size() != b.nodes().size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.nodes().size(); ++i) {
        const Node& x = a.nodes()[i];
        const Node& y = b.nodes()[i];
        if (x.begin != y.begin || x.end != y.end || x.next != y.next || x.count != y.count ||
            x.kind != y.kind || x.escaped != y.escaped || x.control != y.control) {
            return false;
        }
    }
    return true;
}

// The text with white space around every token.
std::string spaced(Value value) {
    std::string out;
    const auto append = [&](std::string_view token) {
        out.append(" \n").append(token).append("\t\r");
    };
    if (value.is_object()) {
        for (const auto [key, member] : value.members()) {
            append(out.empty() ? "{" : ",");
            append(key.raw());
            append(":");
            append(spaced(member));
        }
        append(out.empty() ? "{ }" : "}");
    } else if (value.is_array()) {
        for (const Value element : value.elements()) {
            append(out.empty() ? "[" : ",");
            append(spaced(element));
        }
        append(out.empty() ? "[ ]" : "]");
    } else {
        append(value.raw());
    }
    return out;
}

std::string rendered(const BodyPlan& plan) {
    std::string out;
    for (const BodyPiece& piece : plan.pieces()) {
        out += piece.kind == BodyPiece::Kind::version   ? "1"
               : piece.kind == BodyPiece::Kind::instant ? "2026-01-02T03:04:05.678Z"
                                                        : piece.text;
    }
    return out;
}

void use(Parser& parser, const Document& document) {
    const Value root = document.root();
    for (std::uint32_t i = 0; i < document.nodes().size(); ++i) {
        const Value value(document, i);
        ANNALS_CHECK(!value.is_string() || value.equals(value.string()));
        ANNALS_CHECK(!value.is_string() || parser.parse(json::quoted(value.string())));
        (void)xml::rewrite_narrative(value.raw_string(), [](std::string_view url) {
            return std::optional<std::string>(std::string(url) + "<&\"'");
        });
    }
    std::vector<ReferenceSite> sites;
    find_references(root, sites);
    std::vector<Edit> edits;
    for (const ReferenceSite& site : sites) {
        (void)expression_of(root, site.path);
        edits.push_back({site.value.node().begin, site.value.node().end, "\"x\""});
    }
    const Result<void> built = schema::check_structure(root, {});
    const Result<void> strict = schema::check_structure(
        root, {.allow_unknown_elements = false, .as_stored = true}, "Bundle.entry[0].resource");
    ANNALS_CHECK(built || !strict);
    ANNALS_CHECK(strict || strict.error().others.size() < schema::kFaultsMax);
    ANNALS_CHECK(!built || read_facts(root) || root["id"].node().escaped);
    if (const Result<ResourceFacts> facts = read_facts(root)) {
        for (const std::size_t count : {std::size_t{0}, edits.size()}) {
            const BodyPlan plan(*facts, "some-id", {}, std::span(edits).first(count));
            Result<Document> stored = parser.parse(rendered(plan));
            ANNALS_CHECK(stored);
            const Result<ResourceFacts> again = read_facts(stored->root());
            ANNALS_CHECK(again && again->id == "some-id" && again->version_id == "1");
            ANNALS_CHECK(again->last_updated == "2026-01-02T03:04:05.678Z");
        }
    }
}

}  // namespace
}  // namespace annals::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace annals;
    using namespace annals::json;
    static Parser parser;
    // An exact copy, so that sanitizers detect reads beyond the end.
    const std::vector<char> copy(data, data + size);
    const std::string_view text(copy.data(), copy.size());

    ANNALS_CHECK(test::disagreement_with_checked_parse(parser, text) == "");
    Result<Document> document = parser.parse(text);
    if (!document) {
        const std::string& detail = document.error().detail;
        const std::size_t offset = std::stoul(detail.substr(detail.find("byte ") + 5));
        ANNALS_CHECK(offset <= size, detail);
        return 0;
    }
    simdjson::dom::parser dom(1 << 20);
    const auto error = dom.parse(text.data(), text.size()).error();
    // simdjson's DOM refuses only numbers beyond a double, which this parser keeps.
    ANNALS_CHECK(error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR);

    Result<Document> again = parser.parse(document->text());
    ANNALS_CHECK(again && again->text() == document->text() && same_nodes(*again, *document));
    Result<Document> wide = parser.parse(spaced(document->root()));
    ANNALS_CHECK(wide && wide->text() == document->text() && same_nodes(*wide, *document));
    use(parser, *document);
    parser.recycle(std::move(*wide));
    parser.recycle(std::move(*again));
    parser.recycle(std::move(*document));
    return 0;
}
