// The cost of full validation: of single resources, with and without a profile, and of a Bundle.

#include "codec/json/document.h"
#include "codec/schema/structure.h"
#include "core/validation/validate.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace annals::validation {
namespace {

constexpr std::string_view kPatient =
    R"({"resourceType":"Patient","id":"p","meta":{"versionId":"1"},
    "identifier":[{"use":"official","system":"http://x.org/ids","value":"12345"}],"active":true,
    "name":[{"use":"official","family":"Chalmers","given":["Peter","James"]},{"use":"usual","given":["Jim"]}],
    "telecom":[{"system":"phone","value":"(03) 5555 6473","use":"work","rank":1}],"gender":"male",
    "birthDate":"1974-12-25","deceasedBoolean":false,"address":[{"use":"home","type":"both",
    "line":["534 Erewhon St"],"city":"PleasantVille","state":"Vic","postalCode":"3999",
    "period":{"start":"1974-12-25"}}],"contact":[{"name":{"family":"du Marche","given":["Benedicte"]},
    "gender":"female"}],"managingOrganization":{"reference":"Organization/1"}})";

constexpr std::string_view kProfile =
    R"({"resourceType":"StructureDefinition","url":"http://x.org/p","name":"P",
    "status":"draft","kind":"resource","abstract":false,"type":"Patient","derivation":"constraint",
    "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient","differential":{"element":[
    {"id":"Patient.name","path":"Patient.name","min":1},
    {"id":"Patient.identifier","path":"Patient.identifier","slicing":{"rules":"open","discriminator":[
        {"type":"value","path":"system"}]}},
    {"id":"Patient.identifier:x","path":"Patient.identifier","sliceName":"x","min":1},
    {"id":"Patient.identifier:x.system","path":"Patient.identifier.system","fixedUri":"http://x.org/ids"}]}})";

class OneProfile final : public Source {
  public:
    OneProfile() {
        json::Parser parser;
        profile_ = std::make_shared<const json::Document>(*parser.parse(kProfile));
    }

    Result<Definition> find(std::string_view, std::string_view url,
                            std::string_view) const override {
        return url == "http://x.org/p" ? profile_ : nullptr;
    }

  private:
    Definition profile_;
};

void set_bytes(benchmark::State& state, std::size_t bytes) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void parse_alone(benchmark::State& state) {
    json::Parser parser;
    for (auto _ : state) {
        Result<json::Document> document = parser.parse(kPatient);
        benchmark::DoNotOptimize(document->nodes().data());
        parser.recycle(std::move(*document));
    }
    set_bytes(state, kPatient.size());
}

void parse_and_check(benchmark::State& state) {
    json::Parser parser;
    for (auto _ : state) {
        Result<json::Document> document = parser.parse_resource(kPatient);
        if (!schema::check_structure(document->root(), {})) {
            state.SkipWithError("the resource is sound");
        }
        parser.recycle(std::move(*document));
    }
    set_bytes(state, kPatient.size());
}

void full(benchmark::State& state, bool with_profile) {
    const OneProfile source;
    Options options;
    if (with_profile) {
        options.profiles = {"http://x.org/p"};
    }
    json::Parser parser;
    const Result<json::Document> document = parser.parse(kPatient);
    for (auto _ : state) {
        const Report report = validate(document->root(), source, options);
        if (!report.valid) {
            state.SkipWithError("the resource is sound");
        }
    }
    set_bytes(state, kPatient.size());
}

void bundle(benchmark::State& state) {
    std::string text = R"({"resourceType":"Bundle","type":"collection","entry":[)";
    for (int i = 0; i < 500; ++i) {
        text += i == 0 ? "" : ",";
        text += R"({"fullUrl":"http://x.org/)" + std::to_string(i) + R"(","resource":)";
        text += std::string(kPatient) + "}";
    }
    text += "]}";
    json::Parser parser;
    const Result<json::Document> document = parser.parse(text);
    const EmptySource source;
    for (auto _ : state) {
        const Report report = validate(document->root(), source);
        if (!report.valid) {
            state.SkipWithError("the Bundle is sound");
        }
    }
    set_bytes(state, text.size());
}

BENCHMARK(parse_alone);
BENCHMARK(parse_and_check);
BENCHMARK_CAPTURE(full, no_profile, false);
BENCHMARK_CAPTURE(full, with_profile, true);
BENCHMARK(bundle)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace annals::validation

BENCHMARK_MAIN();
