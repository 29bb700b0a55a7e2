// The cost of the log: group commit on a real disk, a commit with and without its sync, and opening a store.
//
// Set ANNALS_BENCHMARK_DIR to use another device than that of the working directory.

#include "storage/file_system.h"
#include "storage/store.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "benchmarks/scratch_directory.h"

namespace annals::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBodyBytes = 1500;
constexpr double kMicroseconds = 1e6;

double median_us(std::vector<double>& seconds) {
    if (seconds.empty()) {
        return 0;
    }
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::ranges::nth_element(seconds, middle);
    return *middle * kMicroseconds;
}

double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Records how long each sync takes.
class TimedFile final : public File {
  public:
    TimedFile(std::unique_ptr<File> file, std::vector<double>& syncs)
        : file_(std::move(file)), syncs_(syncs) {}

    Result<void> write(std::uint64_t offset, std::string_view bytes) override {
        return file_->write(offset, bytes);
    }

    Result<void> write_pages(std::uint64_t offset, std::string_view bytes) override {
        return file_->write_pages(offset, bytes);
    }

    Result<void> write_zeros(std::uint64_t offset, std::uint64_t bytes) override {
        return file_->write_zeros(offset, bytes);
    }

    Result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override {
        return file_->read(offset, into);
    }

    void forget(std::uint64_t offset, std::uint64_t bytes) override {
        file_->forget(offset, bytes);
    }

    Result<void> sync() override {
        const auto start = Clock::now();
        auto result = file_->sync();
        syncs_.push_back(since(start));
        return result;
    }

    Result<std::uint64_t> size() const override { return file_->size(); }

    Result<std::uint64_t> links() const override { return file_->links(); }

    Result<void> resize(std::uint64_t bytes) override { return file_->resize(bytes); }

    Result<void> allocate(std::uint64_t bytes) override { return file_->allocate(bytes); }

    Result<std::shared_ptr<const char>> map(std::uint64_t bytes) const override {
        return file_->map(bytes);
    }

  private:
    std::unique_ptr<File> file_;
    std::vector<double>& syncs_;
};

/// The operating system's files with a list of sync times. Segments are not prepared ahead, so that only
/// the log writer's thread syncs.
class TimedFileSystem final : public FileSystem {
  public:
    Result<std::unique_ptr<File>> open(const std::string& path, Mode mode) override {
        ANNALS_TRY(std::unique_ptr<File> file, base_.open(path, mode));
        return std::unique_ptr<File>(std::make_unique<TimedFile>(std::move(file), syncs));
    }

    Result<std::vector<std::string>> list(const std::string& directory) override {
        return base_.list(directory);
    }

    Result<void> make_directory(const std::string& path) override {
        return base_.make_directory(path);
    }

    Result<void> rename(const std::string& from, const std::string& to) override {
        return base_.rename(from, to);
    }

    Result<void> link(const std::string& from, const std::string& to) override {
        return base_.link(from, to);
    }

    Result<FileFacts> facts(const std::string& path) override { return base_.facts(path); }

    Result<void> remove(const std::string& path) override { return base_.remove(path); }

    Result<void> remove_directory(const std::string& path) override {
        return base_.remove_directory(path);
    }

    Result<void> sync_directory(const std::string& path) override {
        return base_.sync_directory(path);
    }

    Result<std::unique_ptr<DirectoryLock>> lock(const std::string& directory) override {
        return base_.lock(directory);
    }

    bool exists(const std::string& path) override { return base_.exists(path); }

    bool in_memory(std::string_view bytes) const noexcept override {
        return base_.in_memory(bytes);
    }

    void will_read(std::string_view bytes) const noexcept override { base_.will_read(bytes); }

    std::vector<double> syncs;

  private:
    FileSystem& base_ = posix_file_system();
};

class Listener final : public SettleListener {
  public:
    void settled(Ticket through, std::optional<Errc>) noexcept override {
        {
            const std::lock_guard lock(mutex_);
            through_ = through;
        }
        wake_.notify_one();
    }

    Ticket await(Ticket ticket) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return through_ >= ticket; });
        return through_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable wake_;
    Ticket through_;
};

const TypeId kType{0};

Ticket submit(Store& store, std::string_view id, std::string_view body,
              const SearchEntries* search = nullptr) {
    const BodyPiece piece{BodyPiece::Kind::text, body};
    VersionWrite write;
    write.type = kType;
    write.id = id;
    write.body = {&piece, 1};
    write.search = search;
    return store.submit({{&write, 1}, {}, {}, {}}).ticket;
}

