// Opening a store: recovering what is there, and starting to write.

#include "core/base/log.h"
#include "core/base/random.h"
#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "storage/lost_segments.h"
#include "storage/recovery.h"
#include "storage/search_recovery.h"
#include "storage/segment_folder.h"
#include "storage/store_impl.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace annals::storage {

namespace {

/// While another process writes, what it is blanking looks damaged: how many times a reader tries in all, and the pause in
/// between.
constexpr int kReaderLooksMax = 3;
constexpr std::chrono::milliseconds kBetweenReaderLooks{50};

Result<void> prepare_directory(FileSystem& fs, const std::string& directory,
                               const std::string& segments, const StoreOptions& options,
                               std::unique_ptr<DirectoryLock>& lock) {
    const auto has = [&](std::string_view name) {
        return fs.exists(fmt::format("{}/{}", directory, name));
    };
    ANNALS_TRY_VOID(check_restored(fs, directory));
    if (!options.read_only && (has(kBackupManifest) || has(kBackupPartial))) {
        return Error{
            Errc::usage,
            fmt::format("{}: this is a backup: read it with --read-only, or restore it elsewhere",
                        directory)};
    }
    if (fs.exists(segments)) {
        ANNALS_TRY_VOID(check_format(fs, segments));
    } else if (const std::string lost = why_all_are_lost(fs, directory); !lost.empty()) {
        return damaged_at(1, 0, lost);
    } else if (options.read_only) {
        return Error{Errc::usage, fmt::format("{}: there is no store here", directory)};
    }
    if (options.read_only) {
        return {};
    }
    // An obstacle in the way, or lack of permission, isn't the store's fault.
    const auto unusable = [](Error error) {
        error.code = error.code == Errc::io ? Errc::usage : error.code;
        return error;
    };
    if (auto made = fs.make_directory(directory); !made) {
        return unusable(std::move(made.error()));
    }
    auto locked = fs.lock(directory);
    if (!locked) {
        return unusable(std::move(locked.error()));
    }
    lock = *std::move(locked);
    // Once more: whoever held the lock until now may have been interrupted.
    ANNALS_TRY_VOID(check_restored(fs, directory));
    ANNALS_TRY_VOID(fs.make_directory(segments));
    return fs.sync_directory(directory);
}

/// A copy of a backup may lack its end, and look like a store that ended earlier.
Result<void> check_backup(FileSystem& fs, const std::string& directory, bool allow_damaged,
                          OpenReport& report) {
    const auto manifest = read_backup_manifest(fs, directory);
    const Result<void> whole = !manifest    ? Result<void>(manifest.error())
                               : !*manifest ? Result<void>()
                                            : check_backup_parts(fs, directory, **manifest);
    // While a backup is made, or if it was not finished, the manifest is that of the one before.
    if (fs.exists(fmt::format("{}/{}", directory, kBackupPartial))) {
        log_warning(fmt::format(
            "{}: this backup is unfinished or in progress: parts of it may be missing", directory));
        return {};
    }
    if (whole) {
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

void Store::Impl::recover_search(const StoreOptions& options, SearchSetup with,
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
    report.versions_extracted =
        storage::recover_search({index, segments, setup, options.read_only}, saved, *checkpoint,
                                options.search_index.positions_retained, *feed);
    if (!options.read_only) {
        saver = std::make_unique<SearchSaver>(
            *checkpoint, *feed, [this] { return fingerprints(); },
            options.search_checkpoint_versions);
    }
}

Result<void> Store::Impl::keep_house(ErasureJournal::Content journal, const Recovered& recovered,
                                     PackPolicy packing) {
    const std::uint64_t erases = recovered.erases - journal.erases_done;  // Modulo 2^64.
    const OpenLog log{fs, directory, segments, index, *segment_writer, segment_files};
    eraser = std::make_unique<Eraser>(log, std::move(journal));
    auto forget_derived = [this, removed = false](std::span<const Position> erased) mutable {
        if (checkpoint != nullptr) {
            return checkpoint->forget(erased);
        }
        auto done = removed ? Result<void>() : SearchCheckpoint::remove_all(fs, directory);
        removed = done.has_value();
        return done;
    };
    Housekeeper::Left left;
    if (erases != 0) {
        ANNALS_TRY_VOID(forget_derived(recovered.unblanked));
        const auto bodies = eraser->blank(recovered.unblanked, erases);
        if (!bodies && bodies.error().code != Errc::no_store) {
            return bodies.error();
        }
        if (!bodies) {
            left = {erases, recovered.unblanked};
        }
        log_info(bodies ? fmt::format("erase: {} bodies of erased versions removed", *bodies)
                        : fmt::format("erase: {}", bodies.error().detail));
        static_cast<void>(eraser->take_damage());  // which is in the log
    }
    compaction = std::make_unique<Compaction>(log, *eraser, std::move(packing));
    housekeeper = std::make_unique<Housekeeper>(*eraser, *compaction, listeners,
                                                std::move(forget_derived), std::move(left));
    return {};
}

Result<void> Store::Impl::begin_writing(const StoreOptions& options, Recovered recovered,
                                        ErasureJournal::Content journal) {
    const std::function<Instant()> clock = options.clock ? options.clock : now;
    segment_writer = std::make_unique<SegmentWriter>(
        fs, directory + "/segments",
        SegmentWriter::Options{options.segment_bytes, options.prepare_segments, options.kept_bytes},
        store_id, segments);
    segment_writer->add_log_bytes(recovered.log_bytes);
    Result<void> begun;
    if (recovered.open) {
        segment_writer->resume(std::move(*recovered.open));
    } else {
        begun = segment_writer->begin(recovered.last_number + 1,
                                      {recovered.last_position.value + 1}, recovered.last_instant);
        const bool fresh = recovered.last_number == 0;
        if (!begun && (fresh || begun.error().code != Errc::no_store)) {
            return begun;
        }
    }
    sequencer = std::make_unique<Sequencer>(
        index,
        Sequencer::Start{.store_id = store_id,
                         .last_position = recovered.last_position,
                         .last_instant = recovered.last_instant,
                         .body_bytes_max = options.body_bytes_max,
                         .search = search != nullptr,
                         .identity = setup.identity,
                         .last_updated_column = setup.last_updated_column},
        clock);
    if (!begun) {
        log_warning(fmt::format("log: {}: read-only until this is resolved", begun.error().detail));
        sequencer->drop(WriteState::no_space);
    }
    ANNALS_TRY_VOID(keep_house(
        std::move(journal), recovered,
        PackPolicy{.enabled = options.pack_segments, .after = options.pack_after, .clock = clock}));
    log_writer = std::make_unique<LogWriter>(
        LogWriter::Parts{.sequencer = *sequencer,
                         .segments = *segment_writer,
                         .index = index,
                         .search = feed.get(),
                         .housekeeper = *housekeeper,
                         .listeners = listeners},
        LogWriter::Options{options.durability, options.sync_interval_ms});
    return {};
}

Result<std::unique_ptr<Store>> Store::open(FileSystem& fs, std::string directory,
                                           StoreOptions options, OpenReport* report) {
    const auto start = std::chrono::steady_clock::now();
    OpenReport unused;
    OpenReport& found = report != nullptr ? *report : unused;
    found = {};
    auto owned = std::make_unique<Impl>(fs, directory);
    const std::string segments = directory + "/segments";
    ANNALS_TRY_VOID(prepare_directory(fs, directory, segments, options, owned->lock));
    if (options.read_only) {
        ANNALS_TRY_VOID(check_backup(fs, directory, options.allow_damaged, found));
    }
    ANNALS_TRY(ErasureJournal::Content journal, options.read_only
                                                    ? ErasureJournal::read(fs, directory)
                                                    : ErasureJournal::read_durably(fs, directory));
    if (!options.read_only) {
        ANNALS_TRY(const bool replayed, replay(fs, segments, journal));
        journal.left = !replayed;
        if (journal.left && journal.erases_done > 0) {
            --journal.erases_done;  // So that the housekeeper comes back to it.
        }
    }
    std::optional<SearchCheckpointReader> saved;
    if (options.search) {
        saved.emplace(fs, directory);  // goes on reading while the log is being read
    }
    const auto look = [&] {
        return recover(fs, segments, options, journal, {owned->index, owned->segments, found});
    };
    auto looked = look();
    for (int looks = 1; options.read_only && !looked && looked.error().code == Errc::corrupt &&
                        looks < kReaderLooksMax;
         ++looks) {
        std::this_thread::sleep_for(kBetweenReaderLooks);
        owned = std::make_unique<Impl>(fs, directory);
        found = {};
        ANNALS_TRY(journal, ErasureJournal::read(fs, directory));
        looked = look();
    }
    ANNALS_TRY(Recovered recovered, std::move(looked));
    Impl* const impl = owned.get();
    while (recovered.last_number == 0 && recovered.store_id == 0) {
        recovered.store_id = random_u64();
    }
    impl->store_id = recovered.store_id;
    impl->log_bytes = recovered.log_bytes;
    std::unique_ptr<Store> store(new Store(std::move(owned)));
    if (options.search) {
        impl->recover_search(options, options.search(*store), *saved, found);
    }

    if (!options.read_only) {
        ANNALS_TRY_VOID(impl->begin_writing(options, std::move(recovered), std::move(journal)));
    }
    found.segments = impl->segments.size();
    found.resources = impl->index.totals({}).resources;
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return store;
}

}  // namespace annals::storage
