// The index's building blocks: arrays whose elements never move, tables that are swapped, and memory in huge pages.
//
// Layer:   storage; private to the index, except that search_run.cc uses the huge pages.
// Threads: one writer, any number of readers. An element may be read once the writer has released
//          something (a size, a head, the visible position) that the reader acquired.

#pragma once

#include "core/base/check.h"
#include "core/base/owned.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace annals::storage {

/// Atomic reads and writes of plain members, in memory that the system provided zeroed.
template <typename T>
T load_relaxed(const T& from) noexcept {
    return std::atomic_ref<T>(const_cast<T&>(from)).load(std::memory_order_relaxed);
}

template <typename T>
T load_acquire(const T& from) noexcept {
    return std::atomic_ref<T>(const_cast<T&>(from)).load(std::memory_order_acquire);
}

template <typename T>
void store_relaxed(T& to, T value) noexcept {
    std::atomic_ref<T>(to).store(value, std::memory_order_relaxed);
}

template <typename T>
void store_release(T& to, T value) noexcept {
    std::atomic_ref<T>(to).store(value, std::memory_order_release);
}

/// Allocates zeroed memory whose pages cost nothing until they are touched.
template <typename T>
T* allocate_zeroed(std::uint64_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    void* memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return static_cast<T*>(memory);
}

template <typename T>
using ZeroedArray = Owned<T[], std::free>;

/// Zeroed memory in huge pages where the system has them: random look-ups then miss the TLB less often.
/// Requires: `bytes` is a multiple of kHugePage. Free with free_pages().
inline constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kSmallPage = 4096;
void* allocate_pages(std::uint64_t bytes);
void free_pages(void* memory, std::uint64_t bytes) noexcept;

/// Pages that many tables share, freed with the last of them.
struct SharedPages {
    std::weak_ptr<char> memory;
    std::uint64_t bytes = 0;

    /// Touches those that are still allocated. Any thread.
    void touch() const noexcept;
};

/// allocate_pages() for `bytes`, rounded up; noted in `pages`.
std::shared_ptr<char> allocate_shared_pages(std::uint64_t bytes, SharedPages& pages);

/// Makes the system provide the pages of memory from allocate_pages() now, since first touches are most of the cost of filling
/// it. Any thread; the contents stay, including what is written meanwhile.
void touch_pages(void* memory, std::uint64_t bytes) noexcept;

/// Array in chunks of equal size, for large arrays. Memory is used one huge page at a time, as it fills.
template <typename T, unsigned kChunkBits>
class ChunkedArray {
  public:
    static constexpr std::uint64_t kChunk = std::uint64_t{1} << kChunkBits;
    static constexpr std::uint64_t kChunkBytes = kChunk * sizeof(T);
    static constexpr std::uint64_t kChunks = (std::uint64_t{1} << 32) / kChunk;
    static_assert(kChunkBytes % kHugePage == 0);

    ChunkedArray() : chunks_(allocate_zeroed<T*>(kChunks)) {}

    ~ChunkedArray() {
        for (std::uint64_t i = 0; i < kChunks && chunks_[i] != nullptr; ++i) {
            free_pages(chunks_[i], kChunkBytes);
        }
    }

    ChunkedArray(const ChunkedArray&) = delete;
    ChunkedArray& operator=(const ChunkedArray&) = delete;

    T& operator[](std::uint64_t index) const noexcept {
        return load_acquire(chunks_[index >> kChunkBits])[index & (kChunk - 1)];
    }

    /// Makes element `index` exist. Writer only; indexes ascend without a gap.
    void ensure(std::uint64_t index) {
        T*& chunk = chunks_[index >> kChunkBits];
        if (chunk == nullptr) [[unlikely]] {
            store_release(chunk, static_cast<T*>(allocate_pages(kChunkBytes)));
        }
    }

    /// touch_pages() for the elements [begin, end), whose chunks must exist. Any thread.
    void touch(std::uint64_t begin, std::uint64_t end) const noexcept {
        while (begin < end) {
            const std::uint64_t offset = begin & (kChunk - 1);
            const std::uint64_t count = std::min(kChunk - offset, end - begin);
            touch_pages(&(*this)[begin], count * sizeof(T));
            begin += count;
        }
    }

    /// Memory in use with `size` elements.
    static std::uint64_t bytes(std::uint64_t size) noexcept {
        return kChunks * sizeof(T*) + (size * sizeof(T) + kHugePage - 1) / kHugePage * kHugePage;
    }

  private:
    ZeroedArray<T*> chunks_;
};

/// Array of which only a few elements, anywhere in it, are ever used. Only chunks with used elements exist.
template <typename T, unsigned kChunkBits>
class SparseArray {
  public:
    SparseArray() : chunks_(allocate_zeroed<T*>(kChunks)) {}

