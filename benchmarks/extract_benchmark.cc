// The cost of extracting search entries when a resource is stored, compared with the parse.
//
// Reads Synthea's files below the folder ANNALS_TEST_DATA; without it, uses an observation generated here.

#include "codec/json/document.h"
#include "core/search/extract.h"
#include "core/search/fold.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace annals::core::search {
namespace {

struct Resource {
    TypeId type;
    std::string text;
};

constexpr std::string_view kObservation = R"({"resourceType":"Observation","id":"f206",
"meta":{"versionId":"1","lastUpdated":"2026-01-02T03:04:05.678Z","profile":["http://example.org/bp"]},
"status":"final","category":[{"coding":[{"system":
"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs","display":
"Vital Signs"}],"text":"Vital Signs"}],"code":{"coding":[{"system":"http://loinc.org","code":"85354-9",
"display":"Blood pressure panel"}],"text":"Blood pressure"},"subject":{"reference":"Patient/example"},
"encounter":{"reference":"Encounter/example"},"effectiveDateTime":"2012-09-17T08:30:00+02:00",
"issued":"2012-09-17T08:30:00.123+02:00","performer":[{"reference":"Practitioner/example"}],
"component":[{"code":{"coding":[{"system":"http://loinc.org","code":"8480-6","display":
"Systolic blood pressure"}]},"valueQuantity":{"value":107,"unit":"mmHg","system":
"http://unitsofmeasure.org","code":"mm[Hg]"}},{"code":{"coding":[{"system":"http://loinc.org","code":
"8462-4","display":"Diastolic blood pressure"}]},"valueQuantity":{"value":60,"unit":"mmHg","system":
"http://unitsofmeasure.org","code":"mm[Hg]"}}]})";

/// Synthea's resources, by type; or an observation.
std::map<std::string, std::vector<Resource>> read_resources() {
    std::map<std::string, std::vector<Resource>> resources;
    json::Parser parser;
    std::size_t files = 0;
    if (const char* data = std::getenv("ANNALS_TEST_DATA")) {
        std::error_code ec;
        for (const auto& entry : std::filesystem::directory_iterator(
                 std::string(data) + "/synthea-2019-dev/SYNTHEA", ec)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const auto bundle = parser.parse((std::ostringstream() << file.rdbuf()).str());
            if (!bundle || ++files > 20) {
                continue;
            }
            for (const json::Value inside : bundle->root()["entry"].elements()) {
                const std::string type = inside["resource"]["resourceType"].string();
                if (const auto id = find_resource_type(type)) {
                    resources[type].push_back({*id, std::string(inside["resource"].raw())});
                    resources["all"].push_back(resources[type].back());
                }
            }
        }
    }
    const auto observation = parser.parse(kObservation);
    resources["made"].push_back(
        {*find_resource_type("Observation"), std::string(observation->text())});
    return resources;
}

const std::vector<Resource>& resources_of(const std::string& name) {
    static const auto all = read_resources();
    const auto found = all.find(name);
    return found == all.end() ? all.at("made") : found->second;
}

