#include "storage/search_index.h"

#include "core/base/thread_name.h"
#include "storage/search_merge_policy.h"
#include "storage/search_pending.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace annals::storage {

namespace {

constexpr int kMergerNice = 10;
/// What add() merges itself has at most so many documents.
constexpr std::uint64_t kSmallMergeDocuments = 32'768;
/// A rebuild asks for the entries of so many documents at a time.
constexpr std::size_t kRebuiltAtOnce = 4096;
/// With so many deaths to say again a merge doesn't end yet, but says them without keeping others waiting.
constexpr std::size_t kMarksAtEndMax = 256;
/// A rebuild makes a run of entries that weigh so much.
constexpr std::size_t kRebuiltBytes = 64 << 20;
/// Freeing runs of so many documents takes a while.
constexpr std::uint32_t kLargeRun = 1 << 16;
constexpr std::chrono::milliseconds kBuryEvery{50};

using Runs = SearchPending::Runs;

Position first_position(const SearchRun& run) noexcept {
    return run.position(0);
}

Position last_position(const SearchRun& run) noexcept {
    return run.position(run.size() - 1);
}

std::uint64_t bytes_of(const Runs& runs) noexcept {
    std::uint64_t bytes = 0;
    for (const auto& run : runs) {
        bytes += run->bytes();
    }
    return bytes;
}

std::uint64_t documents_of(const Runs& runs) noexcept {
    std::uint64_t documents = 0;
    for (const auto& run : runs) {
        documents += run->size();
    }
    return documents;
}

std::vector<std::uint32_t> sizes_of(std::span<const std::shared_ptr<const SearchRun>> runs) {
    std::vector<std::uint32_t> sizes;
    sizes.reserve(runs.size());
    for (const auto& run : runs) {
        sizes.push_back(run->size());
    }
    return sizes;
}

/// The run that may have this position; null if none.
const SearchRun* find_run(const Runs& runs, Position position) noexcept {
    const auto found = std::ranges::lower_bound(
        runs, position, {}, [](const auto& run) { return last_position(*run); });
    return found == runs.end() ? nullptr : found->get();
}

void mark_died(const Runs& runs, Position position, Position at) noexcept {
    if (const SearchRun* const run = find_run(runs, position)) {
        if (const std::uint32_t document = run->find(position); document != run->size()) {
            run->mark_died(document, at);
        }
    }
}

/// What this thread has used so far.
std::uint64_t processor_us() noexcept {
    timespec used{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(used.tv_nsec) / 1000;
}

bool is_half_dead(const SearchRun& run) noexcept {
    return std::uint64_t{run.died_count()} * 2 > run.size();
}

}  // namespace

struct SearchIndex::Impl {
    /// A run of which more than half had died when `last` was the last position.
    struct HalfDead {
        const SearchRun* run = nullptr;
        std::uint64_t last = 0;
    };

    struct Type {
        mutable std::mutex pointer;  ///< held while `current` is copied or replaced, no longer
        std::shared_ptr<const SearchRuns> current = std::make_shared<const SearchRuns>();
        std::vector<HalfDead> half_dead;

        SearchPending pending;
        std::atomic<bool> fold_wanted = false;
    };

    struct Death {
        Position position;
        Position at;
    };

    struct Rebuild {
        TypeId type;
        EntriesOf entries_of;
        std::function<void()> done;
        Position through;    ///< what had been added when it was asked for
        Position cursor{0};  ///< runs up to here have been rewritten
        std::uint64_t documents = 0;
        std::atomic<std::uint64_t> documents_done = 0;
    };

    /// Runs of one type, neighbours, that are to be replaced.
    struct Job {
        TypeId type;
        Runs inputs;
        Rebuild* rebuild = nullptr;
    };

    /// What the merging thread is at.
    struct Active {
        TypeId type;
        Position first;
        Position last;
        std::vector<Death> deaths;  ///< of its documents since it began
    };

    explicit Impl(const SearchIndexOptions& given) : options(given) {
        thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
    }

    Position horizon() const noexcept {
        return {last > options.positions_retained ? last - options.positions_retained : 0};
    }

    MergePolicy policy() const noexcept {
        return {options.fan_in, options.run_documents_max, options.runs_wanted};
    }

