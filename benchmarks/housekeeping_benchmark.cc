// The cost of erasing, the speed of history cleanup and compaction, and their effect on writers.
//
// Set ANNALS_BENCHMARK_DIR to use another device than that of the working directory.

#include "storage/file_system.h"
#include "storage/history_cleanup.h"
#include "storage/store.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "benchmarks/scratch_directory.h"

namespace annals::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBodyBytes = 1500;
constexpr double kMegabyte = 1e6;
constexpr double kMilliseconds = 1e3;
const TypeId kType{0};

std::string id_of(std::uint64_t i) {
    return fmt::format("r{}", i);
}

Ticket submit(Store& store, const std::string& id, std::string_view body) {
    const BodyPiece piece{BodyPiece::Kind::text, body};
    VersionWrite write;
    write.type = kType;
    write.id = id;
    write.body = {&piece, 1};
    return store.submit({{&write, 1}, {}, {}, {}}).ticket;
}

Ticket erase(Store& store, const std::string& id) {
    Erase erase;
    erase.type = kType;
    erase.id = id;
    return store.submit({{}, {&erase, 1}, {}, {}}).ticket;
}

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::unique_ptr<Store> filled(const std::string& directory, std::uint64_t resources,
                              std::uint64_t versions, std::uint64_t segment_bytes = 16 << 20) {
    StoreOptions options;
    options.segment_bytes = segment_bytes;
    auto store = *Store::open(posix_file_system(), directory, std::move(options));
    const std::string body(kBodyBytes, 'b');
    Ticket last;
    for (std::uint64_t v = 0; v < versions; ++v) {
        for (std::uint64_t i = 0; i < resources; ++i) {
            last = submit(*store, id_of(i), body);
            if (i % 4096 == 4095) {
                (void)store->wait(last);
            }
        }
    }
    (void)store->wait(last);
    return store;
}

double median(std::vector<double>& all) {
    std::ranges::sort(all);
    return all.empty() ? 0 : all[all.size() / 2];
}

/// The time to overwrite zeros with a body and sync it.
double one_sync(File& file, std::uint64_t i) {
    const std::string body(kBodyBytes, 's');
    const auto start = Clock::now();
    (void)file.write(i * 8192, body);
    (void)file.sync();
    return since(start);
}

/// Threads that each erase their own resources one by one. With a single thread, each is followed by a sync of the
/// device, to show what that takes on this machine at the time.
void hard_deletes(benchmark::State& state) {
    constexpr std::uint64_t kEach = 64;
    const auto threads = static_cast<std::uint64_t>(state.range(0));
    std::uint64_t erased = 0;
    std::vector<double> deletes;
    std::vector<double> syncs;
    for (auto _ : state) {
        const ScratchDirectory directory;
        auto store = filled(directory.path(), threads * kEach, 1);
        if (threads == 1) {
            const std::string path = directory.path() + "/zeros";
            auto file = *posix_file_system().open(path, FileSystem::Mode::create);
            (void)file->write(0, std::string(1 << 20, '\0'));
            (void)file->sync();
            for (std::uint64_t i = 0; i < kEach; ++i) {
                const auto start = Clock::now();
                const Ticket ticket = erase(*store, id_of(i));
                (void)store->wait(ticket);
                (void)store->wait_erased(ticket);
                deletes.push_back(since(start));
                syncs.push_back(one_sync(*file, i));
            }
            state.SetIterationTime(std::accumulate(deletes.begin(), deletes.end(), 0.0));
            erased += kEach;
            const double sync = median(syncs);
            state.counters["delete p50 ms"] = median(deletes) * kMilliseconds;
            state.counters["sync p50 ms"] = sync * kMilliseconds;
            state.counters["syncs' time"] = median(deletes) / sync;
            continue;
        }
        const auto start = Clock::now();
        {
            std::vector<std::jthread> all;
            for (std::uint64_t t = 0; t < threads; ++t) {
                all.emplace_back([&, t] {
                    for (std::uint64_t i = t; i < threads * kEach; i += threads) {
                        const Ticket ticket = erase(*store, id_of(i));
                        (void)store->wait(ticket);
                        (void)store->wait_erased(ticket);
                    }
                });
            }
        }
        state.SetIterationTime(since(start));
        erased += threads * kEach;
    }
    state.counters["deletes/s"] =
        benchmark::Counter(static_cast<double>(erased), benchmark::Counter::kIsRate);
}