void count(benchmark::State& state, const std::vector<Resource>& resources) {
    std::size_t bytes = 0;
    for (const Resource& resource : resources) {
        bytes += resource.text.size();
    }
    const auto rounds = static_cast<std::int64_t>(state.iterations());
    state.SetItemsProcessed(rounds * static_cast<std::int64_t>(resources.size()));
    state.SetBytesProcessed(rounds * static_cast<std::int64_t>(bytes));
    state.counters["s_each"] =
        benchmark::Counter(static_cast<double>(rounds) * static_cast<double>(resources.size()),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["bytes_each"] =
        static_cast<double>(bytes) / static_cast<double>(resources.size());
}

void parse(benchmark::State& state, const std::string& name) {
    const auto& resources = resources_of(name);
    json::Parser parser;
    for (auto _ : state) {
        for (const Resource& resource : resources) {
            auto document = parser.parse(resource.text);
            benchmark::DoNotOptimize(document->nodes().data());
            parser.recycle(std::move(*document));
        }
    }
    count(state, resources);
}

/// Parse and extract, as a write does; extraction costs the difference to parsing alone.
void parse_and_extract(benchmark::State& state, const std::string& name) {
    const auto& resources = resources_of(name);
    json::Parser parser;
    Extractor extractor(ParameterSet::standard(), 1, "");
    storage::SearchEntries entries;
    std::size_t terms = 0;
    std::size_t all = 0;
    for (auto _ : state) {
        terms = 0;
        all = 0;
        for (const Resource& resource : resources) {
            auto document = parser.parse(resource.text);
            extractor.extract(resource.type, document->root(), entries);
            benchmark::DoNotOptimize(entries.terms.data());
            terms += entries.terms.size();
            all += entries.intervals.size() + entries.links.size() + entries.texts.size();
            parser.recycle(std::move(*document));
        }
    }
    count(state, resources);
    state.counters["terms_each"] =
        static_cast<double>(terms) / static_cast<double>(resources.size());
    state.counters["others_each"] =
        static_cast<double>(all) / static_cast<double>(resources.size());
}

/// Extracts one parameter alone, as sorting and verifying do.
void extract_one(benchmark::State& state, const std::string& code) {
    json::Parser parser;
    const auto document = parser.parse(resources_of("made").front().text);
    const TypeId type = *find_resource_type("Observation");
    const Parameter& parameter = *ParameterSet::standard()->find(type, code);
    Extractor extractor(ParameterSet::standard(), 1, "");
    storage::SearchEntries entries;
    for (auto _ : state) {
        if (parameter.components.empty()) {
            extractor.extract(parameter, type, document->root(), entries);
            benchmark::DoNotOptimize(entries.terms.data());
        } else {
            const auto elements = extractor.extract_composite(parameter, document->root());
            benchmark::DoNotOptimize(elements.data());
        }
    }
}

/// The extra cost of the first resource of a type on a thread.
void first_of_a_type(benchmark::State& state) {
    json::Parser parser;
    const auto document = parser.parse(resources_of("made").front().text);
    storage::SearchEntries entries;
    for (auto _ : state) {
        Extractor extractor(ParameterSet::standard(), 1, "");
        extractor.extract(*find_resource_type("Observation"), document->root(), entries);
        benchmark::DoNotOptimize(entries.terms.data());
    }
}

void make_parameters(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(ParameterSet::with({}));
    }
}

void fold_text(benchmark::State& state, const std::string& text) {
    std::string folded;
    for (auto _ : state) {
        fold(text, folded);
        benchmark::DoNotOptimize(folded.data());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(text.size()));
}

BENCHMARK_CAPTURE(parse, made, std::string("made"));
BENCHMARK_CAPTURE(parse_and_extract, made, std::string("made"));
BENCHMARK_CAPTURE(parse, observations, std::string("Observation"));
BENCHMARK_CAPTURE(parse_and_extract, observations, std::string("Observation"));
BENCHMARK_CAPTURE(parse, patients, std::string("Patient"));
BENCHMARK_CAPTURE(parse_and_extract, patients, std::string("Patient"));
BENCHMARK_CAPTURE(parse, encounters, std::string("Encounter"));
BENCHMARK_CAPTURE(parse_and_extract, encounters, std::string("Encounter"));
BENCHMARK_CAPTURE(parse, all, std::string("all"));
BENCHMARK_CAPTURE(parse_and_extract, all, std::string("all"));
BENCHMARK_CAPTURE(extract_one, date, std::string("date"));
BENCHMARK_CAPTURE(extract_one, composite, std::string("combo-code-value-quantity"));
BENCHMARK(first_of_a_type);
BENCHMARK(make_parameters);
BENCHMARK_CAPTURE(fold_text, ascii, std::string("Systolic Blood Pressure"));
BENCHMARK_CAPTURE(fold_text, accents, std::string("Hôpital Universitaire Genève"));

}  // namespace
}  // namespace annals::core::search

BENCHMARK_MAIN();
