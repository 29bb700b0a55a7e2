// Searches of one type with a million documents in the index: first pages, counts, sorting, chains. No bodies are read,
// so this is what finding costs and not what answering does. The argument is how many of them have died.

#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/sort.h"
#include "core/search/terms.h"
#include "storage/search_index.h"

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <random>

namespace annals::core::search {
namespace {

constexpr std::uint32_t kDocuments = 1'000'000;
constexpr std::uint32_t kPatients = kDocuments / 150;
constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kSecond = 1'000'000;

const Column kCode = column_of("code");
const Column kStatus = column_of("status");
const Column kDate = column_of("date");
const Column kValue = column_of("value-quantity");
const Column kSubject = column_of("subject");
const Column kName = column_of("name");
const TypeId kObservation = *find_resource_type("Observation");
const TypeId kPatient = *find_resource_type("Patient");

void fill_observation(std::mt19937_64& random, std::uint32_t number,
                      storage::SearchEntries& entries) {
    // Codes from common to rare: the first one has every second document.
    std::uint64_t code = 0;
    while (code < 40 && random() % 2 == 0) {
        ++code;
    }
    entries.terms = {token(kCode, std::to_string(code)), token(kStatus, "final"),
                     identity(number + 1)};
    const std::uint64_t patient = number / 150 + 1'000'000'000;
    entries.terms.push_back(reference(kSubject, patient));
    std::sort(entries.terms.begin(), entries.terms.end());
    entries.links.push_back({kSubject, patient});
    const auto taken = static_cast<std::int64_t>(random() % 3650) * kDay +
                       static_cast<std::int64_t>(random() % 86'400) * kSecond;
    entries.intervals.push_back({kDate, taken, taken + kSecond - 1});
    const double value = static_cast<double>(random() % 2000) / 10;
    entries.intervals.push_back({beside(kValue, "=kg"), ordered(value), ordered(value + 0.05)});
    entries.add_text(beside(kValue, ":units"), "kg");
}

struct Index {
    explicit Index(std::uint32_t died) {
        std::mt19937_64 random(1);
        std::uint64_t position = 0;
        constexpr std::uint32_t kBatch = 50'000;
        for (std::uint32_t begin = 0; begin < kDocuments; begin += kBatch) {
            std::vector<storage::SearchEntries> entries(kBatch);
            std::vector<storage::IndexedDocument> documents;
            for (std::uint32_t i = 0; i < kBatch; ++i) {
                fill_observation(random, begin + i, entries[i]);
                documents.push_back({{++position}, begin + i + 1, &entries[i]});
            }
            index.add(kObservation, documents);
        }
        std::vector<storage::SearchEntries> entries(kPatients);
        std::vector<storage::IndexedDocument> documents;
        for (std::uint32_t i = 0; i < kPatients; ++i) {
            entries[i].terms = {identity(i + 1'000'000'000)};
            std::string name;
            for (int letter = 0; letter < 7; ++letter) {
                name += static_cast<char>('a' + random() % 26);
            }
            entries[i].add_text(kName, name);
            documents.push_back({{++position}, i + 1'000'000'000, &entries[i]});
        }
        index.add(kPatient, documents);
        for (std::uint32_t i = 0; i < died; ++i) {
            index.died(kObservation, {1 + random() % kDocuments}, {++position});
        }
        last = {position};
        index.wait_until_idle();
    }

    Snapshot snapshot() {
        return Snapshot([this](TypeId type) { return index.runs(type); }, last);
    }

    storage::SearchIndex index;
    Position last;
};

Index& index_of(benchmark::State& state) {
    static std::map<std::int64_t, std::unique_ptr<Index>> indexes;
    auto& index = indexes[state.range(0)];
    if (index == nullptr) {
        index = std::make_unique<Index>(static_cast<std::uint32_t>(state.range(0)));
    }
    return *index;
}

Plan code(std::uint64_t number) {
    return carrying({token(kCode, std::to_string(number))});
}

Plan year(Comparison comparison, std::int64_t number) {
    return interval(kDate, comparison, {number * 365 * kDay, (number + 1) * 365 * kDay - 1});
}

Plan kilograms(Comparison comparison, double low, double high) {
    Plan plan;
    plan.kind = Plan::Kind::quantity;
    plan.column = kValue;
    plan.comparison = comparison;
    plan.in_unit = [=](std::string_view) -> std::optional<Range> {
        return Range{ordered(low), ordered(high)};
    };
    return plan;
}

Plan both(Plan a, Plan b) {
    std::vector<Plan> parts;
    parts.push_back(std::move(a));
    parts.push_back(std::move(b));
    return all_of(std::move(parts));
}

void run(benchmark::State& state, const Plan& plan, const Wanted& wanted) {
    Index& index = index_of(state);
    std::uint64_t count = 0;
    for (auto _ : state) {
        Snapshot snapshot = index.snapshot();
        Execution execution(snapshot, kObservation, plan);
        execution.want(wanted);
        benchmark::DoNotOptimize(execution.advance(Pace()));
        count = execution.count();
    }
    state.counters["found"] = static_cast<double>(count);
    state.counters["runs"] = static_cast<double>(index.index.runs(kObservation)->runs.size());
}

void page(benchmark::State& state, const Plan& plan) {
    run(state, plan, {.limit = 21});
}

void count(benchmark::State& state, const Plan& plan) {
    run(state, plan, {.count_only = true});
}

void bm_page_common_code(benchmark::State& state) {
    page(state, code(0));
}

void bm_page_rare_code(benchmark::State& state) {
    page(state, code(18));
}

void bm_page_two_codes(benchmark::State& state) {
    page(state, carrying({token(kCode, "2"), token(kCode, "3")}));
}

void bm_page_not_code(benchmark::State& state) {
    page(state, negation_of(code(0)));
}

void bm_page_year(benchmark::State& state) {
    page(state, year(Comparison::eq, 4));
}

void bm_page_since(benchmark::State& state) {
    page(state, year(Comparison::ge, 9));
}

void bm_page_code_and_year(benchmark::State& state) {
    page(state, both(code(5), year(Comparison::eq, 4)));
}

void bm_page_quantity(benchmark::State& state) {
    page(state, kilograms(Comparison::gt, 150, 150));
}

void bm_page_rare_quantity(benchmark::State& state) {
    page(state, kilograms(Comparison::gt, 199.8, 199.8));
}

void bm_page_patient(benchmark::State& state) {
    page(state, carrying({reference(kSubject, 1'000'000'777)}));
}

void bm_page_chain(benchmark::State& state) {
    page(state, chain(kSubject, kPatient, begins_with(kName, "ab")));
}

void bm_page_chain_contains(benchmark::State& state) {
    page(state, chain(kSubject, kPatient, containing(kName, "ab")));
}

void bm_count_code(benchmark::State& state) {
    count(state, code(0));
}

void bm_count_year(benchmark::State& state) {
    count(state, year(Comparison::eq, 4));
}

void bm_count_since(benchmark::State& state) {
    count(state, year(Comparison::ge, 2));
}

void bm_count_code_and_year(benchmark::State& state) {
    count(state, both(code(0), year(Comparison::ge, 4)));
}

void bm_count_quantity(benchmark::State& state) {
    count(state, kilograms(Comparison::gt, 150, 150));
}

// The page of a search that is sorted by date and that half of the documents match.
void bm_sort_date(benchmark::State& state) {
    Index& index = index_of(state);
    static const Parameter* const date = ParameterSet::standard()->find(kObservation, "date");
    const std::vector<SortKey> keys{{date, "date", true}};
    const Plan plan = code(0);
    for (auto _ : state) {
        Snapshot snapshot = index.snapshot();
        Execution execution(snapshot, kObservation, plan);
        execution.want({});
        benchmark::DoNotOptimize(execution.advance(Pace()));
        Sorter sorter(snapshot, keys, execution.matches());
        benchmark::DoNotOptimize(sorter.advance(Pace()));
        bool found = false;
        benchmark::DoNotOptimize(sorter.page({}, false, 21, found));
    }
}

BENCHMARK(bm_page_common_code)->Arg(0)->Arg(10'000);
BENCHMARK(bm_page_rare_code)->Arg(0);
BENCHMARK(bm_page_two_codes)->Arg(0);
BENCHMARK(bm_page_not_code)->Arg(0);
BENCHMARK(bm_page_year)->Arg(0);
BENCHMARK(bm_page_since)->Arg(0);
BENCHMARK(bm_page_code_and_year)->Arg(0);
BENCHMARK(bm_page_quantity)->Arg(0);
BENCHMARK(bm_page_rare_quantity)->Arg(0);
BENCHMARK(bm_page_patient)->Arg(0);
BENCHMARK(bm_page_chain)->Arg(0);
BENCHMARK(bm_page_chain_contains)->Arg(0);
BENCHMARK(bm_count_code)->Arg(0)->Arg(10'000);
BENCHMARK(bm_count_year)->Arg(0)->Arg(10'000);
BENCHMARK(bm_count_since)->Arg(0)->Arg(10'000);
BENCHMARK(bm_count_code_and_year)->Arg(0)->Arg(10'000);
BENCHMARK(bm_count_quantity)->Arg(0);
BENCHMARK(bm_sort_date)->Arg(0);

}  // namespace
}  // namespace annals::core::search

BENCHMARK_MAIN();