void history_cleanup(benchmark::State& state) {
    std::uint64_t removed = 0;
    for (auto _ : state) {
        const ScratchDirectory directory;
        auto store = filled(directory.path(), 4096, 5);
        HistoryLimits limits;
        limits.keep.fill(1);
        const auto start = Clock::now();
        removed += clean_history(*store, limits, false, [](std::chrono::milliseconds) {
                       return false;
                   })->versions;
        state.SetIterationTime(since(start));
    }
    state.counters["versions/s"] =
        benchmark::Counter(static_cast<double>(removed), benchmark::Counter::kIsRate);
}

/// Erases half of everything, evenly distributed.
void erase_half(Store& store, std::uint64_t resources) {
    std::vector<Erase> erases;
    std::vector<std::string> ids(resources);
    Ticket last;
    for (std::uint64_t i = 0; i < resources; i += 2) {
        ids[i] = id_of(i);
        Erase& one = erases.emplace_back();
        one.type = kType;
        one.id = ids[i];
    }
    for (std::size_t at = 0; at < erases.size(); at += 1024) {
        const std::size_t count = std::min<std::size_t>(1024, erases.size() - at);
        last = store.submit({{}, std::span(erases).subspan(at, count), {}, {}}).ticket;
        (void)store.wait(last);
    }
    (void)store.wait_erased(last);
}

void compaction(benchmark::State& state) {
    constexpr std::uint64_t kResources = 60'000;
    double bytes = 0;
    for (auto _ : state) {
        const ScratchDirectory directory;
        auto store = filled(directory.path(), kResources, 1);
        erase_half(*store, kResources);
        const std::uint64_t before = store->compaction().bytes_read;
        const auto start = Clock::now();
        store->compact(true);
        (void)store->wait_compacted();
        state.SetIterationTime(since(start));
        bytes += static_cast<double>(store->compaction().bytes_read - before);
    }
    state.counters["MB/s"] = benchmark::Counter(bytes / kMegabyte, benchmark::Counter::kIsRate);
}

/// Keeps 64 commits in flight, with compaction at its own pace (1) or without (0).
void writes_beside_compaction(benchmark::State& state) {
    constexpr std::uint64_t kResources = 150'000;
    constexpr std::size_t kInFlight = 64;
    const ScratchDirectory directory;
    auto store = filled(directory.path(), kResources, 1, 64 << 20);
    if (state.range(0) != 0) {
        erase_half(*store, kResources);
    }
    const std::string body(kBodyBytes, 'n');
    std::vector<double> latencies;
    std::uint64_t next = kResources;
    double seconds = 0;
    const std::uint64_t read_before = store->compaction().bytes_read;
    for (auto _ : state) {
        store->compact();
        const auto begin = Clock::now();
        while (since(begin) < 3.0) {
            const auto start = Clock::now();
            Ticket last;
            for (std::size_t i = 0; i < kInFlight; ++i) {
                last = submit(*store, id_of(next++), body);
            }
            (void)store->wait(last);
            latencies.push_back(since(start));
        }
        state.SetIterationTime(since(begin));
        seconds += since(begin);
    }
    std::ranges::sort(latencies);
    state.counters["writes/s"] = static_cast<double>(next - kResources) / seconds;
    state.counters["p50 ms"] = latencies[latencies.size() / 2] * kMilliseconds;
    state.counters["p99 ms"] = latencies[latencies.size() * 99 / 100] * kMilliseconds;
    state.counters["compacted MB"] =
        static_cast<double>(store->compaction().bytes_read - read_before) / kMegabyte;
}

BENCHMARK(hard_deletes)->Arg(1)->Arg(64)->UseManualTime()->Iterations(1);
BENCHMARK(history_cleanup)->UseManualTime()->Iterations(1);
BENCHMARK(compaction)->UseManualTime()->Iterations(1);
BENCHMARK(writes_beside_compaction)->Arg(0)->Arg(1)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace annals::storage

BENCHMARK_MAIN();
