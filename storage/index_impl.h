// Index::Impl: the index's data and the walks that its parts share.
//
// Layer:   storage; private to index*.cc.
// Threads: as in index.h. A version's entry does not change once its position is visible, except for its place and erased flag;
//          a resource's fields are atomic. The writer prepares everything about a version, then releases visible_; readers
//          acquire visible_ first and ignore everything beyond it.

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

/// The index's entry for a version. Positions have 32 bits here; 0 is none.
struct VersionEntry {
    /// Segment in the upper 24 bits, offset in the next 36, flags in the lowest four. Atomic: relocate() changes the location
    /// while the writer sets kErased.
    std::uint64_t place;
    std::int64_t instant;
    std::uint32_t resource;
    /// Number of its ChainLink plus one; 0: the first of its chain, and version 1.
    std::uint32_t link;
};

static_assert(sizeof(VersionEntry) == 24);

inline constexpr std::uint64_t kDeletion = 1;
/// The instants of the chain ascend up to this version, which allows binary search.
inline constexpr std::uint64_t kInstantsAscend = 2;
/// Of the same commit as the version before it in the log.
inline constexpr std::uint64_t kContinues = 4;
inline constexpr std::uint64_t kErased = 8;
inline constexpr unsigned kFlagBits = 4;
inline constexpr std::uint64_t kFlags = (std::uint64_t{1} << kFlagBits) - 1;
inline constexpr unsigned kOffsetBits = 36;
inline constexpr unsigned kSegmentBits = 24;
static_assert(kSegmentBits + kOffsetBits + kFlagBits == 64);

/// Converts a location to VersionEntry::place without flags, and back.
constexpr std::uint64_t place_of(const Location& location) noexcept {
    return std::uint64_t{location.segment} << (kOffsetBits + kFlagBits) | location.offset
                                                                              << kFlagBits;
}

constexpr Location location_of(std::uint64_t place) noexcept {
    return {.segment = static_cast<std::uint32_t>(place >> (kOffsetBits + kFlagBits)),
            .offset = place >> kFlagBits & ((std::uint64_t{1} << kOffsetBits) - 1)};
}

/// A version's place in its resource's chain. Not kept for most resources, which have only version 1.
struct ChainLink {
    std::uint32_t previous;  ///< position of the version before it
    std::uint32_t jump;      ///< position of an ancestor; itself for the first of a chain
    std::uint32_t ordinal;   ///< versions before it in its chain
    std::uint32_t version;
};

struct ResourceEntry {
    Hash128 key;
    std::uint32_t newest;  ///< position of the newest version, visible or not; 0: absent. Atomic
    std::uint16_t type;
    std::uint16_t was_erased;  ///< 1: its erased versions are in Impl::erasures. Atomic
};

static_assert(sizeof(ResourceEntry) == 24);

/// The erased versions of a resource; kept only for resources that have some.
struct ErasedVersions {
    std::uint32_t oldest;   ///< position of the oldest version not erased. Atomic
    std::uint32_t holes;    ///< erased versions after the oldest. Atomic
    std::uint32_t through;  ///< highest number ever erased. Atomic
};

inline constexpr std::uint64_t kBlock = 1024;

/// How many versions ahead add_batch() and links() prefetch resources.
inline constexpr std::size_t kResourcesAhead = 16;

/// Summary of kBlock consecutive members of a list. All atomic.
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

    /// How many members are at or before `bound`.
    std::uint64_t count_through(std::uint64_t bound) const noexcept;

    /// Memory in use, in bytes.
    std::uint64_t bytes() const noexcept;
};

/// A resource's chain as a reader sees it: everything at or before `bound`.
struct Chain {
    std::uint32_t newest = 0;  ///< newest version within the bound, erased or not; 0: none
    std::uint32_t oldest = 1;  ///< if nothing was erased: at or before the first
    const ErasedVersions* erased = nullptr;  ///< null: none

    std::uint32_t holes() const noexcept {
        return erased == nullptr ? 0 : load_relaxed(erased->holes);
    }
};

struct Index::Impl {
    Impl();

    ChunkedArray<VersionEntry, 18> versions;
    ChunkedArray<ChainLink, 18> links;
    ChunkedArray<ResourceEntry, 18> resources;
    SparseArray<ErasedVersions, 12> erasures;  ///< by the resource's number
    KeyTable keys;
    VersionList all;
    std::array<VersionList, kResourceTypeCount> types;
    std::atomic<std::uint64_t> visible = 0;
    std::atomic<std::uint32_t> resource_count = 0;
    std::atomic<std::uint32_t> link_count = 0;

    // The writer's own.
    std::uint64_t added = 0;
    std::vector<VersionList*> dirty;

    VersionEntry& entry(std::uint64_t position) const noexcept { return versions[position - 1]; }

    std::uint64_t flags(std::uint64_t position) const noexcept {
        return load_relaxed(entry(position).place);
    }

