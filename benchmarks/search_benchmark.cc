// Searches of one type with a million documents in the index: first pages, counts, sorting, chains. No bodies are read,
// so this is the cost of finding, not of answering. The argument is how many of the documents have died.

#include "core/search/execute.h"
#include "core/search/ordered_walk.h"
#include "core/search/query.h"
#include "core/search/sort.h"
#include "core/search/terms.h"
#include "storage/search_index.h"

#include <benchmark/benchmark.h>

#include <array>
#include <map>
#include <memory>
#include <random>

namespace annals::core::search {
namespace {

constexpr std::uint32_t kDocuments = 1'000'000;
constexpr std::uint32_t kPatients = kDocuments / 150;
constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kSecond = 1'000'000;

Column code_column() {
    return column_of("code");
}

Column status_column() {
    return column_of("status");
}

Column date_column() {
    return column_of("date");
}

Column value_column() {
    return column_of("value-quantity");
}

Column subject_column() {
    return column_of("subject");
}

Column name_column() {
    return column_of("name");
}

TypeId observation_type() {
    return *find_resource_type("Observation");
}

TypeId patient_type() {
    return *find_resource_type("Patient");
}

void fill_observation(std::mt19937_64& random, std::uint32_t number,
                      storage::SearchEntries& entries) {
    // From common to rare codes: half of the documents have the first one.
    std::uint64_t code = 0;
    while (code < 40 && random() % 2 == 0) {
        ++code;
    }
    entries.terms = {token(code_column(), std::to_string(code)), token(status_column(), "final"),
                     identity(number + 1)};
    const std::uint64_t patient = number / 150 + 1'000'000'000;
    entries.terms.push_back(reference(subject_column(), patient));
    std::sort(entries.terms.begin(), entries.terms.end());
    entries.links.push_back({subject_column(), patient});
    const auto taken = static_cast<std::int64_t>(random() % 3650) * kDay +
                       static_cast<std::int64_t>(random() % 86'400) * kSecond;
    entries.intervals.push_back({date_column(), taken, taken + kSecond - 1});
    const double value = static_cast<double>(random() % 2000) / 10;
    entries.intervals.push_back(
        {beside(value_column(), "=kg"), ordered(value), ordered(value + 0.05)});
    entries.add_text(beside(value_column(), ":units"), "kg");
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
            index.add(observation_type(), documents);
        }
        std::vector<storage::SearchEntries> entries(kPatients);
        std::vector<storage::IndexedDocument> documents;
        for (std::uint32_t i = 0; i < kPatients; ++i) {
            entries[i].terms = {identity(i + 1'000'000'000)};
            std::string name;
            for (int letter = 0; letter < 7; ++letter) {
                name += static_cast<char>('a' + random() % 26);
            }
            entries[i].add_text(name_column(), name);
            documents.push_back({{++position}, i + 1'000'000'000, &entries[i]});
        }
        index.add(patient_type(), documents);
        for (std::uint32_t i = 0; i < died; ++i) {
            index.died(observation_type(), {1 + random() % kDocuments}, {++position});
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
    return carrying({token(code_column(), std::to_string(number))});
}

Plan year(Comparison comparison, std::int64_t number) {
    return interval(date_column(), comparison,
                    {number * 365 * kDay, (number + 1) * 365 * kDay - 1});
}

Plan kilograms(Comparison comparison, double low, double high) {
    Plan plan;
    plan.kind = Plan::Kind::quantity;
    plan.column = value_column();
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
        Execution execution(snapshot, observation_type(), plan);
        execution.want(wanted);
        benchmark::DoNotOptimize(execution.advance(Pace()));
        count = execution.count();
    }
    state.counters["found"] = static_cast<double>(count);
    state.counters["runs"] = static_cast<double>(index.index.runs(observation_type())->runs.size());
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
    page(state, carrying({token(code_column(), "2"), token(code_column(), "3")}));
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
    page(state, carrying({reference(subject_column(), 1'000'000'777)}));
}

void bm_page_chain(benchmark::State& state) {
    page(state, chain(subject_column(), patient_type(), begins_with(name_column(), "ab")));
}

void bm_page_chain_contains(benchmark::State& state) {
    page(state, chain(subject_column(), patient_type(), containing(name_column(), "ab")));
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

// A page of a search sorted by date that half of the documents match.
void bm_sort_date(benchmark::State& state) {
    Index& index = index_of(state);
    static const Parameter* const date = ParameterSet::standard()->find(observation_type(), "date");
    const std::vector<SortKey> keys{{date, "date", true}};
    const Plan plan = code(0);
    for (auto _ : state) {
        Snapshot snapshot = index.snapshot();
        Execution execution(snapshot, observation_type(), plan);
        execution.want({});
        benchmark::DoNotOptimize(execution.advance(Pace()));
        Sorter sorter(snapshot, keys, execution.matches());
        sorter.want({}, false, 21);
        benchmark::DoNotOptimize(sorter.advance(Pace()));
        benchmark::DoNotOptimize(sorter.page());
    }
}

// The same by walking through the dates in order.
void bm_walk_date(benchmark::State& state) {
    Index& index = index_of(state);
    static const Parameter* const date = ParameterSet::standard()->find(observation_type(), "date");
    const std::array keys = {SortKey{date, "date", true}};
    const Plan plan = code(0);
    for (auto _ : state) {
        Snapshot snapshot = index.snapshot();
        Execution execution(snapshot, observation_type(), plan);
        execution.want({.before = Position{0}});
        benchmark::DoNotOptimize(execution.advance(Pace()));
        OrderedWalk walk(snapshot, execution, keys, {}, 21);
        benchmark::DoNotOptimize(walk.advance(Pace()));
        benchmark::DoNotOptimize(walk.found_enough());
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
BENCHMARK(bm_walk_date)->Arg(0);

}  // namespace
}  // namespace annals::core::search

BENCHMARK_MAIN();
