#include "storage/store.h"

#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "storage/backup_manifest.h"
#include "storage/compaction.h"
#include "storage/eraser.h"
#include "storage/fetcher.h"
#include "storage/file_system.h"
#include "storage/history_cleanup.h"
#include "storage/history_walk.h"
#include "storage/housekeeper.h"
#include "storage/index.h"
#include "storage/log_writer.h"
#include "storage/lost_segments.h"
#include "storage/recovery.h"
#include "storage/resident_pages.h"
#include "storage/search_recovery.h"
#include "storage/search_saver.h"
#include "storage/segment_footer.h"
#include "storage/sequencer.h"

#include <fmt/format.h>

#include <chrono>

namespace annals::storage {

struct Store::Impl {
    explicit Impl(FileSystem& fs) : resident(fs) {}

    std::uint64_t store_id = 0;
    std::unique_ptr<DirectoryLock> lock;
    SegmentTable segments;
    Index index;
    ResidentPages resident;
    std::uint64_t log_bytes = 0;  ///< of a read-only store

    // None without search.
    std::unique_ptr<SearchIndex> search;
    SearchSetup setup;
    PerType<std::atomic<std::uint64_t>> search_fingerprints{};  ///< 0: of nothing that is whole
    std::unique_ptr<SearchFeed> feed;
    std::unique_ptr<SearchCheckpoint> checkpoint;
    std::unique_ptr<SearchSaver> saver;  ///< none in a read-only store either

    /// Lets the index's thread in, for rebuilds, until the store closes.
    struct Gate {
        std::mutex mutex;
        bool open = true;
    };

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();

    ~Impl() {
        const std::scoped_lock closing(gate->mutex);
        gate->open = false;
    }

    // None in a read-only store. In this order: each uses what stands above it.
    SettleListeners listeners;
    std::mutex segment_files;
    std::unique_ptr<SegmentWriter> segment_writer;
    std::unique_ptr<Sequencer> sequencer;
    std::unique_ptr<Eraser> eraser;
    std::unique_ptr<Compaction> compaction;
    std::unique_ptr<Housekeeper> housekeeper;
    std::unique_ptr<LogWriter> log_writer;
    std::unique_ptr<HistoryCleanup> cleanup;
    std::atomic<std::uint64_t> cleanup_cycles{0};
    std::atomic<std::uint64_t> cleanup_versions{0};
    std::atomic<std::int64_t> cleanup_ended{0};

    Fetcher fetcher;  ///< last: what it does uses the rest

    Hash128 key(TypeId type, std::string_view id) const noexcept {
        return resource_key(store_id, type, id);
    }

    /// Of the one resource that a query is about; none if it is about many.
    std::optional<Hash128> key_of(const HistoryQuery& query) const noexcept {
        return query.type && query.id ? std::optional(key(*query.type, *query.id)) : std::nullopt;
    }

    /// Is it the newest segment, which is written to, or was until the device was full?
    bool is_open(std::uint64_t number) const {
        if (segment_writer != nullptr) {
            return number == segment_writer->newest_number();
        }
        const SegmentTable::Reader reader(segments);
        const auto slot = segments.slot_of(number);
        const Segment* const segment = slot ? segments.find(*slot) : nullptr;
        return segment != nullptr && !segments.slot_of(number + 1) &&
               !FooterReader::open(segment->view(), segment->header);
    }

    PerType<std::uint64_t> fingerprints() const {
        PerType<std::uint64_t> all;
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = search_fingerprints[i].load(std::memory_order_acquire);
        }
        return all;
    }

    /// Finishes what an earlier process had begun to erase, and begins to erase what will be.
    Result<void> keep_house(FileSystem& fs, const std::string& directory,
                            ErasureJournal::Content journal, const Recovered& recovered,
                            Durability durability, PackPolicy packing);

    /// Makes all that is in the log findable.
    void recover_search(FileSystem& fs, const std::string& directory, const StoreOptions& options,
                        SearchSetup with, SearchCheckpointReader& saved, OpenReport& report);
};

