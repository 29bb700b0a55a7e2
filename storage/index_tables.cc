#include "storage/index_tables.h"

namespace annals::storage {

namespace {

/// Less is not worth huge pages of its own.
constexpr std::uint64_t kReservedBytesMin = 2 * kHugePage;

/// Slots per shard for `entries` in total, an even number: shards fill unevenly, so four standard deviations of room, then 4/5
/// full.
std::uint64_t shard_capacity(std::uint64_t entries) {
    const double mean = static_cast<double>(entries) / kTableShards;
    const auto share = static_cast<std::uint64_t>(mean + 4 * __builtin_sqrt(mean));
    return (share + share / 4 + 16) / 2 * 2;
}

}  // namespace

void KeyTable::place(const Slots& slots, std::uint64_t value) noexcept {
    std::uint64_t slot = home_of(static_cast<std::uint32_t>(value >> 32), slots.capacity);
    while (load_relaxed(slots.begin[slot]) != 0) {
        slot = slot + 1 == slots.capacity ? 0 : slot + 1;
    }
    store_release(slots.begin[slot], value);
}

void KeyTable::replace(Shard& shard, std::unique_ptr<Table> grown) {
    const Slots slots = slots_of(*grown);
    if (const Table* old = shard.table.get(); old != nullptr) {
        for (std::uint64_t slot = 0; slot < old->capacity; ++slot) {
            if (const std::uint64_t value = load_relaxed(old->slots[slot]); value != 0) {
                place(slots, value);
            }
        }
        bytes_.fetch_sub(old->capacity * sizeof(std::uint64_t), std::memory_order_relaxed);
        reclaimable_.push_back(&shard);
    }
    bytes_.fetch_add(slots.capacity * sizeof(std::uint64_t), std::memory_order_relaxed);
    slots_[static_cast<std::size_t>(&shard - shards_.data())] = slots;
    shard.table.swap_in(std::move(grown));
}

void KeyTable::insert(const Hash128& key, std::uint32_t number) {
    Shard& shard = shards_[shard_of(key)];
    const Slots& slots = slots_[shard_of(key)];
    if (slots.begin == nullptr || table_full(shard.entries, slots.capacity)) {
        replace(shard, std::make_unique<Table>(table_capacity(shard.entries)));
    }
    place(slots, std::uint64_t{tag_of(key)} << 32 | (number + 1));
    ++shard.entries;
}

void KeyTable::reserve(std::uint64_t entries) {
    const std::uint64_t capacity = shard_capacity(entries);
    if (kTableShards * capacity * sizeof(std::uint64_t) < kReservedBytesMin) {
        return;  // Shards that grow from nothing do as well.
    }
    const auto pages =
        allocate_shared_pages(kTableShards * capacity * sizeof(std::uint64_t), reserved_);
    auto* slots = reinterpret_cast<std::uint64_t*>(pages.get());
    for (Shard& shard : shards_) {
        if (const Table* there = shard.table.get();
            there == nullptr || there->capacity < capacity) {
            replace(shard, std::make_unique<Table>(pages, slots, capacity));
        }
        slots += capacity;
    }
}

void KeyTable::reclaim() noexcept {
    if (reclaimable_.empty() || !readers_.none()) {
        return;
    }
    for (Shard* shard : reclaimable_) {
        shard->table.reclaim();
    }
    reclaimable_.clear();
}

void KeyTable::prefetch(const Hash128& key) const noexcept {
    if (const Slots& slots = slots_[shard_of(key)]; slots.begin != nullptr) {
        __builtin_prefetch(&slots.begin[home_of(tag_of(key), slots.capacity)]);
    }
}

std::uint32_t KeyTable::guess(const Hash128& key) const noexcept {
    const Slots& slots = slots_[shard_of(key)];
    if (slots.begin == nullptr) {
        return 0;
    }
    const std::uint32_t tag = tag_of(key);
    for (std::uint64_t slot = home_of(tag, slots.capacity); slot < slots.capacity; ++slot) {
        const std::uint64_t value = load_relaxed(slots.begin[slot]);
        if (value == 0 || value >> 32 == tag) {
            return static_cast<std::uint32_t>(value);
        }
    }
    return 0;
}

}  // namespace annals::storage
