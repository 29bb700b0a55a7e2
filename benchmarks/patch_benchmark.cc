// Patches: the cost of applying them, compared with parsing the resource and the result.
//
// The resource, about 1.3 kB, is generated here. Bounded by one core; everything fits into the L1 caches.

#include "codec/json/document.h"
#include "codec/patch/fhirpath_patch.h"
#include "codec/patch/json_patch.h"

#include <benchmark/benchmark.h>

#include <string>
#include <string_view>

namespace annals::patch {
namespace {

std::string made_resource() {
    std::string text = R"({"resourceType":"Patient","id":"example","meta":{"versionId":"1",)"
                       R"("lastUpdated":"2026-01-01T00:00:00.000Z"},"active":true,"name":[)";
    for (int i = 0; i < 12; ++i) {
        text += i == 0 ? "" : ",";
        text += R"({"use":"official","family":"Chalmers","given":["Peter","James"],)"
                R"("period":{"start":"2001-05-06"}})";
    }
    return text + R"(],"gender":"male","birthDate":"1974-12-25"})";
}

constexpr std::string_view kOne = R"([{"op":"replace","path":"/name/3/family","value":"Windsor"}])";
constexpr std::string_view kTen =
    R"([{"op":"test","path":"/active","value":true},)"
    R"({"op":"replace","path":"/name/3/family","value":"Windsor"},)"
    R"({"op":"add","path":"/name/3/given/-","value":"John"},)"
    R"({"op":"add","path":"/name/0/given/0","value":"Jim"},)"
    R"({"op":"remove","path":"/name/11"},{"op":"move","from":"/name/10","path":"/name/0"},)"
    R"({"op":"copy","from":"/name/5/period","path":"/name/6/period"},)"
    R"({"op":"add","path":"/telecom","value":[{"system":"phone","value":"555"}]},)"
    R"({"op":"replace","path":"/birthDate","value":"1974-12-26"},)"
    R"({"op":"test","path":"/name/1/use","value":"official"}])";

constexpr std::string_view kFhirpath =
    R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[)"
    R"({"name":"type","valueCode":"replace"},{"name":"path","valueString":"Patient.name[3].family"},)"
    R"({"name":"value","valueString":"Windsor"}]}]})";

void set_bytes(benchmark::State& state, std::size_t bytes) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void parse_alone(benchmark::State& state) {
    const std::string text = made_resource();
    json::Parser parser;
    for (auto _ : state) {
        Result<json::Document> document = parser.parse(text);
        benchmark::DoNotOptimize(document->nodes().data());
        parser.recycle(std::move(*document));
    }
    set_bytes(state, text.size());
}

void json_patch(benchmark::State& state, std::string_view operations) {
    json::Parser parser;
    const std::string text = made_resource();
    const Result<json::Document> document = parser.parse(text);
    const Result<json::Document> patch = parser.parse(operations);
    for (auto _ : state) {
        Result<std::string> result = apply_json_patch(document->root(), patch->root());
        benchmark::DoNotOptimize(result->data());
    }
    set_bytes(state, text.size());
}

void fhirpath_patch(benchmark::State& state) {
    json::Parser parser;
    const std::string text = made_resource();
    const Result<json::Document> document = parser.parse(text);
    const Result<json::Document> patch = parser.parse(kFhirpath);
    for (auto _ : state) {
        Result<std::string> result = apply_fhirpath_patch(document->root(), patch->root());
        benchmark::DoNotOptimize(result->data());
    }
    set_bytes(state, text.size());
}

void parse_patch_and_parse(benchmark::State& state, std::string_view operations) {
    json::Parser parser;
    const std::string text = made_resource();
    for (auto _ : state) {
        Result<json::Document> document = parser.parse(text);
        Result<json::Document> patch = parser.parse(operations);
        Result<std::string> result = apply_json_patch(document->root(), patch->root());
        Result<json::Document> after = parser.parse(*result);
        benchmark::DoNotOptimize(after->nodes().data());
        parser.recycle(std::move(*after));
        parser.recycle(std::move(*patch));
        parser.recycle(std::move(*document));
    }
    set_bytes(state, text.size());
}

BENCHMARK(parse_alone);
BENCHMARK_CAPTURE(json_patch, one_operation, kOne);
BENCHMARK_CAPTURE(json_patch, ten_operations, kTen);
BENCHMARK(fhirpath_patch);
BENCHMARK_CAPTURE(parse_patch_and_parse, one_operation, kOne);
BENCHMARK_CAPTURE(parse_patch_and_parse, ten_operations, kTen);

}  // namespace
}  // namespace annals::patch

BENCHMARK_MAIN();