namespace {

Result<void> prepare_directory(FileSystem& fs, const std::string& directory,
                               const std::string& segments, const StoreOptions& options,
                               std::unique_ptr<DirectoryLock>& lock) {
    const auto has = [&](std::string_view name) {
        return fs.exists(fmt::format("{}/{}", directory, name));
    };
    ANNALS_TRY_VOID(check_restored(fs, directory));
    if (!options.read_only && (has(kBackupManifest) || has(kBackupPartial))) {
        return Error{Errc::usage,
                     fmt::format("{}: a backup: read it with --read-only, or restore it elsewhere",
                                 directory),
                     {}};
    }
    if (fs.exists(segments)) {
        ANNALS_TRY_VOID(check_format(fs, segments));
    } else if (const std::string lost = why_all_are_lost(fs, directory); !lost.empty()) {
        return Error{
            Errc::corrupt, fmt::format("segments/{}: offset 0: {}", segment_name(1), lost), {}};
    } else if (options.read_only) {
        return Error{Errc::usage, fmt::format("{}: no store is here", directory), {}};
    }
    if (options.read_only) {
        return {};
    }
    if (auto made = fs.make_directory(directory); !made) {
        // What is there isn't a store's fault.
        made.error().code = made.error().code == Errc::io ? Errc::usage : made.error().code;
        return made;
    }
    ANNALS_TRY(lock, fs.lock(directory));
    ANNALS_TRY_VOID(fs.make_directory(segments));
    return fs.sync_directory(directory);
}

/// A copy of a backup may lack its end, and look like a store that ended sooner.
Result<void> check_backup(FileSystem& fs, const std::string& directory, bool allow_damaged,
                          OpenReport& report) {
    const auto manifest = read_backup_manifest(fs, directory);
    const Result<void> whole = !manifest    ? Result<void>(manifest.error())
                               : !*manifest ? Result<void>()
                                            : check_backup_parts(fs, directory, **manifest);
    // While it is made, and when it was not finished, the manifest is of the one before.
    if (whole || fs.exists(fmt::format("{}/{}", directory, kBackupPartial))) {
        return {};
    }
    if (whole.error().code != Errc::corrupt || !allow_damaged) {
        return whole;
    }
    log_error(whole.error().detail);
    report.damages.push_back({std::string(kBackupManifest), 0, whole.error().detail});
    return {};
}

}  // namespace

void Store::Impl::recover_search(FileSystem& fs, const std::string& directory,
                                 const StoreOptions& options, SearchSetup with,
                                 SearchCheckpointReader& saved, OpenReport& report) {
    setup = std::move(with);
    for (std::size_t i = 0; i < kResourceTypeCount; ++i) {
        search_fingerprints[i] = setup.fingerprints[i];
    }
    search = std::make_unique<SearchIndex>(options.search_index);
    feed = std::make_unique<SearchFeed>(*search, setup);
    checkpoint = std::make_unique<SearchCheckpoint>(
        fs, index,
        SearchCheckpoint::Options{
            .directory = directory, .store_id = store_id, .read_only = options.read_only});
    report.versions_extracted = storage::recover_search(
        index, segments, setup, saved, *checkpoint, options.search_index.positions_retained, *feed);
    if (!options.read_only) {
        saver = std::make_unique<SearchSaver>(
            *checkpoint, *feed, [this] { return fingerprints(); },
            options.search_checkpoint_versions);
    }
}

Result<void> Store::Impl::keep_house(FileSystem& fs, const std::string& directory,
                                     ErasureJournal::Content journal, const Recovered& recovered,
                                     Durability durability, PackPolicy packing) {
    const std::uint64_t erases = recovered.erases - journal.erases_done;  // Modulo 2^64.
    eraser = std::make_unique<Eraser>(fs, directory, segments, index, *segment_writer,
                                      std::move(journal), durability == Durability::commit,
                                      segment_files);
    auto forget_derived = [this, &fs, directory,
                           removed = false](std::span<const Position> erased) mutable {
        if (checkpoint != nullptr) {
            return checkpoint->forget(erased);
        }
        auto done = removed ? Result<void>() : SearchCheckpoint::remove_all(fs, directory);
        removed = done.has_value();
        return done;
    };
    bool later = false;
    if (erases != 0) {
        ANNALS_TRY_VOID(forget_derived(recovered.unblanked));
        const auto bodies = eraser->blank(recovered.unblanked, erases);
        later = !bodies && bodies.error().code == Errc::no_store;
        if (!bodies && !later) {
            return bodies.error();
        }
        log_info(bodies ? fmt::format("erase: {} bodies of erased versions taken out", *bodies)
                        : fmt::format("erase: {}", bodies.error().detail));
        static_cast<void>(eraser->take_damage());  // which is in the log
    }
    compaction = std::make_unique<Compaction>(fs, directory, segments, index, *segment_writer,
                                              *eraser, std::move(packing));
    housekeeper = std::make_unique<Housekeeper>(
        *eraser, *compaction, listeners, std::move(forget_derived), later ? erases : 0,
        later ? recovered.unblanked : std::vector<Position>());
    return {};
}

