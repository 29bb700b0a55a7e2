// The gain from a second core: requests made in the server's process, through the router and the interaction into a store that
// syncs, on one core and on two. No sockets and no client, so that only the server's work is limited to the cores.
//
// Set ANNALS_BENCHMARK_DIR to use another device than that of the working directory.

#include "tools/bench/workloads.h"
#include "tools/generate/generator.h"

#include <asio/awaitable.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <sched.h>

#include <chrono>
#include <latch>
#include <optional>

#include "benchmarks/looped_service.h"
#include "benchmarks/scratch_directory.h"

namespace annals {
namespace {

using core::HttpMethod;

constexpr std::size_t kClients = 64;       // on all loops together
constexpr std::size_t kBundleClients = 4;  // as in `annals bench`
constexpr std::size_t kBundleEntries = 1000;
constexpr std::size_t kRequestsPerTurn = 64;

/// Restricts the calling thread, and those that it starts, to the first `count` of its allowed cores, until destroyed.
class Cores {
  public:
    explicit Cores(std::size_t count) {
        ANNALS_CHECK(::sched_getaffinity(0, sizeof before_, &before_) == 0);
        cpu_set_t few;
        CPU_ZERO(&few);
        for (std::size_t core = 0; core < CPU_SETSIZE && count > 0; ++core) {
            if (CPU_ISSET(core, &before_)) {
                CPU_SET(core, &few);
                --count;
            }
        }
        missing_ = count > 0;
        ANNALS_CHECK(::sched_setaffinity(0, sizeof few, &few) == 0);
    }

    ~Cores() { ::sched_setaffinity(0, sizeof before_, &before_); }

    Cores(const Cores&) = delete;
    Cores& operator=(const Cores&) = delete;

    /// Whether there were fewer cores.
    bool missing() const noexcept { return missing_; }

