#include "storage/search_index.h"

#include "core/base/processor_time.h"
#include "storage/search_index_impl.h"

#include <algorithm>
#include <chrono>

namespace annals::storage {

namespace {

/// The most documents that add() itself merges at a time.
constexpr std::uint64_t kSmallMergeDocuments = 32'768;

std::uint64_t bytes_of(const Runs& runs) noexcept {
    std::uint64_t bytes = 0;
    for (const auto& run : runs) {
        bytes += run->bytes();
    }
    return bytes;
}

bool is_half_dead(const SearchRun& run) noexcept {
    return std::uint64_t{run.died_count()} * 2 > run.size();
}

}  // namespace

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

const SearchRun* find_run(const Runs& runs, Position position) noexcept {
    const auto found = std::ranges::lower_bound(
        runs, position, {}, [](const auto& run) { return last_position(*run); });
    return found == runs.end() ? nullptr : found->get();
}

std::uint64_t processor_us() noexcept {
    return static_cast<std::uint64_t>(processor_time() / std::chrono::microseconds(1));
}

std::shared_ptr<const SearchRuns> SearchIndex::Impl::published(TypeId type) const {
    const Type& of = types[type.value];
    const std::lock_guard lock(of.pointer);
    return of.current;
}

void SearchIndex::Impl::publish(Type& type, std::shared_ptr<const SearchRuns> runs) {
    const std::lock_guard lock(type.pointer);
    type.current.swap(runs);
    // The old ones are freed with `runs`, after the lock.
}

/// Makes runs of what is pending.
void SearchIndex::Impl::fold(TypeId type) {
    Type& of = types[type.value];
    of.fold_wanted.store(false, std::memory_order_relaxed);
    pending_bytes -= of.pending.fold([&](const Runs& added) { add_runs(type, added); }, spares);
}

/// Appends runs to those of a type.
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

/// Asks the merging thread to fold a type.
void SearchIndex::Impl::want_fold(TypeId type) {
    if (!types[type.value].fold_wanted.exchange(true, std::memory_order_relaxed)) {
        const std::lock_guard lock(edit);
        folds.set(type.value);
        wake();
    }
}

/// Folds one requested type; false if there was none.
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

/// Puts `outputs` in place of `inputs`.
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

/// Notes a run of which half has died: it is rewritten as soon as all of its dead documents can be dropped.
void SearchIndex::Impl::note_half_dead(TypeId id, const SearchRun& run) {
    Type& type = types[id.value];
    if (is_half_dead(run) &&
        std::ranges::find(type.half_dead, &run, &HalfDead::run) == type.half_dead.end()) {
        type.half_dead.push_back({&run, last});
        vacuum_due = std::min(vacuum_due, last + options.positions_retained);
    }
}

/// For when the merging thread has fallen behind: merges a few small runs on the caller's thread.
void SearchIndex::Impl::merge_small(TypeId id) {
    const Runs& runs = types[id.value].current->runs;
    // Excludes what is being merged and everything before it.
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

void SearchIndex::give_up_rebuilds() {
    const std::scoped_lock lock(impl_->edit);
    impl_->rebuilds_given_up = true;
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
    impl_->folds.set();  // Runs get none of the erased documents.
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
