// The index: loading, look-ups and paging. All are bound by memory latency.

#include "storage/index.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

namespace annals::storage {
namespace {

/// One and a half times as many versions as resources, in random order, as when histories are imported.
struct Workload {
    std::vector<IndexedVersion> versions;
    std::uint64_t resources = 0;
};

Hash128 key_of(std::uint64_t number) {
    return hash128({reinterpret_cast<const char*>(&number), sizeof number}, 7);
}

Workload make_workload(std::uint64_t count) {
    std::mt19937_64 random(1);
    Workload workload;
    workload.resources = count * 2 / 3;
    std::vector<std::uint32_t> order(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        order[i] =
            static_cast<std::uint32_t>(i < workload.resources ? i : random() % workload.resources);
    }
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::uint32_t> numbers(workload.resources);
    workload.versions.resize(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        workload.versions[i] = {.key = key_of(order[i]),
                                .type = {static_cast<std::uint16_t>(order[i] % 20)},
                                .position = {i + 1},
                                .version = {++numbers[order[i]]},
                                .instant = {static_cast<std::int64_t>(i * 100)},
                                .location = {.segment = 1, .offset = i * 512}};
    }
    return workload;
}

const Workload& workload_of(std::uint64_t count) {
    static Workload workload;
    if (workload.versions.size() != count) {
        workload = make_workload(count);
    }
    return workload;
}

const Index& index_of(std::uint64_t count) {
    static std::unique_ptr<Index> index;
    static std::uint64_t size = 0;
    if (size != count) {
        const Workload& workload = workload_of(count);
        index = std::make_unique<Index>();
        index->reserve(count, workload.resources);
        index->add_batch(workload.versions);
        index->publish({count});
        size = count;
    }
    return *index;
}

void load(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    const bool reserves = state.range(1) != 0;
    const bool batches = state.range(2) != 0;
    const Workload& workload = workload_of(count);
    std::uint64_t bytes = 0;
    for (auto _ : state) {
        auto index = std::make_unique<Index>();
        if (reserves) {
            index->reserve(count, workload.resources);
        }
        if (batches) {
            index->add_batch(workload.versions);
        } else {
            for (const IndexedVersion& version : workload.versions) {
                index->add(version);
            }
        }
        index->publish({count});
        bytes = index->bytes();
        state.PauseTiming();
        index.reset();
        state.ResumeTiming();
    }
    state.counters["bytes_per_version"] = static_cast<double>(bytes) / static_cast<double>(count);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(load)
    ->ArgNames({"versions", "reserve", "batch"})
    ->Args({2'000'000, 1, 1})
    ->Args({2'000'000, 1, 0})
    ->Args({2'000'000, 0, 0})
    ->Unit(benchmark::kMillisecond);

void look_up_current(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    const Index& index = index_of(count);
    const std::uint64_t resources = workload_of(count).resources;
    std::mt19937_64 random(2);
    for (auto _ : state) {
        benchmark::DoNotOptimize(index.current(key_of(random() % resources), {}));
    }
}

BENCHMARK(look_up_current)->Arg(2'000'000);

void look_up_absent(benchmark::State& state) {
    const Index& index = index_of(static_cast<std::uint64_t>(state.range(0)));
    std::mt19937_64 random(2);
    for (auto _ : state) {
        benchmark::DoNotOptimize(index.current(key_of(random() | 1ULL << 40), {}));
    }
}

BENCHMARK(look_up_absent)->Arg(2'000'000);

void page_history(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    const Index& index = index_of(count);
    std::mt19937_64 random(3);
    HistoryQuery query;
    query.count = 100;
    query.order = static_cast<HistoryOrder>(state.range(1));
    if (state.range(2) != 0) {
        query.type = TypeId{3};
    }
    for (auto _ : state) {
        query.after = index.at({1 + random() % count});
        if (state.range(3) != 0) {
            query.since = Instant{static_cast<std::int64_t>(random() % count * 100)};
        }
        benchmark::DoNotOptimize(index.history(query, {}));
    }
}

BENCHMARK(page_history)
    ->ArgNames({"versions", "order", "of_type", "since"})
    ->Args({2'000'000, 0, 0, 0})
    ->Args({2'000'000, 0, 1, 0})
    ->Args({2'000'000, 0, 1, 1})
    ->Args({2'000'000, 2, 0, 0})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace annals::storage

BENCHMARK_MAIN();
