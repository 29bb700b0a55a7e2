// The search index: building, merging, look-ups, and the size of a document. Documents are modelled on the
// observations of a synthetic patient record: 25 terms, four intervals, three links, two texts each.

#include "core/base/digest.h"
#include "storage/search_index.h"

#include <benchmark/benchmark.h>

#include <deque>
#include <memory>
#include <random>

namespace annals::storage {
namespace {

constexpr std::uint64_t kPatientDocuments = 150;
constexpr std::uint64_t kEncounterDocuments = 12;
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

std::uint64_t hashed(std::uint64_t kind, std::uint64_t number) {
    const std::uint64_t both[] = {kind, number};
    return hash64({reinterpret_cast<const char*>(both), sizeof both});
}

enum Column : std::uint64_t { status, category, code, subject, patient, encounter, date, value };

class Maker {
  public:
    void make(std::uint64_t position, SearchEntries& entries) {
        entries.clear();
        token(entries, status, 0);
        token(entries, category, skewed(8));
        const std::uint64_t coded = skewed(200);
        token(entries, code, coded);
        token(entries, code + 100, coded);  // combo-code
        refer(entries, subject, position / kPatientDocuments, true);
        refer(entries, patient, position / kPatientDocuments, true);
        refer(entries, encounter, position / kEncounterDocuments, true);
        entries.terms.push_back(hashed(7, date));
        entries.terms.push_back(hashed(7, value));
        entries.terms.push_back(hashed(8, position));  // the resource's identity
        const auto at = static_cast<std::int64_t>(position);
        entries.intervals.push_back({hashed(9, 0), at * 1000, at * 1000});
        const std::int64_t taken = static_cast<std::int64_t>(random_() % 3650) * kDay;
        entries.intervals.push_back({hashed(9, date), taken, taken + kSecond - 1});
        const std::int64_t measured = static_cast<std::int64_t>(random_() % 1000) << 44;
        entries.intervals.push_back({hashed(9, value), measured, measured + (1LL << 43)});
        entries.intervals.push_back({hashed(10, coded), measured, measured + (1LL << 43)});
        entries.add_text(hashed(11, code), texts_[coded]);
        entries.add_text(hashed(11, code + 100), texts_[coded]);
    }

    Maker() {
        for (std::uint64_t i = 0; i < 200; ++i) {
            texts_.push_back("what number " + std::to_string(i) + " is displayed as [mass/volume]");
        }
    }

  private:
    std::uint64_t skewed(std::uint64_t bound) {
        const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
        return static_cast<std::uint64_t>(uniform * uniform * static_cast<double>(bound));
    }

    static void token(SearchEntries& entries, std::uint64_t column, std::uint64_t number) {
        for (std::uint64_t form = 0; form < 3; ++form) {
            entries.terms.push_back(hashed(column * 3 + form, form == 2 ? 0 : number));
        }
        entries.terms.push_back(hashed(7, column));
    }

    static void refer(SearchEntries& entries, std::uint64_t column, std::uint64_t number,
                      bool linked) {
        entries.terms.push_back(hashed(column + 500, number));
        entries.terms.push_back(hashed(7, column));
        if (linked) {
            entries.links.push_back(
                {hashed(12, column), hashed(column >= encounter ? 14 : 13, number)});
        }
    }

    std::mt19937_64 random_{1};
    std::vector<std::string> texts_;
};

struct Batch {
    std::deque<SearchEntries> entries;
    std::vector<IndexedDocument> documents;

