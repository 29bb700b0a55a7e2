// The hash table of the index: resource keys to resource numbers.
//
// Layer:   storage; private to the index.
// Threads: one writer, any number of readers, no locks (index_arrays.h).

#pragma once

#include "core/base/digest.h"
#include "storage/index_arrays.h"
#include "storage/reader_counts.h"

#include <cstdint>
#include <vector>

namespace annals::storage {

inline constexpr std::uint64_t kTableShards = 256;

/// Open addressing, 8 bytes per slot: 32 bits of the key and the resource number plus one. Each shard grows on its own, so
/// growing takes a fraction of a millisecond even at ten million resources.
class KeyTable {
  public:
    /// The number of the resource that `equal(number)` confirms, plus one; 0 if there is none.
    template <typename Equal>
    std::uint32_t find(const Hash128& key, Equal&& equal) const {
        const ReaderCounts::Reader reader(readers_);
        const Table* table = shards_[shard_of(key)].table.read();
        return table != nullptr ? find_in(slots_of(*table), tag_of(key), equal) : 0;
    }

    /// As find(), for the writer.
    template <typename Equal>
    std::uint32_t find_as_writer(const Hash128& key, Equal&& equal) const {
        const Slots& slots = slots_[shard_of(key)];
        return slots.begin != nullptr ? find_in(slots, tag_of(key), equal) : 0;
    }

    /// Prefetches what find() reads first into the nearer caches.
    void fetch_ahead(const Hash128& key) const noexcept {
        const ReaderCounts::Reader reader(readers_);
        if (const Table* table = shards_[shard_of(key)].table.read(); table != nullptr) {
            const Slots slots = slots_of(*table);
            __builtin_prefetch(&slots.begin[home_of(tag_of(key), slots.capacity)]);
        }
    }

    /// Adds a key that is not in the table. Writer only.
    void insert(const Hash128& key, std::uint32_t number);

    /// Makes room for `entries` in total, in one piece of huge pages. Writer only.
    void reserve(std::uint64_t entries);

    /// Touches the memory from reserve(), concurrently with the writer.
    void touch_reserved() const noexcept { reserved_.touch(); }

    void reclaim() noexcept;

    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

    /// Prefetches the slot of `key`. Writer only.
    void prefetch(const Hash128& key) const noexcept;

    /// The number, plus one, that a search for `key` would try first; 0 if none. Writer only.
    std::uint32_t guess(const Hash128& key) const noexcept;

  private:
    struct Table {
        explicit Table(std::uint64_t count)
            : capacity(count), slots(allocate_zeroed<std::uint64_t>(count)) {
            owner.reset(slots, std::free);
        }

        /// Slots in memory that is shared with other shards.
        Table(std::shared_ptr<void> pages, std::uint64_t* at, std::uint64_t count)
            : capacity(count), owner(std::move(pages)), slots(at) {}

        std::uint64_t capacity;
        std::shared_ptr<void> owner;
        std::uint64_t* slots;
    };

    struct Slots {
        std::uint64_t* begin = nullptr;
        std::uint64_t capacity = 0;
    };

    struct Shard {
        Swapped<Table> table;
        std::uint64_t entries = 0;
    };

    static std::uint64_t shard_of(const Hash128& key) noexcept { return key.high >> 56; }

    static std::uint32_t tag_of(const Hash128& key) noexcept {
        return static_cast<std::uint32_t>(key.low >> 32);
    }

    static std::uint64_t home_of(std::uint32_t tag, std::uint64_t capacity) noexcept {
        return (tag * capacity) >> 32;
    }

    static Slots slots_of(const Table& table) noexcept { return {table.slots, table.capacity}; }

    template <typename Equal>
    static std::uint32_t find_in(const Slots& slots, std::uint32_t tag, Equal& equal) {
        for (std::uint64_t slot = home_of(tag, slots.capacity);;) {
            const std::uint64_t value = load_acquire(slots.begin[slot]);
            if (value == 0) {
                return 0;
            }
            if (value >> 32 == tag) {
                const auto number = static_cast<std::uint32_t>(value);
                if (equal(number - 1)) {
                    return number;
                }
            }
            slot = slot + 1 == slots.capacity ? 0 : slot + 1;
        }
    }

    static void place(const Slots& slots, std::uint64_t value) noexcept;
    void replace(Shard& shard, std::unique_ptr<Table> grown);

    ReaderCounts readers_;  ///< of all shards
    std::array<Shard, kTableShards> shards_;
    std::array<Slots, kTableShards> slots_;  ///< of all shards in 4 KiB, for the writer
    SharedPages reserved_;
    std::vector<Shard*> reclaimable_;
    std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace annals::storage