    bool erased(std::uint64_t position) const noexcept { return (flags(position) & kErased) != 0; }

    bool deletion(std::uint64_t position) const noexcept {
        return (flags(position) & kDeletion) != 0;
    }

    ChainLink link_of(std::uint32_t position) const noexcept {
        const std::uint32_t number = entry(position).link;
        return number == 0 ? ChainLink{.previous = 0, .jump = position, .ordinal = 0, .version = 1}
                           : links[number - 1];
    }

    std::uint16_t type_of(std::uint64_t position) const noexcept {
        return resources[entry(position).resource].type;
    }

    std::uint64_t bound_of(Position bound) const noexcept {
        const std::uint64_t through = visible.load(std::memory_order_acquire);
        return bound.value == 0 ? through : std::min(bound.value, through);
    }

    VersionInfo info(std::uint32_t position) const noexcept {
        const VersionEntry& from = entry(position);
        return {.position = {position},
                .version = {link_of(position).version},
                .instant = {from.instant},
                .type = {resources[from.resource].type},
                .deletion = deletion(position),
                .resource = from.resource};
    }

    const VersionList& list_of(std::optional<TypeId> type) const noexcept {
        return type ? types[type->value] : all;
    }

    /// The newest version from `position` backwards that satisfies `is_far_enough`, which holds for
    /// every version before one for which it holds; 0 if none does. Cost: O(log n).
    template <typename Predicate>
    std::uint32_t walk_back(std::uint32_t position, Predicate&& is_far_enough) const {
        while (!is_far_enough(position)) {
            const ChainLink here = link_of(position);
            if (here.previous == 0) {
                return 0;
            }
            position = is_far_enough(here.jump) ? here.previous : here.jump;
        }
        return position;
    }

    std::uint32_t find_version(std::uint32_t newest, std::uint64_t number) const {
        return walk_back(newest, [this, number](std::uint32_t position) {
            return link_of(position).version <= number;
        });
    }

    std::uint32_t find_ordinal(std::uint32_t newest, std::uint64_t ordinal) const {
        return walk_back(newest, [this, ordinal](std::uint32_t position) {
            return link_of(position).ordinal <= ordinal;
        });
    }

    std::uint32_t find_position(std::uint32_t newest, std::uint64_t bound) const {
        return walk_back(newest, [bound](std::uint32_t position) { return position <= bound; });
    }

    /// The ordinal of the oldest version of `chain` that is not erased. Requires: it has one.
    std::uint32_t first_ordinal(const Chain& chain) const noexcept {
        return chain.erased == nullptr ? 0 : link_of(chain.oldest).ordinal;
    }

    std::optional<std::uint32_t> find_resource(const Hash128& key) const;
    std::optional<std::uint32_t> find_resource_as_writer(const Hash128& key) const;

    /// The newest version of the resource that a search for `key` would try first; 0 if there is none. Writer only.
    std::uint32_t guess_newest(const Hash128& key) const noexcept;
    void prefetch_link(std::uint32_t position) const noexcept;

    Chain chain(std::uint32_t number, std::uint64_t bound) const;
    Chain chain(const Hash128& key, std::uint64_t bound) const;

    /// `position`, or 0 if the version there was erased, since the one before it was not current then. An erased deletion still
    /// counts.
    std::uint32_t standing(const Chain& chain, std::uint32_t position) const;
    /// The version that was current at `instant`; 0 if there was none or it was erased.
    std::uint32_t standing_at(const Chain& chain, Instant instant) const;

    HistoryPage resource_history(const HistoryQuery& query, const Chain& chain) const;
    HistoryPage whole_history(const HistoryQuery& query, const Chain& chain) const;
    HistoryPage ranked_history(const HistoryQuery& query, const Chain& chain) const;
    bool matches(std::uint64_t position, const HistoryQuery& query) const noexcept;

    void append(VersionList& list, std::uint32_t position, std::int64_t instant);
    void touch(VersionList& list);
    void publish_totals();

    /// What an erase has done so far.
    struct Erasing {
        std::vector<Position>* positions;  ///< receives those of what is erased, unless it is null
        std::uint64_t count = 0;           ///< of what is erased
        std::uint32_t highest = 0;         ///< version number, of what is erased now or was before
    };

    void mark_erased(std::uint32_t position, Erasing& erasing);
    /// Of the scope `version` or `through`.
    void erase_some(ResourceEntry& resource, ErasedVersions& erased_of_it,
                    const IndexedErase& erase, Erasing& erasing);
    void erase_all(ResourceEntry& resource, ErasedVersions& erased_of_it, bool but_newest,
                   Erasing& erasing);
    std::uint32_t link_to(std::uint32_t previous, std::uint32_t position, std::uint32_t version);
    ErasedVersions& erased_versions(std::uint32_t number);
    void forget(ResourceEntry& resource, ErasedVersions& erased);
    void advance_oldest(const ResourceEntry& resource, ErasedVersions& erased);
};

}  // namespace annals::storage