Result<std::unique_ptr<Store>> Store::open(FileSystem& fs, std::string directory,
                                           StoreOptions options, OpenReport* report) {
    const auto start = std::chrono::steady_clock::now();
    OpenReport unused;
    OpenReport& found = report != nullptr ? *report : unused;
    found = {};
    auto owned = std::make_unique<Impl>(fs);
    Impl* const impl = owned.get();
    const std::string segments = directory + "/segments";
    ANNALS_TRY_VOID(prepare_directory(fs, directory, segments, options, impl->lock));
    if (options.read_only) {
        ANNALS_TRY_VOID(check_backup(fs, directory, options.allow_damaged, found));
    }
    ANNALS_TRY(ErasureJournal::Content journal, ErasureJournal::read(fs, directory));
    if (!options.read_only) {
        ANNALS_TRY_VOID(replay(fs, segments, journal));
    }
    std::optional<SearchCheckpointReader> saved;
    if (options.search) {
        saved.emplace(fs, directory);  // and reads on while the log is being read
    }
    ANNALS_TRY(Recovered recovered,
               recover(fs, segments, options, journal, impl->index, impl->segments, found));
    const bool fresh = recovered.last_number == 0;
    while (fresh && recovered.store_id == 0) {
        recovered.store_id = random_u64();
    }
    impl->store_id = recovered.store_id;
    impl->log_bytes = recovered.log_bytes;
    std::unique_ptr<Store> store(new Store(std::move(owned)));
    if (options.search) {
        impl->recover_search(fs, directory, options, options.search(*store), *saved, found);
    }

    if (!options.read_only) {
        const std::function<Instant()> clock = options.clock ? options.clock : now;
        impl->segment_writer = std::make_unique<SegmentWriter>(
            fs, segments,
            SegmentWriter::Options{options.segment_bytes, options.prepare_segments,
                                   options.kept_bytes},
            impl->store_id, impl->segments);
        impl->segment_writer->add_log_bytes(recovered.log_bytes);
        Result<void> begun;
        if (recovered.open) {
            impl->segment_writer->resume(std::move(*recovered.open));
        } else {
            begun = impl->segment_writer->begin(recovered.last_number + 1,
                                                {recovered.last_position.value + 1},
                                                recovered.last_instant);
            if (!begun && (fresh || begun.error().code != Errc::no_store)) {
                return std::move(begun.error());
            }
        }
        impl->sequencer = std::make_unique<Sequencer>(
            impl->index,
            Sequencer::Start{.store_id = impl->store_id,
                             .last_position = recovered.last_position,
                             .last_instant = recovered.last_instant,
                             .body_bytes_max = options.body_bytes_max,
                             .search = impl->search != nullptr,
                             .identity = impl->setup.identity,
                             .last_updated_column = impl->setup.last_updated_column},
            clock);
        if (!begun) {
            log_warning(
                fmt::format("log: {}: reading only, until that is over", begun.error().detail));
            impl->sequencer->drop(WriteState::no_space);
        }
        ANNALS_TRY_VOID(impl->keep_house(
            fs, directory, std::move(journal), recovered, options.durability,
            PackPolicy{
                .enabled = options.pack_segments, .after = options.pack_after, .clock = clock}));
        impl->log_writer = std::make_unique<LogWriter>(
            *impl->sequencer, *impl->segment_writer, impl->index, impl->feed.get(),
            *impl->housekeeper, impl->listeners,
            LogWriter::Options{options.durability, options.sync_interval_ms});
    }
    found.segments = impl->segments.size();
    found.resources = impl->index.totals({}).resources;
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return store;
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {
}

Store::~Store() {
    if (impl_ != nullptr) {
        impl_->cleanup.reset();
    }
}

void Store::start_history_cleanup(const HistoryLimits& limits, std::chrono::milliseconds interval) {
    if (impl_->log_writer != nullptr) {
        impl_->cleanup = std::make_unique<HistoryCleanup>(*this, limits, interval);
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

std::optional<VersionInfo> Store::current_at(TypeId type, std::string_view id,
                                             Instant instant) const {
    return impl_->index.current_at(impl_->key(type, id), instant);
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

std::optional<LogEnd> Store::log_end() const {
    return impl_->log_writer == nullptr ? std::nullopt : std::optional(impl_->log_writer->end());
}

std::mutex& Store::segment_files() const noexcept {
    return impl_->segment_files;
}

Result<StoredVersion> Store::load(const VersionInfo& info) const {
    return load_version(impl_->segments, impl_->index, info);
}

Result<StoredVersion> Store::load_resident(const VersionInfo& info) const {
    return storage::load_resident(impl_->segments, impl_->index, info, impl_->resident);
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

void Store::rebuild_search(TypeId type, const SearchSetup& setup, std::function<void()> done) {
    if (impl_->search == nullptr) {
        done();
        return;
    }
    // While it goes on, runs are of two kinds: a checkpoint must not take them for one.
    impl_->search_fingerprints[type.value].store(0, std::memory_order_release);
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
                fingerprint = setup.fingerprints[type.value], done = std::move(done)] {
        const std::scoped_lock lock(gate->mutex);
        if (!gate->open) {
            return;
        }
        impl->search_fingerprints[type.value].store(fingerprint, std::memory_order_release);
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
