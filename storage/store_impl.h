// Store::Impl: what a store is made of, in the order in which it goes away backwards.
//
// Layer:   storage; of store.cc and store_open.cc alone.
// Threads: as store.h says of each call.

#pragma once

#include "core/base/digest.h"
#include "storage/compaction.h"
#include "storage/eraser.h"
#include "storage/fetcher.h"
#include "storage/history_cleanup.h"
#include "storage/housekeeper.h"
#include "storage/index.h"
#include "storage/log_writer.h"
#include "storage/recovery.h"
#include "storage/resident_pages.h"
#include "storage/search_saver.h"
#include "storage/segment_footer.h"
#include "storage/sequencer.h"
#include "storage/store.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

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
    PerType<std::atomic<std::uint64_t>> search_mixes{};         ///< calls of mix_search()
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
        if (search != nullptr) {
            search
                ->give_up_rebuilds();  // behind the gate nothing is found any more, as if it had been erased
        }
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

    /// Goes on where the log ends: makes all that a read-only store has none of. Where there is no space for a segment now,
    /// no writes are taken yet. Errors: as Store::open.
    Result<void> begin_writing(FileSystem& fs, const std::string& directory,
                               const StoreOptions& options, Recovered recovered,
                               ErasureJournal::Content journal);

    /// Finishes what an earlier process had begun to erase, and begins to erase what will be.
    Result<void> keep_house(FileSystem& fs, const std::string& directory,
                            ErasureJournal::Content journal, const Recovered& recovered,
                            PackPolicy packing);

    /// Makes all that is in the log findable.
    void recover_search(FileSystem& fs, const std::string& directory, const StoreOptions& options,
                        SearchSetup with, SearchCheckpointReader& saved, OpenReport& report);
};

}  // namespace annals::storage
