#include "storage/index_tables.h"

namespace annals::storage {

namespace {

/// How many resources of a term an update is compared with before it is noted again.
constexpr int kRepeatsLookedFor = 16;

/// What is not worth huge pages of its own.
constexpr std::uint64_t kReservedBytesMin = 2 * kHugePage;

/// Slots of each shard when `entries` come, an even number: shards fill unevenly, so four standard deviations
/// of room, then 4/5 full.
std::uint64_t shard_capacity(std::uint64_t entries) {
    const double mean = static_cast<double>(entries) / kTableShards;
    const auto share = static_cast<std::uint64_t>(mean + 4 * __builtin_sqrt(mean));
    return (share + share / 4 + 16) / 2 * 2;
}

}  // namespace

void KeyTable::place(Table& table, std::uint64_t value) noexcept {
    std::uint64_t slot = home_of(static_cast<std::uint32_t>(value >> 32), table.capacity);
    while (load_relaxed(table.slots[slot]) != 0) {
        slot = slot + 1 == table.capacity ? 0 : slot + 1;
    }
    store_release(table.slots[slot], value);
}

void KeyTable::replace(Shard& shard, std::unique_ptr<Table> grown) {
    const std::uint64_t capacity = grown->capacity;
    if (const Table* old = shard.table.get(); old != nullptr) {
        for (std::uint64_t slot = 0; slot < old->capacity; ++slot) {
            if (const std::uint64_t value = load_relaxed(old->slots[slot]); value != 0) {
                place(*grown, value);
            }
        }
        bytes_.fetch_sub(old->capacity * sizeof(std::uint64_t), std::memory_order_relaxed);
        reclaimable_.push_back(&shard);
    }
    bytes_.fetch_add(capacity * sizeof(std::uint64_t), std::memory_order_relaxed);
    shard.table.swap_in(std::move(grown));
}

void KeyTable::insert(const Hash128& key, std::uint32_t number) {
    Shard& shard = shards_[shard_of(key)];
    if (const Table* table = shard.table.get();
        table == nullptr || table_full(shard.entries, table->capacity)) {
        replace(shard, std::make_unique<Table>(table_capacity(shard.entries)));
    }
    place(*shard.table.get(), std::uint64_t{tag_of(key)} << 32 | (number + 1));
    ++shard.entries;
}

void KeyTable::reserve(std::uint64_t entries) {
    const std::uint64_t capacity = shard_capacity(entries);
    if (kTableShards * capacity * sizeof(std::uint64_t) < kReservedBytesMin) {
        return;  // Shards that grow from nothing serve as well.
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
    std::erase_if(reclaimable_, [](Shard* shard) { return shard->table.reclaim(); });
}

void KeyTable::prefetch(const Hash128& key) const noexcept {
    if (const Table* table = shards_[shard_of(key)].table.get(); table != nullptr) {
        __builtin_prefetch(&table->slots[home_of(tag_of(key), table->capacity)]);
    }
}

std::uint32_t KeyTable::guess(const Hash128& key) const noexcept {
    const Table* table = shards_[shard_of(key)].table.get();
    if (table == nullptr) {
        return 0;
    }
    const std::uint32_t tag = tag_of(key);
    for (std::uint64_t slot = home_of(tag, table->capacity); slot < table->capacity; ++slot) {
        const std::uint64_t value = load_relaxed(table->slots[slot]);
        if (value == 0 || value >> 32 == tag) {
            return static_cast<std::uint32_t>(value);
        }
    }
    return 0;
}

std::uint64_t TermTable::home_of(const Table& table, std::uint64_t term) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(Wide{term << 8} * table.capacity >> 64);
}

void TermTable::prefetch(std::uint64_t term) const noexcept {
    if (const Table* table = shards_[term >> 56].table.get(); table != nullptr) {
        const std::uint64_t slot = home_of(*table, term);
        __builtin_prefetch(&table->terms[slot]);
        __builtin_prefetch(&table->values[slot], 1);
    }
}

std::uint64_t TermTable::slot_of(const Table& table, std::uint64_t term) noexcept {
    std::uint64_t slot = home_of(table, term);
    for (;;) {
        const std::uint64_t there = load_acquire(table.terms[slot]);
        if (there == 0 || there == term) {
            return slot;
        }
        slot = slot + 1 == table.capacity ? 0 : slot + 1;
    }
}

void TermTable::replace(Shard& shard, std::unique_ptr<Table> grown) {
    const std::uint64_t capacity = grown->capacity;
    if (const Table* old = shard.table.get(); old != nullptr) {
        for (std::uint64_t from = 0; from < old->capacity; ++from) {
            if (const std::uint64_t term = load_relaxed(old->terms[from]); term != 0) {
                const std::uint64_t to = slot_of(*grown, term);
                store_relaxed(grown->values[to], load_relaxed(old->values[from]));
                store_relaxed(grown->terms[to], term);
            }
        }
        bytes_.fetch_sub(old->capacity * kSlotBytes, std::memory_order_relaxed);
        reclaimable_.push_back(&shard);
    }
    bytes_.fetch_add(capacity * kSlotBytes, std::memory_order_relaxed);
    shard.table.swap_in(std::move(grown));
}

void TermTable::reserve(std::uint64_t terms) {
    const std::uint64_t capacity = shard_capacity(terms);
    if (kTableShards * capacity * kSlotBytes < kReservedBytesMin) {
        return;
    }
    const auto pages = allocate_shared_pages(kTableShards * capacity * kSlotBytes, reserved_);
    char* at = pages.get();
    for (Shard& shard : shards_) {
        if (const Table* there = shard.table.get();
            there == nullptr || there->capacity < capacity) {
            const std::shared_ptr<void> memory(pages, at);
            replace(shard, std::make_unique<Table>(memory, capacity));
        }
        at += capacity * kSlotBytes;
    }
}

void TermTable::add(std::uint64_t term, std::uint32_t resource, bool fresh) {
    term += term == 0 ? 1 : 0;
    Shard& shard = shards_[term >> 56];
    if (const Table* table = shard.table.get();
        table == nullptr || table_full(shard.entries, table->capacity)) {
        replace(shard, std::make_unique<Table>(table_capacity(shard.entries)));
    }
    Table& table = *shard.table.get();
    const std::uint64_t slot = slot_of(table, term);
    const std::uint32_t first = load_relaxed(table.values[slot]);
    if (first == 0) {
        store_relaxed(table.values[slot], resource + 1);
        store_release(table.terms[slot], term);
        ++shard.entries;
        return;
    }
    // A fresh resource can only meet itself at the front: its own version named the term twice.
    std::uint32_t next = first;
    for (int i = fresh ? 1 : kRepeatsLookedFor; i > 0; --i) {
        if ((next & kLinked) == 0) {
            if (next == resource + 1) {
                return;
            }
            break;
        }
        const Link& link = links_[next & ~kLinked];
        if (link.resource == resource) {
            return;
        }
        next = link.next;
    }
    ANNALS_CHECK(link_count_ < kLinked);
    bytes_.fetch_add(links_.ensure(link_count_), std::memory_order_relaxed);
    links_[link_count_] = {.resource = resource, .next = first};
    store_release(table.values[slot], link_count_ | kLinked);
    ++link_count_;
}

void TermTable::collect(std::uint64_t term, std::vector<std::uint32_t>& into) const {
    term += term == 0 ? 1 : 0;
    const Swapped<Table>::Reader reader(shards_[term >> 56].table);
    const Table* table = reader.get();
    if (table == nullptr) {
        return;
    }
    const std::uint64_t slot = slot_of(*table, term);
    if (load_relaxed(table->terms[slot]) == 0) {
        return;
    }
    std::uint32_t next = load_acquire(table->values[slot]);
    while ((next & kLinked) != 0) {
        const Link& link = links_[next & ~kLinked];
        into.push_back(link.resource);
        next = link.next;
    }
    into.push_back(next - 1);
}

void TermTable::reclaim() noexcept {
    std::erase_if(reclaimable_, [](Shard* shard) { return shard->table.reclaim(); });
}

}  // namespace annals::storage
