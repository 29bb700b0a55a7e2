// JSON: parsing, compared with simdjson's own DOM and its stage 1 alone, and the walks over a resource.
//
// Reads Synthea's files below the folder ANNALS_TEST_DATA; without it, uses a patient generated here.
// "pretty" has two blanks per level. Bounded by one core; for bundles, also by the L2 cache.

#include "codec/json/document.h"
#include "codec/json/resource.h"
#include "codec/schema/structure.h"

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace annals::json {
namespace {

struct Texts {
    std::string resource;  // compact, about 1.4 kB
    std::string bundle;    // compact, about 1 MB
    std::string pretty_resource;
    std::string pretty_bundle;
};

std::string pretty(Value value, const std::string& indent = "\n") {
    std::string out;
    const std::string deeper = indent + "  ";
    if (value.is_object()) {
        for (const auto [key, member] : value.members()) {
            out += (out.empty() ? "{" : ",") + deeper;
            out += std::string(key.raw()) + ": " + pretty(member, deeper);
        }
        return out.empty() ? "{}" : out + indent + "}";
    }
    if (value.is_array()) {
        for (const Value element : value.elements()) {
            out += (out.empty() ? "[" : ",") + deeper + pretty(element, deeper);
        }
        return out.empty() ? "[]" : out + indent + "]";
    }
    return std::string(value.raw());
}

std::string made_resource() {
    std::string text = R"({"resourceType":"Patient","id":"example","name":[)";
    for (int i = 0; i < 12; ++i) {
        text += i == 0 ? "" : ",";
        text +=
            R"({"use":"official","family":"Chalmers","given":["Peter","James"],"period":{"start":"2001-05-06"}})";
    }
    return text + R"(],"gender":"male","birthDate":"1974-12-25"})";
}

Texts read_texts() {
    Texts texts;
    Parser parser;
    std::string file_text;
    if (const char* data = std::getenv("ANNALS_TEST_DATA")) {
        // Chooses the bundle of about 1 MB when compact, and its resource closest to 1.4 kB.
        std::uintmax_t best = 0;
        const auto distance = [](std::uintmax_t a, std::uintmax_t b) {
            return a > b ? a - b : b - a;
        };
        for (const char* folder : {"/synthea-2022/json", "/synthea-2019-dev/SYNTHEA"}) {
            std::error_code ec;
            for (const auto& entry :
                 std::filesystem::directory_iterator(std::string(data) + folder, ec)) {
                if (entry.path().extension() == ".json" &&
                    distance(entry.file_size(), 2'500'000) < distance(best, 2'500'000)) {
                    best = entry.file_size();
                    std::ifstream file(entry.path(), std::ios::binary);
                    file_text = (std::ostringstream() << file.rdbuf()).str();
                }
            }
        }
        if (Result<Document> bundle = parser.parse(file_text)) {
            for (const Value entry : bundle->root()["entry"].elements()) {
                const std::string_view raw = entry["resource"].raw();
                if (distance(raw.size(), 1400) < distance(texts.resource.size(), 1400)) {
                    texts.resource = raw;
                }
            }
            texts.bundle = bundle->text();
        }
    }
    if (texts.resource.empty()) {
        texts.resource = made_resource();
        texts.bundle = R"({"resourceType":"Bundle","type":"collection","entry":[{"resource":)" +
                       texts.resource;
        while (texts.bundle.size() < 1'000'000) {
            texts.bundle += R"(},{"resource":)" + texts.resource;
        }
        texts.bundle += "}]}";
    }
    texts.pretty_resource = pretty(parser.parse(texts.resource)->root());
    texts.pretty_bundle = pretty(parser.parse(texts.bundle)->root());
    return texts;
}

const Texts& texts() {
    static const Texts kTexts = read_texts();
    return kTexts;
}

std::vector<std::string> read_examples() {
    std::vector<std::string> examples;
    if (const char* data = std::getenv("ANNALS_TEST_DATA")) {
        std::error_code ec;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 std::string(data) + "/r4-official-dev/r4-examples", ec)) {
            if (entry.path().extension() == ".json") {
                std::ifstream file(entry.path(), std::ios::binary);
                examples.push_back((std::ostringstream() << file.rdbuf()).str());
            }
        }
    }
    if (examples.empty()) {
        examples.push_back(made_resource());
    }
    return examples;
}

using Member = std::string Texts::*;

void count_bytes(benchmark::State& state, const std::string& text) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
    state.counters["text_bytes"] = static_cast<double>(text.size());
}