/// Clients of one loop that each submit again when their commit has settled; the loop flushes
/// when it has nothing else to do.
void group_commit(benchmark::State& state) {
    const auto writers = static_cast<std::size_t>(state.range(0));
    const ScratchDirectory directory;
    TimedFileSystem fs;
    StoreOptions options;
    options.prepare_segments = false;
    auto opened = Store::open(fs, directory.path(), options);
    if (!opened) {
        state.SkipWithError(opened.error().detail.c_str());
        return;
    }
    Store& store = **opened;
    const std::string body(kBodyBytes, 'b');
    std::vector<std::string> ids;
    for (std::size_t w = 0; w < writers; ++w) {
        ids.push_back("w" + std::to_string(w));
    }
    Listener listener;
    store.add_listener(listener);
    fs.syncs.clear();

    std::vector<Ticket> tickets(writers);
    std::vector<Clock::time_point> starts(writers);
    std::vector<double> latencies;
    for (std::size_t w = 0; w < writers; ++w) {
        starts[w] = Clock::now();
        tickets[w] = submit(store, ids[w], body);
    }
    store.flush_idle();
    std::uint64_t commits = 0;
    for (auto _ : state) {
        const Ticket through = listener.await(*std::ranges::min_element(tickets));
        for (std::size_t w = 0; w < writers; ++w) {
            if (tickets[w] <= through) {
                const auto now = Clock::now();
                latencies.push_back(std::chrono::duration<double>(now - starts[w]).count());
                ++commits;
                starts[w] = now;
                tickets[w] = submit(store, ids[w], body);
            }
        }
        store.flush_idle();
    }
    listener.await(*std::ranges::max_element(tickets));
    store.remove_listener(listener);
    const double syncs = static_cast<double>(fs.syncs.size());
    const double sync_p50 = median_us(fs.syncs);
    const double commit_p50 = median_us(latencies);
    state.counters["commits/s"] =
        benchmark::Counter(static_cast<double>(commits), benchmark::Counter::kIsRate);
    state.counters["commits_per_sync"] = static_cast<double>(commits + writers) / syncs;
    state.counters["commit_p50_us"] = commit_p50;
    state.counters["sync_p50_us"] = sync_p50;
    state.counters["commit_over_sync"] = commit_p50 / sync_p50;
}

void open_store(benchmark::State& state) {
    const auto versions = static_cast<std::size_t>(state.range(0));
    const ScratchDirectory directory;
    {
        StoreOptions options;
        options.durability = Durability::none;
        auto opened = Store::open(posix_file_system(), directory.path(), options);
        if (!opened) {
            state.SkipWithError(opened.error().detail.c_str());
            return;
        }
        const std::string body(kBodyBytes / 3, 'b');
        constexpr std::size_t kBatch = 1000;
        constexpr std::size_t kVersionsPerResource = 2;
        for (std::size_t i = 0; i < versions; ++i) {
            const Ticket ticket =
                submit(**opened, "r" + std::to_string(i / kVersionsPerResource), body);
            if (i % kBatch == kBatch - 1 || i + 1 == versions) {
                (void)(*opened)->wait(ticket);
            }
        }
    }
    OpenReport report;
    for (auto _ : state) {
        StoreOptions options;
        options.read_only = true;
        auto opened = Store::open(posix_file_system(), directory.path(), options, &report);
        benchmark::DoNotOptimize(opened);
    }
    state.counters["versions"] = static_cast<double>(report.versions);
    state.counters["segments"] = static_cast<double>(report.segments);
    state.counters["versions/s"] = static_cast<double>(report.versions) / report.seconds;
}

/// The search entries of an average resource: 20 terms, some of them unique, 3 intervals, 3 links, a text.
SearchEntries entries_of(std::uint64_t number) {
    constexpr std::uint64_t kTerms = 20;
    constexpr std::uint64_t kOwnTerms = 5;
    constexpr std::uint64_t kValues = 50;
    SearchEntries entries;
    for (std::uint64_t t = 0; t < kTerms; ++t) {
        const std::uint64_t value = t < kOwnTerms ? number : (number * (t + 1)) % kValues;
        entries.terms.push_back((value * kTerms + t) * 0x9e37'79b9'7f4a'7c15ULL);
    }
    std::ranges::sort(entries.terms);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        const auto at = static_cast<std::int64_t>(number * i);
        entries.intervals.push_back({i, at, at + 1});
        entries.links.push_back({i, number / (10 * i)});
    }
    entries.add_text(1, "name" + std::to_string(number % 1000));
    return entries;
}

/// Creates resources, `range(0)` at a time, with (`range(1)`) or without search entries. Without syncs, this is the
/// rest of a create's cost in the store, on the submitting and the log writer's thread.
void create(benchmark::State& state) {
    const auto batch = static_cast<std::size_t>(state.range(0));
    const bool search = state.range(1) != 0;
    const ScratchDirectory directory;
    StoreOptions options;
    options.durability = Durability::none;
    if (search) {
        options.search = [](const Store&) {
            SearchSetup setup;
            setup.extractor = [] {
                return [](TypeId, std::string_view, std::string_view, SearchEntries&) {
                    return Result<void>();
                };
            };
            setup.identity = [](std::uint64_t key) { return ~key; };
            return setup;
        };
    }
    auto opened = Store::open(posix_file_system(), directory.path(), options);
    if (!opened) {
        state.SkipWithError(opened.error().detail.c_str());
        return;
    }
    constexpr std::size_t kPrepared = 50'000;
    std::vector<SearchEntries> entries;
    for (std::uint64_t i = 0; i < kPrepared; ++i) {
        entries.push_back(entries_of(i));
    }
    const std::string body(kBodyBytes, 'b');
    std::uint64_t number = 0;
    for (auto _ : state) {
        Ticket ticket;
        for (std::size_t i = 0; i < batch; ++i, ++number) {
            ticket =
                submit(**opened, "r" + std::to_string(number), body, &entries[number % kPrepared]);
        }
        (void)(*opened)->wait(ticket);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(number));
    const StoreMetrics metrics = (*opened)->metrics();
    state.counters["search_bytes"] = static_cast<double>(metrics.search.bytes) /
                                     static_cast<double>(std::max<std::uint64_t>(number, 1));
}

BENCHMARK(create)
    ->ArgNames({"batch", "search"})
    ->ArgsProduct({{1, 16, 64}, {0, 1}})
    ->MeasureProcessCPUTime()
    ->UseRealTime();
BENCHMARK(group_commit)->Arg(1)->Arg(16)->Arg(64)->Arg(256)->UseRealTime();
BENCHMARK(open_store)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace annals::storage

BENCHMARK_MAIN();
