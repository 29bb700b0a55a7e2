#include "storage/store.h"

#include "storage/history_walk.h"
#include "storage/store_impl.h"

#include <algorithm>

namespace annals::storage {

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

Store::~Store() {
    if (impl_ != nullptr) {
        impl_->cleanup.reset();
    }
}

Result<void> Store::close() {
    impl_->cleanup.reset();
    return impl_->log_writer == nullptr ? Result<void>() : impl_->log_writer->stop();
}

void Store::start_history_cleanup(const HistoryLimits& limits, std::chrono::milliseconds interval) {
    if (impl_->log_writer != nullptr) {
        impl_->cleanup = std::make_unique<HistoryCleanup>(
            *this, limits, interval,
            std::min<std::chrono::milliseconds>(interval, HistoryCleanup::kFirstAfter));
    }
}

std::optional<Surplus> Store::surplus(std::uint32_t resource, const HistoryLimits& limits) const {
    return impl_->index.surplus(resource, limits);
}

void Store::compact(bool hurry) {
    if (impl_->housekeeper != nullptr) {
        impl_->housekeeper->compact(hurry);
    }
}

Result<void> Store::wait_compacted() {
    return impl_->housekeeper == nullptr ? Result<void>() : impl_->housekeeper->wait_compacted();
}

CompactionProgress Store::compaction() const {
    return impl_->compaction == nullptr ? CompactionProgress() : impl_->compaction->progress();
}

CompactionProgress Store::measure_compaction() const {
    CompactionProgress progress = compaction();
    progress.dead_bytes = 0;
    progress.segments_left = 0;
    for (std::uint64_t number = 1; impl_->segments.slot_of(number); ++number) {
        const std::uint64_t dead =
            impl_->is_open(number) ? 0 : measure_dead(impl_->segments, impl_->index, number);
        progress.dead_bytes += dead;
        progress.segments_left += dead > 0 ? 1 : 0;
    }
    return progress;
}

void Store::note_cleanup(std::uint64_t versions) noexcept {
    impl_->cleanup_cycles.fetch_add(1, std::memory_order_relaxed);
    impl_->cleanup_versions.fetch_add(versions, std::memory_order_relaxed);
    impl_->cleanup_ended.store(now().us, std::memory_order_relaxed);
}

Submission Store::submit(Commit commit) {
    if (impl_->sequencer == nullptr) {
        Submission refused;
        refused.status = Submission::Status::read_only;
        return refused;
    }
    return impl_->sequencer->submit(commit);
}

void Store::flush() noexcept {
    if (impl_->sequencer != nullptr) {
        impl_->sequencer->flush();
    }
}

void Store::flush_idle() noexcept {
    if (impl_->sequencer != nullptr) {
        impl_->sequencer->flush_idle();
    }
}

void Store::flush_older(std::chrono::milliseconds age) noexcept {
    if (impl_->sequencer != nullptr) {
        impl_->sequencer->flush_older(age);
    }
}

Result<void> Store::wait(Ticket ticket) {
    if (impl_->log_writer == nullptr || ticket.value == 0) {
        return {};
    }
    flush();
    return impl_->log_writer->wait(ticket);
}

Result<void> Store::wait_erased(Ticket ticket) {
    return impl_->housekeeper == nullptr ? Result<void>() : impl_->housekeeper->wait(ticket);
}

Result<Ticket> Store::unfinished_erasure() const {
    return impl_->housekeeper == nullptr ? Result<Ticket>(Ticket{})
                                         : impl_->housekeeper->unfinished();
}

void Store::add_listener(SettleListener& listener) {
    impl_->listeners.add(listener);
}

void Store::remove_listener(SettleListener& listener) {
    impl_->listeners.remove(listener);
}

Ticket Store::last_ticket() const {
    return impl_->sequencer == nullptr ? Ticket{} : impl_->sequencer->last_ticket();
}

WriteState Store::write_state() const noexcept {
    return impl_->sequencer == nullptr ? WriteState::read_only : impl_->sequencer->state();
}

std::chrono::steady_clock::duration Store::write_wait() const noexcept {
    return impl_->log_writer == nullptr ? std::chrono::steady_clock::duration::zero()
                                        : impl_->log_writer->write_wait();
}

Position Store::last_position() const noexcept {
    return impl_->index.last_position();
}

std::uint64_t Store::hard_deletes() const noexcept {
    return impl_->sequencer == nullptr ? 0 : impl_->sequencer->hard_deletes();
}

std::unique_ptr<WriteWatch> Store::watch(TypeId type, WriteWatch::Concerns concerns) {
    return impl_->sequencer == nullptr ? nullptr
                                       : impl_->sequencer->watch(type, std::move(concerns));
}

std::optional<VersionInfo> Store::current(TypeId type, std::string_view id, Position bound) const {
    return impl_->index.current(impl_->key(type, id), bound);
}

std::optional<VersionInfo> Store::version(TypeId type, std::string_view id,
                                          VersionNumber number) const {
    return impl_->index.version(impl_->key(type, id), number);
}

std::optional<VersionInfo> Store::current_at(TypeId type, std::string_view id, Instant instant,
                                             Position bound) const {
    return impl_->index.current_at(impl_->key(type, id), instant, bound);
}

std::optional<VersionInfo> Store::at(Position position) const {
    return impl_->index.at(position);
}

Head Store::head(TypeId type, std::string_view id) const {
    return impl_->sequencer == nullptr ? impl_->index.head(impl_->key(type, id))
                                       : impl_->sequencer->head(type, id);
}

void Store::fetch_ahead(TypeId type, std::string_view id) const noexcept {
    impl_->index.fetch_ahead(impl_->key(type, id));
}

Position Store::commit_end(Position position) const noexcept {
    return impl_->index.commit_end(position);
}

Position Store::commit_begin(Position position) const noexcept {
    return impl_->index.commit_begin(position);
}

std::string Store::request_of(Position commit_end) const {
    const auto request = find_request(impl_->segments, impl_->index, commit_end);
    return request ? request->id : std::string();
}

Store::Trace Store::trace(Position position) const noexcept {
    const Index::Link link = impl_->index.link(position);
    return {.key = link.key.low, .deletion = link.info.deletion};
}

std::optional<LogEnd> Store::log_end() const {
    return impl_->log_writer == nullptr ? std::nullopt : std::optional(impl_->log_writer->end());
}

SegmentFiles& Store::segment_files() const noexcept {
    return impl_->segment_files;
}

Result<StoredVersion> Store::load(const VersionInfo& info) const {
    return load_version(impl_->segments, impl_->index, info, impl_->sequencer == nullptr);
}

Result<StoredVersion> Store::load_resident(const VersionInfo& info) const {
    return storage::load_resident(impl_->segments, impl_->index, info, impl_->resident,
                                  impl_->sequencer == nullptr);
}

std::vector<Position> Store::unread(std::span<const VersionInfo> versions) const {
    return find_unread(impl_->segments, impl_->index, versions, impl_->resident);
}

void Store::fetch(Position position, std::function<void()> done) const {
    impl_->fetcher.add([impl = impl_.get(), position, done = std::move(done)] {
        bring_in(impl->segments, impl->index, position, impl->resident);
        done();
    });
}

bool Store::in_memory(std::string_view mapped) const noexcept {
    return impl_->resident.have(mapped, ResidentPages::time());
}

void Store::fetch(std::string_view mapped, std::function<void()> done) const {
    impl_->fetcher.add([impl = impl_.get(), mapped, done = std::move(done)] {
        impl->resident.bring_in(mapped);
        done();
    });
}

HistoryPage Store::history(const HistoryQuery& query) const {
    return impl_->index.history(query, impl_->key_of(query));
}

HistoryWalk Store::walk_history(const HistoryQuery& query) const {
    return {impl_->index, query, impl_->key_of(query)};
}

std::vector<VersionInfo> Store::current_at(std::optional<TypeId> type, Instant instant,
                                           Position bound, std::uint32_t& from,
                                           std::uint32_t count_scanned) const {
    return impl_->index.current_at(type, instant, bound, from, count_scanned);
}

Position Store::before(Instant instant) const {
    return impl_->index.before(instant);
}

bool Store::was_live_at(const VersionInfo& info, Instant instant, Position bound) const {
    return impl_->index.was_live_at(info, instant, bound);
}

void Store::scan(const LogScan& what, Position& after, std::uint64_t count_scanned,
                 std::vector<VersionInfo>& found) const {
    impl_->index.scan(what, after, count_scanned, found);
}

std::uint32_t Store::resource_count() const noexcept {
    return impl_->index.resource_count();
}

std::uint64_t Store::search_seed() const noexcept {
    return impl_->store_id;
}

std::uint64_t Store::search_key(TypeId type, std::string_view id) const noexcept {
    return impl_->key(type, id).low;
}

std::shared_ptr<const SearchRuns> Store::search(TypeId type) const {
    if (impl_->search == nullptr) {
        static const auto kNothing = std::make_shared<const SearchRuns>();
        return kNothing;
    }
    return impl_->search->runs(type);
}

void Store::mix_search(TypeId type) {
    impl_->search_mixes[type.value].fetch_add(1);
    impl_->search_fingerprints[type.value].store(0);
}

void Store::rebuild_search(TypeId type, const SearchSetup& setup, std::function<void()> done) {
    if (impl_->search == nullptr) {
        done();
        return;
    }
    auto entries_of = [impl = impl_.get(), gate = impl_->gate, extract = setup.extractor()](
                          Position position, SearchEntries& entries) {
        const std::scoped_lock lock(gate->mutex);
        const auto info = gate->open ? impl->index.at(position) : std::nullopt;
        if (!info) {
            return false;  // erased
        }
        const auto stored = load_version(impl->segments, impl->index, *info);
        if (!stored || !extract(info->type, stored->id, stored->body, entries)) {
            entries.clear();
        }
        impl->feed->complete(impl->index.link(position).key.low, info->instant, entries);
        return true;
    };
    auto end = [impl = impl_.get(), gate = impl_->gate, type,
                mixes = impl_->search_mixes[type.value].load(),
                fingerprint = setup.fingerprints[type.value], done = std::move(done)] {
        const std::scoped_lock lock(gate->mutex);
        if (!gate->open) {
            return;
        }
        impl->search_fingerprints[type.value].store(fingerprint);
        if (impl->search_mixes[type.value].load() != mixes) {
            // Some of what was submitted meanwhile may be of another setup. Checked after the store, since mix_search() counts
            // before it.
            impl->search_fingerprints[type.value].store(0);
        }
        if (impl->saver != nullptr) {
            impl->saver->ask();
        }
        done();
    };
    impl_->search->rebuild(type, std::move(entries_of), std::move(end));
}

std::optional<SearchIndex::Progress> Store::rebuilding_search(TypeId type) const {
    return impl_->search == nullptr ? std::nullopt : impl_->search->rebuilding(type);
}

bool Store::instants_ascend(std::optional<TypeId> type) const noexcept {
    return impl_->index.instants_ascend(type);
}

Totals Store::totals(std::optional<TypeId> type) const {
    return impl_->index.totals(type);
}

StoreMetrics Store::metrics() const {
    StoreMetrics metrics;
    metrics.segments = impl_->segments.size();
    metrics.segments_packed = impl_->segments.packed();
    metrics.index_bytes = impl_->index.bytes();
    metrics.log_bytes = impl_->log_bytes;
    if (impl_->log_writer != nullptr) {
        impl_->log_writer->count(metrics);
        metrics.log_bytes = impl_->segment_writer->log_bytes();
        metrics.gathered_bytes = impl_->sequencer->unsettled_bytes();
        metrics.cleanup_cycles = impl_->cleanup_cycles.load(std::memory_order_relaxed);
        metrics.cleanup_versions = impl_->cleanup_versions.load(std::memory_order_relaxed);
        metrics.cleanup_ended = {impl_->cleanup_ended.load(std::memory_order_relaxed)};
        metrics.compaction = impl_->compaction->progress();
        metrics.bodies_erased = impl_->housekeeper->bodies_erased();
    }
    if (impl_->search != nullptr) {
        metrics.search = impl_->search->stats();
    }
    if (impl_->saver != nullptr) {
        metrics.search_checkpoints = impl_->saver->written_count();
        metrics.search_checkpoint_bytes = impl_->saver->bytes();
    }
    return metrics;
}

}  // namespace annals::storage