void annals_parse(benchmark::State& state, Member member) {
    const std::string& text = texts().*member;
    Parser parser;
    for (auto _ : state) {
        Result<Document> document = parser.parse(text);
        benchmark::DoNotOptimize(document->nodes().data());
        parser.recycle(std::move(*document));
    }
    count_bytes(state, text);
}

void annals_parse_and_check(benchmark::State& state, Member member) {
    const std::string& text = texts().*member;
    Parser parser;
    for (auto _ : state) {
        Result<Document> document = parser.parse_resource(text);
        if (!schema::check_structure(document->root(), {})) {
            state.SkipWithError("the text has faults");
        }
        parser.recycle(std::move(*document));
    }
    count_bytes(state, text);
}

// HL7's example resources as published, one after the other.
void examples(benchmark::State& state, bool check) {
    static const std::vector<std::string> kTexts = read_examples();
    Parser parser;
    std::size_t bytes = 0;
    for (auto _ : state) {
        for (const std::string& text : kTexts) {
            Result<Document> document = check ? parser.parse_resource(text) : parser.parse(text);
            if (check) {
                const bool built = bool(schema::check_structure(document->root(), {}));
                benchmark::DoNotOptimize(built);
            }
            bytes += text.size();
            parser.recycle(std::move(*document));
        }
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void simdjson_dom(benchmark::State& state, Member member) {
    const simdjson::padded_string text(texts().*member);
    simdjson::dom::parser parser;
    for (auto _ : state) {
        simdjson::dom::element root;
        if (parser.parse(text).get(root) != simdjson::SUCCESS) {
            state.SkipWithError("simdjson refuses the text");
        }
        benchmark::DoNotOptimize(root);
    }
    count_bytes(state, texts().*member);
}

void simdjson_stage1(benchmark::State& state, Member member) {
    const simdjson::padded_string text(texts().*member);
    std::unique_ptr<simdjson::internal::dom_parser_implementation> implementation;
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            text.size(), 1, implementation) != simdjson::SUCCESS) {
        state.SkipWithError("no memory");
    }
    for (auto _ : state) {
        const auto error =
            implementation->stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                   simdjson::stage1_mode::regular);
        benchmark::DoNotOptimize(error);
    }
    count_bytes(state, texts().*member);
}

void plan_body(benchmark::State& state) {
    Parser parser;
    const Result<Document> document = parser.parse(texts().resource);
    for (auto _ : state) {
        const Result<ResourceFacts> facts = read_facts(document->root());
        const BodyPlan plan(*facts, "46d8cf9a-63e3-43bc-1241-3a01f198fe87", {});
        benchmark::DoNotOptimize(plan.pieces().data());
    }
    count_bytes(state, texts().resource);
}

void find_all_references(benchmark::State& state) {
    Parser parser;
    const Result<Document> document = parser.parse(texts().resource);
    std::vector<ReferenceSite> sites;
    for (auto _ : state) {
        sites.clear();
        find_references(document->root(), sites);
        benchmark::DoNotOptimize(sites.data());
    }
    count_bytes(state, texts().resource);
}

BENCHMARK_CAPTURE(annals_parse, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_parse_and_check, resource, &Texts::resource);
BENCHMARK_CAPTURE(simdjson_dom, resource, &Texts::resource);
BENCHMARK_CAPTURE(simdjson_stage1, resource, &Texts::resource);
BENCHMARK_CAPTURE(annals_parse, pretty_resource, &Texts::pretty_resource);
BENCHMARK_CAPTURE(annals_parse_and_check, pretty_resource, &Texts::pretty_resource);
BENCHMARK_CAPTURE(simdjson_dom, pretty_resource, &Texts::pretty_resource);
BENCHMARK_CAPTURE(simdjson_stage1, pretty_resource, &Texts::pretty_resource);
BENCHMARK_CAPTURE(annals_parse, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_parse_and_check, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(simdjson_dom, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(simdjson_stage1, bundle, &Texts::bundle);
BENCHMARK_CAPTURE(annals_parse, pretty_bundle, &Texts::pretty_bundle);
BENCHMARK_CAPTURE(annals_parse_and_check, pretty_bundle, &Texts::pretty_bundle);
BENCHMARK_CAPTURE(simdjson_dom, pretty_bundle, &Texts::pretty_bundle);
BENCHMARK_CAPTURE(simdjson_stage1, pretty_bundle, &Texts::pretty_bundle);
BENCHMARK_CAPTURE(examples, parse, false);
BENCHMARK_CAPTURE(examples, parse_and_check, true);
BENCHMARK(plan_body);
BENCHMARK(find_all_references);

}  // namespace
}  // namespace annals::json

BENCHMARK_MAIN();