  private:
    cpu_set_t before_{};
    bool missing_ = false;
};

/// A request that is repeated.
struct Ask {
    HttpMethod method = HttpMethod::get;
    std::string target;
    std::string body;
};

/// Sends one request after another, `times` in total, then counts down `done`. Lifetime: everything outlives it.
asio::awaitable<void> converse(const core::Service& service, core::Loop& loop,
                               std::span<const Ask> asks, std::size_t times, std::latch& done) {
    for (std::size_t number = 0; number < times;) {
        const Ask& ask = asks[number % asks.size()];
        const core::Request request =
            LoopedService::request(loop, ask.method, ask.target, ask.body);
        core::Route route;
        std::optional<core::Response> response = core::handle_plain(service, request, route);
        if (!response) {
            response = core::handle_early(service, request, route);
        }
        if (!response) {
            response = co_await core::handle_routed(service, request, route);
        }
        if (response->unsettled.value != 0) {
            const Result<void> durable = co_await loop.settled_ticket(response->unsettled);
            ANNALS_CHECK(durable.has_value());
        }
        ANNALS_CHECK(response->status < 300, response->body.str());
        benchmark::DoNotOptimize(LoopedService::drain(*response));
        if (++number % kRequestsPerTurn == 0) {
            co_await loop.yield();
        }
    }
    done.count_down();
}

/// Seconds until all conversations have ended, each with `rounds` rounds; they are distributed evenly over the loops.
double seconds_of(LoopedService& looped, std::size_t loops,
                  const std::vector<std::vector<Ask>>& conversations, std::size_t rounds) {
    std::latch done(static_cast<std::ptrdiff_t>(conversations.size()));
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        core::Loop& loop = looped.loop(i % loops);
        loop.post([&, i] {
            core::spawn(loop, "conversation",
                        converse(looped.service(), loop, conversations[i],
                                 conversations[i].size() * rounds, done));
        });
    }
    done.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures `conversations`, each with `rounds` rounds, on a store filled by `before`, with the number of cores and loops in the
/// first argument.
void measure(benchmark::State& state, const std::vector<std::vector<Ask>>& before,
             const std::vector<std::vector<Ask>>& conversations, std::size_t rounds,
             std::size_t things) {
    const auto cores = static_cast<std::size_t>(state.range(0));
    for (auto _ : state) {
        const storage::ScratchDirectory folder;
        const Cores held(cores);
        if (held.missing()) {
            state.SkipWithError("fewer cores are there");
            break;
        }
        LoopedService looped(folder.path(), cores, {});
        seconds_of(looped, cores, before, 1);
        const storage::StoreMetrics begin = looped.service().store().metrics();
        state.SetIterationTime(seconds_of(looped, cores, conversations, rounds));
        const storage::StoreMetrics end = looped.service().store().metrics();
        if (const auto syncs = static_cast<double>(end.syncs - begin.syncs); syncs > 0) {
            state.counters["commits_per_sync"] =
                static_cast<double>(end.commits - begin.commits) / syncs;
            state.counters["sync_us"] = (end.sync_seconds - begin.sync_seconds) / syncs * 1e6;
            state.counters["syncs"] = syncs;
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(things) *
                            static_cast<std::int64_t>(state.iterations()));
}

/// `each` requests for every client: PUTs of resources with their own ids, or GETs of these.
std::vector<std::vector<Ask>> asks(HttpMethod method, std::size_t known, std::size_t each) {
    const std::vector<bench::Body> bodies = bench::usual_bodies(1);
    std::vector<std::vector<Ask>> conversations(kClients);
    for (std::size_t client = 0; client < kClients; ++client) {
        for (std::size_t i = 0; i < each; ++i) {
            const bench::Body& body = bodies[(client + i % known) % bodies.size()];
            const std::string id = fmt::format("{}-{}", client, i % known);
            Ask ask{method, fmt::format("/{}/{}", body.type, id), {}};
            if (method == HttpMethod::put) {
                bench::put_with_id(ask.body, body, id);
            }
            conversations[client].push_back(std::move(ask));
        }
    }
    return conversations;
}

void read(benchmark::State& state) {
    constexpr std::size_t kKnown = 100;
    const std::size_t rounds = static_cast<std::size_t>(state.range(1)) / kClients / kKnown;
    measure(state, asks(HttpMethod::put, kKnown, kKnown), asks(HttpMethod::get, kKnown, kKnown),
            rounds, rounds * kKnown * kClients);
}

void create(benchmark::State& state) {
    const auto each = static_cast<std::size_t>(state.range(1)) / kClients;
    std::vector<std::vector<Ask>> conversations = asks(HttpMethod::put, each, each);
    for (std::vector<Ask>& conversation : conversations) {
        for (Ask& ask : conversation) {
            ask.method = HttpMethod::post;
            ask.target.resize(ask.target.rfind('/'));
        }
    }
    measure(state, {}, conversations, 1, each * kClients);
}

void history_apply(benchmark::State& state) {
    const auto each = static_cast<std::size_t>(state.range(1)) / kBundleClients;
    std::vector<std::vector<Ask>> conversations(kBundleClients);
    std::size_t versions = 0;
    for (std::size_t client = 0; client < kBundleClients; ++client) {
        generate::Options options;
        options.seed = client + 1;
        options.form = generate::Form::history;
        options.bundle_entries = kBundleEntries;
        options.versions = each;
        options.from = Instant{1'420'070'400'000'000};
        options.until = Instant{1'735'689'600'000'000};
        generate::Generator generator(options);
        std::string bundle;
        while (generator.next(bundle)) {
            conversations[client].push_back({HttpMethod::post, "", bundle});
        }
        versions += generator.counts().versions;
    }
    measure(state, {}, conversations, 1, versions);
}

// The same work on one core and on two, enough to measure.
void cores_and_work(benchmark::internal::Benchmark* benchmark, std::int64_t work) {
    benchmark->ArgNames({"cores", "n"})
        ->ArgsProduct({{1, 2}, {work}})
        ->Iterations(1)
        ->UseManualTime()
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
}

BENCHMARK(read)->Apply([](auto* benchmark) { cores_and_work(benchmark, 2'560'000); });
BENCHMARK(create)->Apply([](auto* benchmark) { cores_and_work(benchmark, 64'000); });
BENCHMARK(history_apply)->Apply([](auto* benchmark) { cores_and_work(benchmark, 100'000); });

}  // namespace
}  // namespace annals

BENCHMARK_MAIN();
