// The merging thread: makes runs of what is pending, merges them, and rewrites those that are half dead, contain erased
// documents, or are to be indexed by other parameters.

#include "core/base/thread_name.h"
#include "storage/search_index_impl.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace annals::storage {

namespace {

constexpr int kMergerNice = 10;
/// How many documents a rebuild asks entries for at a time.
constexpr std::size_t kRebuiltAtOnce = 4096;
/// With more deaths to repeat than this, a merge repeats them without the lock before it ends, so as not to keep others
/// waiting.
constexpr std::size_t kMarksAtEndMax = 256;
/// A rebuild makes a run once its entries take this many bytes.
constexpr std::size_t kRebuiltBytes = 64 << 20;
/// Freeing runs of at least this many documents takes a while.
constexpr std::uint32_t kLargeRun = 1 << 16;
constexpr std::chrono::milliseconds kBuryEvery{50};

void mark_died(const Runs& runs, Position position, Position at) noexcept {
    if (const SearchRun* const run = find_run(runs, position)) {
        if (const std::uint32_t document = run->find(position); document != run->size()) {
            run->mark_died(document, at);
        }
    }
}

}  // namespace

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

/// Frees large runs here, since it takes milliseconds, rather than in the thread of their last reader.
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
    if (rebuilds.empty() || rebuilds_given_up) {
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

/// Ends the rebuild under way if it has nothing left to do; returns whether it did.
bool SearchIndex::Impl::end_rebuild(std::unique_lock<std::mutex>& lock) {
    if (rebuilds.empty() || rebuilds_given_up || next_rebuild()) {
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
    lock.lock();
    if (stop.stop_requested() || (job.rebuild != nullptr && rebuilds_given_up)) {
        active.reset();
        return;
    }
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

/// Gives the documents of `run` new entries: builds small runs, then merges them into one.
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

}  // namespace annals::storage
