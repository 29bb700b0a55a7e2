// FHIRPath: parsing typical expressions, and evaluating them on a generated patient of 1.9 kB.
//
// Bounded by one core; parsing also by the allocator. No clock, no disk, no external data.

#include "codec/fhirpath/fhirpath.h"

#include <benchmark/benchmark.h>

#include <string>

namespace annals::fhirpath {
namespace {

struct Named {
    const char* name;
    const char* text;
};

constexpr Named kExpressions[] = {
    {"literal", "1 + 1 = 2"},
    {"path", "Patient.name.given"},
    {"first_element", "active"},
    {"invariant_pat-1",
     "name.exists() or telecom.exists() or address.exists() or organization.exists()"},
    {"invariant_ele-1", "hasValue() or (children().count() > id.count())"},
    {"invariant_dom-2", "contained.contained.empty()"},
    {"invariant_dom-3",
     "contained.where((('#'+id in (%resource.descendants().reference | "
     "%resource.descendants().as(canonical) | %resource.descendants().as(uri) | "
     "%resource.descendants().as(url))) or descendants().where(reference = '#').exists() or "
     "descendants().where(as(canonical) = '#').exists() or descendants().where(as(canonical) = "
     "'#').exists()).not()).trace('unmatched', id).empty()"},
    {"search_birthdate", "Patient.birthDate | Person.birthDate | RelatedPerson.birthDate"},
    {"search_deceased", "Patient.deceased.exists() and Patient.deceased != false"},
    {"search_phone", "Patient.telecom.where(system='phone')"},
    {"search_general_practitioner", "Patient.generalPractitioner"},
    {"where_and",
     "name.where(use = 'official' and family.startsWith('Ch')).given.first() = 'Peter'"},
    {"dates", "birthDate < @2000-01-01 and birthDate > @1950"},
    {"matches", "name.family.all(matches('^[A-Z][a-z]+$'))"},
    {"descendants", "descendants().count()"},
};

std::string patient() {
    std::string text = R"({"resourceType":"Patient","id":"example","meta":{"versionId":"1",)"
                       R"("lastUpdated":"2026-01-02T03:04:05.678Z"},"active":true,"name":[)"
                       R"({"use":"official","family":"Chalmers","given":["Peter","James"]},)"
                       R"({"use":"usual","given":["Jim"]},{"use":"maiden","family":"Windsor",)"
                       R"("given":["Peter","James"],"period":{"end":"2002"}}],"telecom":[)";
    for (int i = 0; i < 4; ++i) {
        text += i == 0 ? "" : ",";
        text += R"({"system":"phone","value":"(03) 5555 6473","use":"work","rank":1})";
    }
    text += R"(],"gender":"male","birthDate":"1974-12-25","_birthDate":{"extension":[{"url":)"
            R"("http://hl7.org/fhir/StructureDefinition/patient-birthTime","valueDateTime":)"
            R"("1974-12-25T14:35:45-05:00"}]},"deceasedBoolean":false,"address":[)";
    for (int i = 0; i < 3; ++i) {
        text += i == 0 ? "" : ",";
        text += R"({"use":"home","type":"both","text":"534 Erewhon St","line":["534 Erewhon St"],)"
                R"("city":"PleasantVille","district":"Rainbow","state":"Vic","postalCode":"3999",)"
                R"("period":{"start":"1974-12-25"}})";
    }
    return text +
           R"(],"maritalStatus":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/)"
           R"(v3-MaritalStatus","code":"M"}]},"managingOrganization":{"reference":)"
           R"("Organization/1"},"generalPractitioner":[{"reference":"Practitioner/1"}]})";
}

void parse(benchmark::State& state, const char* text) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(Expression::parse(text));
    }
}

void evaluate(benchmark::State& state, const char* text) {
    json::Parser parser;
    const Result<json::Document> document = parser.parse(patient());
    const Result<Expression> expression = Expression::parse(text);
    const Item input = Item::resource(document->root());
    Evaluator evaluator;
    if (!evaluator.evaluate(*expression, input)) {
        state.SkipWithError("the expression can't be evaluated");
        return;
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(evaluator.evaluate(*expression, input));
    }
}

void cached(benchmark::State& state) {
    ExpressionCache cache;
    for (auto _ : state) {
        benchmark::DoNotOptimize(cache.get("Patient.telecom.where(system='phone')"));
    }
}

int register_all() {
    for (const Named& one : kExpressions) {
        benchmark::RegisterBenchmark((std::string("fhirpath/parse/") + one.name).c_str(), parse,
                                     one.text);
        benchmark::RegisterBenchmark((std::string("fhirpath/evaluate/") + one.name).c_str(),
                                     evaluate, one.text);
    }
    benchmark::RegisterBenchmark("fhirpath/cache", cached);
    return 0;
}

const int kRegistered = register_all();

}  // namespace
}  // namespace annals::fhirpath

BENCHMARK_MAIN();
