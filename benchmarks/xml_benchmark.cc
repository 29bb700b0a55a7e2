// XML: reading it to JSON and writing it from JSON, compared with pugixml's parse of the same text.
//
// Reads Synthea's files below the folder ANNALS_TEST_DATA; without it, uses a patient generated here. Bytes
// are those of the XML, read or written. pugixml builds a tree and knows nothing of FHIR; the reader also checks
// characters, names, kinds and narratives, and writes the JSON. All are bounded by one core.

#include "codec/json/document.h"
#include "codec/xml/reader.h"
#include "codec/xml/writer.h"
#include "tests/support/xml_text.h"

#include <benchmark/benchmark.h>
#include <pugixml.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace annals::xml {
namespace {

struct Text {
    std::string json;
    std::string xml;
};

struct Texts {
    Text resource;   // about 1.4 kB of JSON
    Text narrative;  // a resource that is mostly narrative
    Text bundle;     // about 1 MB of JSON
};

constexpr std::string_view kMade =
    R"({"resourceType":"Patient","id":"example","name":[{"use":"official","family":"Chalmers",)"
    R"("given":["Peter","James"],"period":{"start":"2001-05-06"}},{"use":"usual","given":["Jim"]}],)"
    R"("telecom":[{"system":"phone","value":"(03) 5555 6473","use":"work","rank":1}],)"
    R"("gender":"male","birthDate":"1974-12-25","deceasedBoolean":false,)"
    R"("address":[{"line":["534 Erewhon St"],"city":"PleasantVille","postalCode":"3999"}]})";

std::string read_bundle() {
    std::string text;
    if (const char* data = std::getenv("ANNALS_TEST_DATA")) {
        // The file closest to 1 MB.
        std::uintmax_t best = ~std::uintmax_t{0};
        std::error_code ec;
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::string(data) + "/synthea-2019-dev/SYNTHEA", ec)) {
            const std::uintmax_t size = entry.file_size();
            const std::uintmax_t distance = size > 1'000'000 ? size - 1'000'000 : 1'000'000 - size;
            if (entry.path().extension() == ".json" && distance < best) {
                best = distance;
                std::ifstream file(entry.path(), std::ios::binary);
                text = (std::ostringstream() << file.rdbuf()).str();
            }
        }
    }
    return text;
}

Text both(json::Value resource) {
    return {std::string(resource.raw()), test::xml_from_json(resource)};
}

Texts read_texts() {
    Texts texts;
    json::Parser parser;
    std::string bundle = read_bundle();
    if (bundle.empty()) {
        bundle = R"({"resourceType":"Bundle","type":"collection","entry":[)";
        while (bundle.size() < 1'000'000) {
            bundle.append(R"({"resource":)").append(kMade).append("},");
        }
        bundle.append(R"({"resource":)").append(kMade).append("}]}");
    }
    const Result<json::Document> document = parser.parse(bundle);
    const auto distance = [](std::size_t size) { return size > 1400 ? size - 1400 : 1400 - size; };
    json::Value nearest;
    for (const json::Value entry : document->root()["entry"].elements()) {
        const json::Value resource = entry["resource"];
        if (!nearest || distance(resource.raw().size()) < distance(nearest.raw().size())) {
            nearest = resource;
        }
    }
    texts.bundle = both(document->root());
    texts.resource = both(nearest);
    std::string narrative =
        R"({"resourceType":"Basic","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">)";
    for (int i = 0; i < 30; ++i) {
        narrative +=
            R"(<p class=\"row\"><b>name</b>: Peter James &amp; family, <a href=\"#a\">more</a></p>)";
    }
    narrative += R"(</div>"}})";
    texts.narrative = both(parser.parse(narrative)->root());
    return texts;
}

const Texts& texts() {
    static const Texts kTexts = read_texts();
    return kTexts;
}

using Member = Text Texts::*;

void count_bytes(benchmark::State& state, const Text& text) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.xml.size()));
    state.counters["xml_bytes"] = static_cast<double>(text.xml.size());
    state.counters["json_bytes"] = static_cast<double>(text.json.size());
}

void pugixml_parse(benchmark::State& state, Member member) {
    const Text& text = texts().*member;
    pugi::xml_document document;
    for (auto _ : state) {
        if (!document.load_buffer(text.xml.data(), text.xml.size())) {
            state.SkipWithError("pugixml refuses the text");
        }
        benchmark::DoNotOptimize(document.first_child());
    }
    count_bytes(state, text);
}

void annals_read(benchmark::State& state, Member member) {
    const Text& text = texts().*member;
    Reader reader;
    for (auto _ : state) {
        const Result<std::string> json = reader.read(text.xml);
        if (!json) {
            state.SkipWithError(json.error().detail.c_str());
            break;
        }
        benchmark::DoNotOptimize(json->data());
    }
    count_bytes(state, text);
}

// The reader's work before it writes JSON: characters, markup, namespaces, narratives.
void annals_elements(benchmark::State& state, Member member) {
    const Text& text = texts().*member;
    ElementParser parser;
    for (auto _ : state) {
        if (!parser.parse(text.xml)) {
            state.SkipWithError("the text is refused");
        }
        benchmark::DoNotOptimize(parser.elements().data());
    }
    count_bytes(state, text);
}

void annals_write(benchmark::State& state, Member member) {
    const Text& text = texts().*member;
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text.json);
    Writer writer;
    std::string out;
    for (auto _ : state) {
        out.clear();
        writer.write(out, document->root());
        benchmark::DoNotOptimize(out.data());
    }
    count_bytes(state, text);
}

// As a server does it: from stored JSON, including the parse.
void annals_parse_and_write(benchmark::State& state, Member member) {
    const Text& text = texts().*member;
    json::Parser parser;
    Writer writer;
    std::string out;
    for (auto _ : state) {
        Result<json::Document> document = parser.parse(text.json);
        out.clear();
        writer.write(out, document->root());
        benchmark::DoNotOptimize(out.data());
        parser.recycle(std::move(*document));
    }
    count_bytes(state, text);
}

BENCHMARK_CAPTURE(pugixml_parse, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_elements, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_read, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_write, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_parse_and_write, resource, &Texts::resource);
BENCHMARK_CAPTURE(pugixml_parse, narrative, &Texts::narrative);
BENCHMARK_CAPTURE(annals_elements, narrative, &Texts::narrative);
BENCHMARK_CAPTURE(annals_read, narrative, &Texts::narrative);
BENCHMARK_CAPTURE(annals_write, narrative, &Texts::narrative);
BENCHMARK_CAPTURE(pugixml_parse, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_elements, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_read, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_write, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_parse_and_write, bundle, &Texts::bundle);

}  // namespace
}  // namespace annals::xml

BENCHMARK_MAIN();
