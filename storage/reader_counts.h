// ReaderCounts: counts those who use, without a lock, what one writer may replace.
//
// Layer:   storage.
// Threads: Reader on any; none() and await_none() on the writer's.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace annals::storage {

inline constexpr std::size_t kThreadPlaces = 16;

/// The calling thread's place, below kThreadPlaces, in data that exists several times so that threads don't contend for one
/// cache line. Places are given in turn: every sixteenth of the threads that ever asked has the same.
inline std::size_t thread_place() noexcept {
    static constinit std::atomic<std::size_t> threads{0};
    // Assigned at the first use: a constant initializer needs no guard.
    thread_local constinit std::size_t place = kThreadPlaces;
    if (place == kThreadPlaces) {
        place = threads.fetch_add(1, std::memory_order_relaxed) % kThreadPlaces;
    }
    return place;
}

inline constexpr std::size_t kCacheLineBytes = 64;

/// A reader counts itself in before it loads a pointer, so a writer that has replaced the pointer and then sees every count at
/// zero knows that nobody uses the old one. Both rely on the total order of sequentially consistent operations.
class ReaderCounts {
  public:
    /// Counts the calling thread in during its lifetime, which must be short: the writer may wait for it.
    class Reader {
      public:
        explicit Reader(const ReaderCounts& counts) noexcept
            : count_(counts.counts_[thread_place()].readers) {
            count_.fetch_add(1);
        }

        ~Reader() { count_.fetch_sub(1); }

        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;

      private:
        std::atomic<std::uint32_t>& count_;
    };

    /// Whether all readers that were there at the call are gone. Also false if others have come since.
    bool none() const noexcept {
        for (const Count& count : counts_) {
            if (count.readers.load() != 0) {
                return false;
            }
        }
        return true;
    }

    /// Waits until all readers that were there at the call are gone.
    void await_none() const noexcept;

  private:
    struct alignas(kCacheLineBytes) Count {
        std::atomic<std::uint32_t> readers{0};
    };

    mutable std::array<Count, kThreadPlaces> counts_;
};

}  // namespace annals::storage