    Batch(Maker& maker, std::uint64_t first, std::size_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            maker.make(first + i, entries.emplace_back());
            documents.push_back({{first + i}, hashed(15, first + i), &entries.back()});
        }
    }
};

constexpr std::size_t kChunk = 8192;

/// A run of `count` documents; kept for the next benchmark that needs it.
const SearchRun& run_of(std::size_t count) {
    static std::shared_ptr<const SearchRun> kept;
    if (kept == nullptr || kept->size() != count) {
        Maker maker;
        std::vector<std::shared_ptr<const SearchRun>> runs;
        for (std::uint64_t first = 0; first < count; first += kChunk) {
            const Batch batch(maker, first + 1, std::min<std::size_t>(kChunk, count - first));
            runs.push_back(SearchRun::build(batch.documents));
        }
        kept = SearchRun::merge(runs, {}).run;
    }
    return *kept;
}

void per_document(benchmark::State& state, std::size_t documents) {
    state.counters["per_document"] = benchmark::Counter(
        static_cast<double>(documents),
        benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void build(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    Maker maker;
    const Batch batch(maker, 1'000'001, count);
    for (auto _ : state) {
        benchmark::DoNotOptimize(SearchRun::build(batch.documents));
    }
    per_document(state, count);
}

BENCHMARK(build)->Arg(1)->Arg(8)->Arg(64)->Arg(512)->Arg(8192);

void merge_eight(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    Maker maker;
    std::vector<std::shared_ptr<const SearchRun>> runs;
    for (std::uint64_t i = 0; i < 8; ++i) {
        const Batch batch(maker, i * count + 1, count);
        runs.push_back(SearchRun::build(batch.documents));
    }
    for (auto _ : state) {
        benchmark::DoNotOptimize(SearchRun::merge(runs, {}));
    }
    per_document(state, 8 * count);
}

BENCHMARK(merge_eight)->Arg(1)->Arg(8)->Arg(64)->Arg(512)->Arg(4096)->Arg(32768);

/// Looks up random identities: in a large run, each one misses the caches.
void find_identity(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    const SearchRun& run = run_of(count);
    std::mt19937_64 random(2);
    std::vector<std::uint64_t> terms;
    for (int i = 0; i < 1 << 16; ++i) {
        terms.push_back(hashed(8, 1 + random() % count));
    }
    std::size_t next = 0;
    for (auto _ : state) {
        const Postings postings = run.postings(terms[next++ % terms.size()]);
        benchmark::DoNotOptimize(postings.list.front());
    }
    state.counters["bytes_per_document"] =
        static_cast<double>(run.bytes()) / static_cast<double>(run.size());
}

BENCHMARK(find_identity)->Arg(64)->Arg(4096)->Arg(1 << 18)->Arg(1 << 20);

void find_absent(benchmark::State& state) {
    const SearchRun& run = run_of(static_cast<std::size_t>(state.range(0)));
    std::uint64_t number = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(run.postings(++number * 0x9e37'79b9'7f4a'7c15));
    }
}

BENCHMARK(find_absent)->Arg(1 << 20);

void write_and_read(benchmark::State& state) {
    const SearchRun& run = run_of(static_cast<std::size_t>(state.range(0)));
    std::string bytes;
    for (auto _ : state) {
        bytes.clear();
        run.write([&](std::string_view part) { bytes += part; });
        benchmark::DoNotOptimize(SearchRun::read(bytes, nullptr));
    }
    per_document(state, run.size());
    state.counters["bytes_per_document"] =
        static_cast<double>(bytes.size()) / static_cast<double>(run.size());
}

BENCHMARK(write_and_read)->Arg(1 << 18);

/// Loads in batches of 64 including all merging, on the merging thread or on this one.
void load(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    Maker maker;
    for (auto _ : state) {
        SearchIndex index;
        std::uint64_t add_ns = 0;
        for (std::uint64_t first = 1; first <= count; first += 64) {
            const Batch batch(maker, first, 64);
            const auto begin = std::chrono::steady_clock::now();
            index.add({}, batch.documents);
            add_ns +=
                static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin).count());
        }
        index.wait_until_idle();
        const SearchIndexStats stats = index.stats();
        const auto documents = static_cast<double>(stats.documents);
        state.counters["bytes_per_document"] = static_cast<double>(stats.bytes) / documents;
        state.counters["runs"] = static_cast<double>(stats.runs);
        state.counters["add_ns_per_document"] = static_cast<double>(add_ns) / documents;
        state.counters["merge_ns_per_document"] =
            static_cast<double>(stats.merge_us) * 1000 / documents;
        state.counters["merged_per_document"] =
            static_cast<double>(stats.documents_merged) / documents;
    }
}

BENCHMARK(load)->Arg(1 << 18)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace annals::storage

BENCHMARK_MAIN();
