// Index::Impl: the index's data and the walks that its parts share.
//
// Layer:   storage; private to index*.cc.
// Threads: as in index.h. A version's entry does not change once its position is visible, but for the
//          erased flag; a resource's fields are atomic. The writer prepares everything about a
//          version, then releases visible_; readers acquire visible_ first and pass over whatever
//          lies beyond it.

#pragma once

#include "storage/index.h"
#include "storage/index_arrays.h"
#include "storage/index_tables.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace annals::storage {

/// What the index keeps of a version. Positions are 32 bits here; 0 is none.
struct VersionEntry {
    std::uint64_t location;  ///< segment in the upper 24 bits, offset in the lower 40. Atomic
    std::int64_t instant;
    std::uint32_t resource;
    std::uint32_t previous;  ///< position of the version before it
    std::uint32_t jump;      ///< position of an ancestor; itself for the first of a chain
    std::uint32_t ordinal;   ///< versions before it in its chain
    std::uint32_t version;
    std::uint16_t type;
    std::uint8_t erased;  ///< atomic
    std::uint8_t flags;
};

static_assert(sizeof(VersionEntry) == 40);

inline constexpr std::uint8_t kDeletion = 1;
/// The instants of the chain ascend up to this version, so that they can be searched.
inline constexpr std::uint8_t kInstantsAscend = 2;
/// Of the same commit as the version before it in the log.
inline constexpr std::uint8_t kContinues = 4;

struct ResourceEntry {
    Hash128 key;
    std::uint32_t newest;  ///< position of the newest version, visible or not; 0: absent. Atomic
    std::uint32_t oldest;  ///< position of the oldest version not erased. Atomic
    std::uint32_t holes;   ///< erased versions after the oldest. Atomic
    std::uint32_t erased_through;  ///< highest number ever erased. Atomic
};

static_assert(sizeof(ResourceEntry) == 32);

inline constexpr std::uint64_t kBlock = 1024;

/// What is known of kBlock consecutive members of a list. All atomic.
struct BlockSummary {
    std::int64_t min;
    std::int64_t max;
    std::uint64_t erased;
};

/// Versions in commit order: of one type, or of the whole store.
struct VersionList {
    DoublingArray<std::uint32_t, 10> positions;  ///< unused for the whole store: index plus one
    DoublingArray<BlockSummary, 4> blocks;
    std::atomic<std::uint64_t> size = 0;
    std::atomic<std::uint64_t> erased = 0;
    std::atomic<bool> instants_ascend = true;
    std::atomic<std::uint64_t> versions = 0;  ///< Totals as published
    std::atomic<std::uint64_t> live = 0;
    std::atomic<std::uint64_t> resources = 0;

    // The writer's own.
    std::int64_t newest_instant = std::numeric_limits<std::int64_t>::min();
    Totals totals;
    bool dirty = false;
    bool whole_store = false;

    std::uint32_t position(std::uint64_t index) const noexcept {
        return whole_store ? static_cast<std::uint32_t>(index + 1) : positions[index];
    }

    /// How many members stand at or before `bound`.
    std::uint64_t count_through(std::uint64_t bound) const noexcept;
};

/// Where a reader stands: everything at or before `bound`, in a resource's chain.
struct Chain {
    const ResourceEntry* resource = nullptr;
    std::uint32_t number = 0;
    std::uint32_t newest = 0;  ///< newest version within the bound, erased or not; 0: none
    std::uint32_t oldest = 0;
};

struct Index::Impl {
    Impl();

    ChunkedArray<VersionEntry, 18> versions;
    ChunkedArray<ResourceEntry, 16> resources;
    KeyTable keys;
    VersionList all;
    std::array<VersionList, kResourceTypeCount> types;
    std::atomic<std::uint64_t> visible = 0;
    std::atomic<std::uint32_t> resource_count = 0;
    std::atomic<std::uint64_t> bytes = 0;

    // The writer's own.
    std::uint64_t added = 0;
    std::vector<VersionList*> dirty;

    VersionEntry& entry(std::uint64_t position) const noexcept { return versions[position - 1]; }

    bool erased(std::uint64_t position) const noexcept {
        return load_relaxed(entry(position).erased) != 0;
    }

    bool deletion(std::uint64_t position) const noexcept {
        return (entry(position).flags & kDeletion) != 0;
    }

    std::uint64_t bound_of(Position bound) const noexcept {
        const std::uint64_t through = visible.load(std::memory_order_acquire);
        return bound.value == 0 ? through : std::min(bound.value, through);
    }

    VersionInfo info(std::uint64_t position) const noexcept {
        const VersionEntry& from = entry(position);
        return {.position = {position},
                .version = {from.version},
                .instant = {from.instant},
                .type = {from.type},
                .deletion = (from.flags & kDeletion) != 0,
                .resource = from.resource};
    }

    const VersionList& list_of(std::optional<TypeId> type) const noexcept {
        return type ? types[type->value] : all;
    }

    /// The newest version from `position` backwards that satisfies `is_far_enough`, which holds for
    /// every version before one for which it holds; 0 if none does. Cost: O(log n).
    template <typename Predicate>
    std::uint32_t walk_back(std::uint32_t position, Predicate&& is_far_enough) const {
        while (!is_far_enough(entry(position), position)) {
            const VersionEntry& here = entry(position);
            if (here.previous == 0) {
                return 0;
            }
            position = is_far_enough(entry(here.jump), here.jump) ? here.previous : here.jump;
        }
        return position;
    }

    std::uint32_t find_version(std::uint32_t newest, std::uint64_t number) const {
        return walk_back(newest, [number](const VersionEntry& there, std::uint32_t) {
            return there.version <= number;
        });
    }

    std::uint32_t find_ordinal(std::uint32_t newest, std::uint64_t ordinal) const {
        return walk_back(newest, [ordinal](const VersionEntry& there, std::uint32_t) {
            return there.ordinal <= ordinal;
        });
    }

    std::uint32_t find_position(std::uint32_t newest, std::uint64_t bound) const {
        return walk_back(newest, [bound](const VersionEntry&, std::uint32_t position) {
            return position <= bound;
        });
    }

    std::optional<std::uint32_t> find_resource(const Hash128& key) const;
    std::optional<std::uint32_t> find_resource_as_writer(const Hash128& key) const;
    Chain chain(std::uint32_t number, std::uint64_t bound) const;
    Chain chain(const Hash128& key, std::uint64_t bound) const;

    /// From `position` of the chain backwards, the first version that says how the resource stood then.
    std::uint32_t standing(const Chain& chain, std::uint32_t position) const;
    std::uint32_t standing_at(const Chain& chain, Instant instant) const;

    HistoryPage resource_history(const HistoryQuery& query, const Chain& chain) const;
    HistoryPage list_history(const HistoryQuery& query, const VersionList& list,
                             std::uint64_t bound) const;
    void fill_by_instant(const HistoryQuery& query, const VersionList& list, std::uint64_t size,
                         HistoryPage& page) const;
    bool matches(std::uint64_t position, const HistoryQuery& query) const noexcept;

    void append(VersionList& list, std::uint32_t position, std::int64_t instant);
    void touch(VersionList& list);
    void publish_totals();
    void mark_erased(std::uint32_t position);
    void forget(ResourceEntry& resource);
    void advance_oldest(ResourceEntry& resource);
};

}  // namespace annals::storage
