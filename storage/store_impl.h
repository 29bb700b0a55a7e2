// Store::Impl: the parts of a store, which are destroyed in reverse order.
//
// Layer:   storage; private to store.cc and store_open.cc.
// Threads: as store.h says for each call.

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
#include "storage/segment_files.h"
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
#include <utility>

namespace annals::storage {

struct Store::Impl {
    Impl(FileSystem& file_system, std::string folder)
        : fs(file_system), directory(std::move(folder)), resident(fs) {}

    FileSystem& fs;
    const std::string directory;
    std::uint64_t store_id = 0;
    std::unique_ptr<DirectoryLock> lock;
    SegmentTable segments;
    Index index;
    ResidentPages resident;
    std::uint64_t log_bytes = 0;  ///< of a read-only store

    // Null without search.
    std::unique_ptr<SearchIndex> search;
    SearchSetup setup;
    PerType<std::atomic<std::uint64_t>> search_fingerprints{};  ///< 0: not indexed uniformly
    PerType<std::atomic<std::uint64_t>> search_mixes{};         ///< calls of mix_search()
    std::unique_ptr<SearchFeed> feed;
    std::unique_ptr<SearchCheckpoint> checkpoint;
    std::unique_ptr<SearchSaver> saver;  ///< null in a read-only store, too

    /// Lets the search index's thread use the store, for rebuilds, until the store closes.
    struct Gate {
        std::mutex mutex;
        bool open = true;
    };

    std::shared_ptr<Gate> gate = std::make_shared<Gate>();

    ~Impl() {
        if (search != nullptr) {
            search->give_up_rebuilds();  // once the gate is closed, every version would look erased
        }
        const std::scoped_lock closing(gate->mutex);
        gate->open = false;
    }

    // Null in a read-only store. In this order: each uses those above it.
    SettleListeners listeners;
    SegmentFiles segment_files;
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

    Fetcher fetcher;  ///< last: it uses the rest

    Hash128 key(TypeId type, std::string_view id) const noexcept {
        return resource_key(store_id, type, id);
    }

    /// The key of the one resource that a query is about; none if it is about many.
    std::optional<Hash128> key_of(const HistoryQuery& query) const noexcept {
        return query.type && query.id ? std::optional(key(*query.type, *query.id)) : std::nullopt;
    }

    /// Whether it is the newest segment, which is being written to, or was until the device was full.
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

    /// Continues at the end of the log: makes everything that a read-only store lacks. If there is no space for a segment now,
    /// writes are refused until there is. Errors: as Store::open.
    Result<void> begin_writing(const StoreOptions& options, Recovered recovered,
                               ErasureJournal::Content journal);

    /// Finishes the erasures that an earlier process had begun, and starts housekeeping.
    Result<void> keep_house(ErasureJournal::Content journal, const Recovered& recovered,
                            PackPolicy packing);

    /// Makes everything in the log searchable.
    void recover_search(const StoreOptions& options, SearchSetup with,
                        SearchCheckpointReader& saved, OpenReport& report);
};

}  // namespace annals::storage