    std::shared_ptr<const SearchRuns> published(TypeId type) const;
    void publish(Type& type, std::shared_ptr<const SearchRuns> runs);
    void fold(TypeId type);
    void add_runs(TypeId type, const Runs& added);
    void want_fold(TypeId type);
    bool fold_one(std::unique_lock<std::mutex>& lock);
    void replace(TypeId type, const Runs& inputs, const Runs& outputs, Position dropped_through);
    void note_half_dead(TypeId type, const SearchRun& run);
    void merge_small(TypeId type);
    void count_merge(std::uint64_t documents, std::uint64_t began_us);
    void wake();

    void work(const std::stop_token& stop);
    void bury();
    std::optional<Job> next_job();
    std::optional<Job> next_merge();
    std::optional<Job> next_vacuum();
    std::optional<Job> next_rebuild();
    std::optional<Job> next_erased();
    bool end_rebuild(std::unique_lock<std::mutex>& lock);
    void perform(Job job, std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
    static Runs rewrite(const SearchRun& run, Rebuild& rebuild, Position horizon,
                        Position& dropped_through, const std::stop_token& stop);

    const SearchIndexOptions options;
    std::array<Type, kResourceTypeCount> types;
    SearchPendingSpares spares;
    std::atomic<std::uint64_t> pending_bytes = 0;

    // Everything below is guarded by `edit`, as are changes of the types' runs; it is held briefly. Whoever waits for it
    // may hold locks of SearchPending.
    mutable std::mutex edit;
    std::uint64_t last = 0;  ///< last position of all that was added or died
    std::uint64_t vacuum_due =
        ~std::uint64_t{0};                  ///< last position from which on a run is to be vacuumed
    std::bitset<kResourceTypeCount> dirty;  ///< types where there may be something to merge
    std::bitset<kResourceTypeCount> folds;  ///< types of which a run is to be made
    std::optional<Active> active;
    std::deque<Rebuild> rebuilds;
    bool erased_wanted = false;
    bool merged_last = false;  ///< then other work goes first
    bool woken = false;
    bool idle = false;
    std::condition_variable_any wanted;
    std::condition_variable_any done;

    Runs replaced;  ///< of the merging thread: large runs that a reader may still have

    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> merges = 0;
    std::atomic<std::uint64_t> documents_merged = 0;
    std::atomic<std::uint64_t> merge_us = 0;

    std::jthread thread;  // last: it uses all of the above
};

std::shared_ptr<const SearchRuns> SearchIndex::Impl::published(TypeId type) const {
    const Type& of = types[type.value];
    const std::lock_guard lock(of.pointer);
    return of.current;
}

void SearchIndex::Impl::publish(Type& type, std::shared_ptr<const SearchRuns> runs) {
    const std::lock_guard lock(type.pointer);
    type.current.swap(runs);
    // The old ones go with `runs`, after the lock.
}

/// Makes a run of what is pending.
void SearchIndex::Impl::fold(TypeId type) {
    Type& of = types[type.value];
    of.fold_wanted.store(false, std::memory_order_relaxed);
    pending_bytes -= of.pending.fold([&](const Runs& added) { add_runs(type, added); }, spares);
}

/// Appends runs.
void SearchIndex::Impl::add_runs(TypeId type, const Runs& added) {
    Type& of = types[type.value];
    const std::lock_guard lock(edit);
    const SearchRuns& before = *of.current;
    ANNALS_CHECK(before.runs.empty() ||
                 last_position(*before.runs.back()) < first_position(*added.front()));
    last = std::max(last, last_position(*added.back()).value);
    bytes += bytes_of(added);
    auto runs = std::make_shared<SearchRuns>();
    runs->runs.reserve(before.runs.size() + added.size());
    runs->runs = before.runs;
    runs->runs.insert(runs->runs.end(), added.begin(), added.end());
    runs->vacuumed_through = before.vacuumed_through;
    const bool complete = policy().is_due(sizes_of(runs->runs));
    publish(of, std::move(runs));
    for (const auto& run : added) {
        note_half_dead(type, *run);
        erased_wanted = erased_wanted || run->erased_count() != 0;
    }
    if (complete) {
        dirty.set(type.value);
    }
    if (complete || last >= vacuum_due) {
        wake();
    }
}

/// Asks the merging thread for it.
void SearchIndex::Impl::want_fold(TypeId type) {
    if (!types[type.value].fold_wanted.exchange(true, std::memory_order_relaxed)) {
        const std::lock_guard lock(edit);
        folds.set(type.value);
        wake();
    }
}

/// False if there was nothing to do.
bool SearchIndex::Impl::fold_one(std::unique_lock<std::mutex>& lock) {
    for (std::uint16_t id = 0; folds.any() && id < kResourceTypeCount; ++id) {
        if (folds.test(id)) {
            folds.reset(id);
            lock.unlock();
            fold({id});
            lock.lock();
            return true;
        }
    }
    return false;
}

/// Puts `outputs` where `inputs` are.
void SearchIndex::Impl::replace(TypeId id, const Runs& inputs, const Runs& outputs,
                                Position dropped_through) {
    Type& type = types[id.value];
    auto runs = std::make_shared<SearchRuns>();
    const Runs& before = type.current->runs;
    const auto first = std::ranges::find(before, inputs.front());
    ANNALS_CHECK(before.end() - first >= std::ssize(inputs));
    runs->runs.reserve(before.size() - inputs.size() + outputs.size());
    runs->runs.assign(before.begin(), first);
    runs->runs.insert(runs->runs.end(), outputs.begin(), outputs.end());
    runs->runs.insert(runs->runs.end(), first + std::ssize(inputs), before.end());
    runs->vacuumed_through = std::max(type.current->vacuumed_through, dropped_through);
    std::erase_if(type.half_dead, [&inputs](const HalfDead& half_dead) {
        return std::ranges::any_of(
            inputs, [&half_dead](const auto& input) { return input.get() == half_dead.run; });
    });
    publish(type, std::move(runs));
    for (const auto& run : outputs) {
        note_half_dead(id, *run);
    }
    bytes += bytes_of(outputs);
    bytes -= bytes_of(inputs);
    dirty.set(id.value);
}

/// Once half of a run has died, it is rewritten as soon as all of these can be dropped.
void SearchIndex::Impl::note_half_dead(TypeId id, const SearchRun& run) {
    Type& type = types[id.value];
    if (is_half_dead(run) &&
        std::ranges::find(type.half_dead, &run, &HalfDead::run) == type.half_dead.end()) {
        type.half_dead.push_back({&run, last});
        vacuum_due = std::min(vacuum_due, last + options.positions_retained);
    }
}

/// The merging thread has fallen behind: merges a few small ones on the caller's.
void SearchIndex::Impl::merge_small(TypeId id) {
    const Runs& runs = types[id.value].current->runs;
    // Not what is being merged, nor what stands before it.
    std::size_t first = 0;
    if (active && active->type == id) {
        while (first < runs.size() && first_position(*runs[first]) <= active->last) {
            ++first;
        }
    }
    const std::vector<std::uint32_t> sizes = sizes_of(std::span(runs).subspan(first));
    const MergePolicy small{options.fan_in, kSmallMergeDocuments, 0};
    const auto window = small.pick(sizes);
    if (!window) {
        return;
    }
    const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(first + window->first);
    const Runs inputs(begin, begin + static_cast<std::ptrdiff_t>(window->count));
    if (SearchRun::fits_one(inputs)) {
        const std::uint64_t began_us = processor_us();
        const SearchRun::Merged merged = SearchRun::merge(inputs, horizon());
        replace(id, inputs, merged.run == nullptr ? Runs{} : Runs{merged.run},
                merged.dropped_through);
        count_merge(documents_of(inputs), began_us);
    }
}

void SearchIndex::Impl::count_merge(std::uint64_t documents, std::uint64_t began_us) {
    ++merges;
    documents_merged += documents;
    merge_us += processor_us() - began_us;
}

void SearchIndex::Impl::wake() {
    if (!woken) {
        woken = true;
        wanted.notify_one();
    }
}

void SearchIndex::Impl::work(const std::stop_token& stop) {
    name_thread("search merger");
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kMergerNice);
    std::unique_lock lock(edit);
    while (!stop.stop_requested()) {
        woken = false;
        if (fold_one(lock) || end_rebuild(lock)) {
            continue;
        }
        if (std::optional<Job> job = next_job()) {
            perform(*std::move(job), lock, stop);
            continue;
        }
        idle = true;
        done.notify_all();
        while (!woken && !stop.stop_requested()) {
            if (replaced.empty()) {
                wanted.wait(lock, stop, [this] { return woken; });
            } else {
                wanted.wait_for(lock, stop, kBuryEvery, [this] { return woken; });
                lock.unlock();
                bury();
                lock.lock();
            }
        }
        idle = false;
    }
}

/// Frees large runs here, which takes milliseconds, and not where the last reader is done with them.
void SearchIndex::Impl::bury() {
    std::erase_if(replaced, [](const auto& run) { return run.use_count() == 1; });
}

/// Merges and other work take turns, so that neither waits for the other for long.
std::optional<SearchIndex::Impl::Job> SearchIndex::Impl::next_job() {
    using Next = std::optional<Job> (Impl::*)();
    std::array<Next, 4> order{&Impl::next_merge, &Impl::next_erased, &Impl::next_vacuum,
                              &Impl::next_rebuild};
    if (merged_last) {
        std::ranges::rotate(order, order.begin() + 1);
    }
    for (const Next next : order) {
        if (std::optional<Job> job = (this->*next)()) {
            merged_last = next == &Impl::next_merge;
            return job;
        }
    }
    return std::nullopt;
}

std::optional<SearchIndex::Impl::Job> SearchIndex::Impl::next_merge() {
    for (std::uint16_t id = 0; dirty.any() && id < kResourceTypeCount; ++id) {
        if (!dirty.test(id)) {
            continue;
        }
        const Runs& runs = types[id].current->runs;
        if (const auto window = policy().pick(sizes_of(runs))) {
            const auto first = runs.begin() + static_cast<std::ptrdiff_t>(window->first);
            Runs inputs(first, first + static_cast<std::ptrdiff_t>(window->count));
            while (inputs.size() > 2 && !SearchRun::fits_one(inputs)) {
                inputs.resize(inputs.size() / 2);
            }
            if (SearchRun::fits_one(inputs)) {
                return Job{.type = {id}, .inputs = std::move(inputs)};
            }
        }
        dirty.reset(id);
    }
    return std::nullopt;
}

std::optional<SearchIndex::Impl::Job> SearchIndex::Impl::next_vacuum() {
    if (last < vacuum_due) {
        return std::nullopt;
    }
    vacuum_due = ~std::uint64_t{0};
    for (std::uint16_t id = 0; id < kResourceTypeCount; ++id) {
        for (const HalfDead& half_dead : types[id].half_dead) {
            if (half_dead.last + options.positions_retained > last) {
                vacuum_due = std::min(vacuum_due, half_dead.last + options.positions_retained);
                continue;
            }
            vacuum_due = last;
            const Runs& runs = types[id].current->runs;
            const auto run = std::ranges::find(
                runs, half_dead.run, [](const auto& candidate) { return candidate.get(); });
            ANNALS_CHECK(run != runs.end());
            return Job{.type = {id}, .inputs = {*run}};
        }
    }
    return std::nullopt;
}

std::optional<SearchIndex::Impl::Job> SearchIndex::Impl::next_erased() {
    for (std::uint16_t id = 0; erased_wanted && id < kResourceTypeCount; ++id) {
        for (const auto& run : types[id].current->runs) {
            if (run->erased_count() != 0) {
                return Job{.type = {id}, .inputs = {run}};
            }
        }
    }
    erased_wanted = false;
    return std::nullopt;
}

std::optional<SearchIndex::Impl::Job> SearchIndex::Impl::next_rebuild() {
    if (rebuilds.empty()) {
        return std::nullopt;
    }
    Rebuild& rebuild = rebuilds.front();
    for (const auto& run : types[rebuild.type.value].current->runs) {
        if (last_position(*run) > rebuild.cursor && first_position(*run) <= rebuild.through) {
            return Job{.type = rebuild.type, .inputs = {run}, .rebuild = &rebuild};
        }
    }
    return std::nullopt;
}

/// True if the rebuild under way had nothing left to do.
bool SearchIndex::Impl::end_rebuild(std::unique_lock<std::mutex>& lock) {
    if (rebuilds.empty() || next_rebuild()) {
        return false;
    }
    const std::function<void()> say_so = std::move(rebuilds.front().done);
    rebuilds.pop_front();
    lock.unlock();
    if (say_so) {
        say_so();
    }
    lock.lock();
    return true;
}

void SearchIndex::Impl::perform(Job job, std::unique_lock<std::mutex>& lock,
                                const std::stop_token& stop) {
    active = Active{.type = job.type,
                    .first = first_position(*job.inputs.front()),
                    .last = last_position(*job.inputs.back()),
                    .deaths = {}};
    const Position through = horizon();
    lock.unlock();
    const std::uint64_t began_us = processor_us();
    const std::uint64_t documents = documents_of(job.inputs);
    Runs outputs;
    Position dropped_through;
    if (job.rebuild != nullptr) {
        outputs = rewrite(*job.inputs[0], *job.rebuild, through, dropped_through, stop);
    } else if (SearchRun::Merged merged = SearchRun::merge(job.inputs, through, stop);
               merged.run != nullptr) {
        outputs = {std::move(merged.run)};
        dropped_through = merged.dropped_through;
    } else {
        dropped_through = merged.dropped_through;
    }
    if (stop.stop_requested()) {
        lock.lock();
        active.reset();
        return;
    }

    lock.lock();
    while (active->deaths.size() > kMarksAtEndMax) {
        const std::vector<Death> deaths = std::exchange(active->deaths, {});
        lock.unlock();
        for (const Death& death : deaths) {
            mark_died(outputs, death.position, death.at);
        }
        lock.lock();
    }
    for (const Death& death : active->deaths) {
        mark_died(outputs, death.position, death.at);
    }
    replace(job.type, job.inputs, outputs, dropped_through);
    if (job.rebuild != nullptr) {
        job.rebuild->cursor = active->last;
    }
    active.reset();
    lock.unlock();

    count_merge(documents, began_us);
    for (auto& input : job.inputs) {
        if (input->size() >= kLargeRun) {
            replaced.push_back(std::move(input));
        }
    }
    job.inputs.clear();
    bury();
    lock.lock();
}

/// The same documents with new entries: small runs, and one of all of them.
Runs SearchIndex::Impl::rewrite(const SearchRun& run, Rebuild& rebuild, Position horizon,
                                Position& dropped_through, const std::stop_token& stop) {
    std::vector<SearchEntries> entries(std::min<std::size_t>(kRebuiltAtOnce, run.size()));
    std::vector<IndexedDocument> documents;
    std::vector<Position> died;
    std::size_t weight = 0;
    Runs runs;
    const auto flush = [&] {
        if (documents.empty()) {
            return;
        }
        runs.push_back(SearchRun::build(documents));
        for (std::uint32_t i = 0; i < died.size(); ++i) {
            if (died[i] != kNotDied) {
                runs.back()->mark_died(i, died[i]);
            }
        }
        documents.clear();
        died.clear();
        weight = 0;
    };
    for (std::uint32_t document = 0; document < run.size() && !stop.stop_requested(); ++document) {
        const Position died_at = run.died_at(document);
        rebuild.documents_done.fetch_add(1, std::memory_order_relaxed);
        if (died_at <= horizon) {
            dropped_through = std::max(dropped_through, died_at);
            continue;
        }
        SearchEntries& found = entries[documents.size()];
        found.clear();
        if (!rebuild.entries_of(run.position(document), found)) {
            found.clear();
        }
        documents.push_back({run.position(document), run.key(document), &found});
        died.push_back(died_at);
        weight += found.bytes();
        if (documents.size() == entries.size() || weight >= kRebuiltBytes) {
            flush();
        }
    }
    flush();
    if (runs.size() > 1 && SearchRun::fits_one(runs)) {
        runs = {SearchRun::merge(runs, {}, stop).run};
    }
    return runs;
}

SearchIndex::SearchIndex(const SearchIndexOptions& options)
    : impl_(std::make_unique<Impl>(options)) {
}

SearchIndex::~SearchIndex() = default;

bool SearchIndex::restore(TypeId type, SearchRuns runs) {
    Position before;
    for (const auto& run : runs.runs) {
        if (first_position(*run) <= before) {
            return false;
        }
        before = last_position(*run);
    }
    const std::lock_guard lock(impl_->edit);
    ANNALS_CHECK(impl_->types[type.value].current->runs.empty());
    impl_->last = std::max(impl_->last, before.value);
    for (const auto& run : runs.runs) {
        impl_->note_half_dead(type, *run);
    }
    impl_->bytes += bytes_of(runs.runs);
    impl_->publish(impl_->types[type.value], std::make_shared<const SearchRuns>(std::move(runs)));
    impl_->dirty.set(type.value);
    impl_->wake();
    return true;
}

void SearchIndex::add(TypeId type, std::span<const IndexedDocument> documents) {
    if (documents.empty()) {
        return;
    }
    const SearchIndexOptions& options = impl_->options;
    SearchPending& pending = impl_->types[type.value].pending;
    const std::uint64_t bytes = impl_->pending_bytes += pending.add(documents, impl_->spares);
    const std::uint64_t count = pending.size();
    if (count >= 2 * std::uint64_t{options.pending_documents} ||
        bytes >= 2 * options.pending_bytes) {
        impl_->fold(type);
        const std::lock_guard lock(impl_->edit);
        if (impl_->types[type.value].current->runs.size() > options.runs_max) {
            impl_->merge_small(type);
        }
    } else if (count >= options.pending_documents) {
        impl_->want_fold(type);
    } else if (bytes >= options.pending_bytes) {
        for (std::uint16_t id = 0; id < kResourceTypeCount; ++id) {
            if (impl_->types[id].pending.size() != 0) {
                impl_->want_fold({id});
            }
        }
    }
}

void SearchIndex::died(TypeId type, Position position, Position at) {
    Impl& my = *impl_;
    Impl::Type& of = my.types[type.value];
    of.pending.died(position, at, [&] {
        const std::lock_guard lock(my.edit);
        my.last = std::max(my.last, at.value);
        const SearchRun* const run = find_run(of.current->runs, position);
        const std::uint32_t document = run != nullptr ? run->find(position) : 0;
        if (run != nullptr && document != run->size()) {
            run->mark_died(document, at);
            my.note_half_dead(type, *run);
            std::optional<Impl::Active>& active = my.active;
            if (active && active->type == type && active->first <= position &&
                position <= active->last) {
                active->deaths.push_back({position, at});
            }
        }
        if (my.last >= my.vacuum_due) {
            my.wake();
        }
    });
}

std::shared_ptr<const SearchRuns> SearchIndex::runs(TypeId type) const {
    if (impl_->types[type.value].pending.size() != 0) {
        impl_->fold(type);
    }
    return impl_->published(type);
}

void SearchIndex::rebuild(TypeId type, EntriesOf entries_of, std::function<void()> done) {
    impl_->fold(type);
    const std::lock_guard lock(impl_->edit);
    const Runs& runs = impl_->types[type.value].current->runs;
    Impl::Rebuild& rebuild = impl_->rebuilds.emplace_back();
    rebuild.type = type;
    rebuild.entries_of = std::move(entries_of);
    rebuild.done = std::move(done);
    rebuild.through = runs.empty() ? Position{} : last_position(*runs.back());
    rebuild.documents = documents_of(runs);
    impl_->wake();
}

std::optional<SearchIndex::Progress> SearchIndex::rebuilding(TypeId type) const {
    const std::lock_guard lock(impl_->edit);
    std::optional<Progress> progress;
    for (const Impl::Rebuild& rebuild : impl_->rebuilds) {
        if (rebuild.type == type) {
            progress = progress.value_or(Progress{});
            progress->documents += rebuild.documents;
            progress->documents_done +=
                std::min(rebuild.documents, rebuild.documents_done.load(std::memory_order_relaxed));
        }
    }
    return progress;
}

void SearchIndex::drop_erased() {
    const std::lock_guard lock(impl_->edit);
    impl_->folds.set();  // What was erased of them becomes no run.
    impl_->erased_wanted = true;
    impl_->wake();
}

void SearchIndex::wait_until_idle() {
    std::unique_lock lock(impl_->edit);
    impl_->done.wait(lock, [this] { return impl_->idle && !impl_->woken; });
}

SearchIndexStats SearchIndex::stats() const {
    SearchIndexStats stats{.bytes = bytes(),
                           .merges = impl_->merges.load(),
                           .documents_merged = impl_->documents_merged.load(),
                           .merge_us = impl_->merge_us.load()};
    for (std::uint16_t id = 0; id < kResourceTypeCount; ++id) {
        const auto of = impl_->published({id});
        const std::uint64_t pending = impl_->types[id].pending.size();
        stats.documents_pending += pending;
        stats.runs += of->runs.size();
        stats.documents += documents_of(of->runs) + pending;
        for (const auto& run : of->runs) {
            stats.documents_died += run->died_count();
        }
    }
    return stats;
}

std::uint64_t SearchIndex::bytes() const noexcept {
    return impl_->bytes.load(std::memory_order_relaxed) +
           impl_->pending_bytes.load(std::memory_order_relaxed);
}

}  // namespace annals::storage
