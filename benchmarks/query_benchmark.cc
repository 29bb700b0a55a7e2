// The cost of reading a search before anything is looked up, and of matching a plan against one resource.

#include "tests/core/search/corpus.h"

#include <benchmark/benchmark.h>

#include <string>

namespace annals::core::search {
namespace {

struct Search {
    const char* name;
    const char* type;
    const char* query;
};

constexpr Search kSearches[] = {
    {"none", "Patient", ""},
    {"id", "Patient", "_id=example"},
    {"name", "Patient", "name:contains=chal&_count=20"},
    {"token", "Observation", "code=http://loinc.org|8480-6&category=vital-signs&_count=20"},
    {"reference", "Observation", "patient=Patient/example&_count=20&_sort=-date"},
    {"date", "Observation", "date=ge2012-09-17T08:30:00%2B02:00&_count=20"},
    {"quantity", "Observation", "value-quantity=gt5.4|http://unitsofmeasure.org|mg"},
    {"composite", "Observation", "combo-code-value-quantity=http://loinc.org|8480-6$gt100"},
    {"chain", "Observation", "subject:Patient.general-practitioner.name=joe"},
    {"has", "Patient", "_has:Observation:patient:code=8480-6"},
    {"or100", "Patient",
     "_id=a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,c0,c1,c2,c3,c4,c5,c6,c7,c8,"
     "c9,"
     "d0,d1,d2,d3,d4,d5,d6,d7,d8,d9,e0,e1,e2,e3,e4,e5,e6,e7,e8,e9,f0,f1,f2,f3,f4,f5,f6,f7,f8,f9,"
     "g0,g1,g2,g3,g4,g5,g6,g7,g8,g9,h0,h1,h2,h3,h4,h5,h6,h7,h8,h9,i0,i1,i2,i3,i4,i5,i6,i7,i8,i9,"
     "j0,j1,j2,j3,j4,j5,j6,j7,j8,j9"},
    {"filter", "Patient", "_filter=name%20co%20pet%20and%20birthdate%20ge%202014-10-10"},
    {"system", "", "_id=example"},
};

void read_query(benchmark::State& state, const Search& search) {
    const Corpus corpus;
    for (auto _ : state) {
        benchmark::DoNotOptimize(corpus.parse(search.type, search.query, true));
    }
    state.SetItemsProcessed(state.iterations());
}

void verify_composite(benchmark::State& state) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"MolecularSequence","id":"one","coordinateSystem":0,
        "referenceSeq":{"chromosome":{"coding":[{"code":"1"}]}},
        "variant":[{"start":5,"end":6},{"start":50,"end":60}]})");
    const TypeId type = *find_resource_type("MolecularSequence");
    const auto query =
        corpus.parse("MolecularSequence", "chromosome-variant-coordinate=1$50$60", true);
    const auto document = corpus.read(type, "one", nullptr);
    const Plan& plan = query->types[0].plan;
    for (auto _ : state) {
        benchmark::DoNotOptimize(plan.check((*document)->root()));
    }
    state.SetItemsProcessed(state.iterations());
}

BENCHMARK(verify_composite);

}  // namespace
}  // namespace annals::core::search

int main(int argc, char** argv) {
    for (const auto& search : annals::core::search::kSearches) {
        benchmark::RegisterBenchmark((std::string("read_query/") + search.name).c_str(),
                                     annals::core::search::read_query, search);
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