    ~SparseArray() {
        for (std::uint64_t i = 0; i < end_; ++i) {
            std::free(chunks_[i]);
        }
    }

    SparseArray(const SparseArray&) = delete;
    SparseArray& operator=(const SparseArray&) = delete;

    /// Requires: the element exists.
    T& operator[](std::uint64_t index) const noexcept {
        return load_acquire(chunks_[index >> kChunkBits])[index & (kChunk - 1)];
    }

    /// Makes element `index` exist, zero if it is new. Writer only.
    void ensure(std::uint64_t index) {
        T*& chunk = chunks_[index >> kChunkBits];
        if (chunk == nullptr) {
            store_release(chunk, allocate_zeroed<T>(kChunk));
            end_ = std::max(end_, (index >> kChunkBits) + 1);
            bytes_.fetch_add(kChunk * sizeof(T), std::memory_order_relaxed);
        }
    }

    std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::uint64_t kChunk = std::uint64_t{1} << kChunkBits;
    static constexpr std::uint64_t kChunks = (std::uint64_t{1} << 32) / kChunk;

    ZeroedArray<T*> chunks_;
    std::uint64_t end_ = 0;
    std::atomic<std::uint64_t> bytes_ = 0;
};

/// Array whose chunks double in size, for arrays that are many: an empty one costs a few hundred bytes.
template <typename T, unsigned kFirstBits>
class DoublingArray {
  public:
    DoublingArray() = default;

    ~DoublingArray() {
        for (T* chunk : chunks_) {
            std::free(chunk);
        }
    }

    DoublingArray(const DoublingArray&) = delete;
    DoublingArray& operator=(const DoublingArray&) = delete;

    T& operator[](std::uint64_t index) const noexcept {
        const unsigned chunk = chunk_of(index);
        return load_acquire(chunks_[chunk])[index - begin_of(chunk)];
    }

    /// Makes element `index` exist. Writer only.
    void ensure(std::uint64_t index) {
        const unsigned number = chunk_of(index);
        T*& chunk = chunks_[number];
        if (chunk == nullptr) [[unlikely]] {
            const std::uint64_t count = std::uint64_t{1}
                                        << (number == 0 ? kFirstBits : kFirstBits + number - 1);
            store_release(chunk, allocate_zeroed<T>(count));
        }
    }

    /// Memory in use with `size` elements: the rest of a chunk is untouched, except in the first.
    static std::uint64_t bytes(std::uint64_t size) noexcept {
        constexpr std::uint64_t kFirst = (std::uint64_t{1} << kFirstBits) * sizeof(T);
        const std::uint64_t pages = (size * sizeof(T) + kSmallPage - 1) / kSmallPage * kSmallPage;
        return size == 0 ? 0 : std::max(kFirst, pages);
    }

  private:
    static unsigned chunk_of(std::uint64_t index) noexcept {
        const auto width = static_cast<unsigned>(std::bit_width(index));
        return width <= kFirstBits ? 0 : width - kFirstBits;
    }

    static std::uint64_t begin_of(unsigned chunk) noexcept {
        return chunk == 0 ? 0 : std::uint64_t{1} << (kFirstBits + chunk - 1);
    }

    std::array<T*, 34 - kFirstBits> chunks_{};
};

/// Pointer to a table that readers use without a lock and the writer replaces. A reader must be counted in (ReaderCounts)
/// before read() and for as long as it uses the table.
template <typename Table>
class Swapped {
  public:
    Swapped() = default;

    ~Swapped() {
        delete table_.load();
        for (Table* table : retired_) {
            delete table;
        }
    }

    Swapped(const Swapped&) = delete;
    Swapped& operator=(const Swapped&) = delete;

    /// The table, for a reader; null if there is none yet.
    const Table* read() const noexcept { return table_.load(); }

    /// The table, for the writer.
    Table* get() const noexcept { return table_.load(std::memory_order_relaxed); }

    void swap_in(std::unique_ptr<Table> table) {
        Table* old = table_.load(std::memory_order_relaxed);
        if (old != nullptr) {
            retired_.push_back(old);
        }
        table_.store(table.release());
    }

    /// Frees replaced tables. Writer only. Requires: no reader from before the replacement is left.
    void reclaim() noexcept {
        for (Table* table : retired_) {
            delete table;
        }
        retired_.clear();
    }

  private:
    std::atomic<Table*> table_ = nullptr;
    std::vector<Table*> retired_;
};

/// Capacity for a table of `entries` that can grow by an eighth and is at most 4/5 full.
constexpr std::uint64_t table_capacity(std::uint64_t entries) noexcept {
    return entries + entries * 13 / 32 + 16;
}

/// Whether a table of `capacity` with `entries` must grow before it takes one more.
constexpr bool table_full(std::uint64_t entries, std::uint64_t capacity) noexcept {
    return (entries + 1) * 5 > capacity * 4;
}

}  // namespace annals::storage
