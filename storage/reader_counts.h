// ReaderCounts: who uses, without a lock, what one writer may replace.
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

/// The calling thread's place, below kThreadPlaces, among what is kept several times over so that threads need not take turns at
/// one cache line. Places are given in turn: of threads that ever asked, every sixteenth has the same.
inline std::size_t thread_place() noexcept {
    static constinit std::atomic<std::size_t> threads{0};
    // Found out at the first use, since what is known before that takes no test of its own.
    thread_local constinit std::size_t place = kThreadPlaces;
    if (place == kThreadPlaces) {
        place = threads.fetch_add(1, std::memory_order_relaxed) % kThreadPlaces;
    }
    return place;
}

inline constexpr std::size_t kCacheLineBytes = 64;

/// A reader counts itself in before it loads a pointer, so a writer that has put another in its place, and then sees each
/// count at zero, knows that nobody uses the old one. Both sides use the total order of sequentially consistent operations for it.
class ReaderCounts {
  public:
    /// Counts the calling thread in for as long as it lives, which is to be short: the writer may wait for it.
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

    /// Whether all who were there when this was called are gone. False also where others have come since.
    bool none() const noexcept {
        for (const Count& count : counts_) {
            if (count.readers.load() != 0) {
                return false;
            }
        }
        return true;
    }

    /// Waits until all who were there when this was called are gone.
    void await_none() const noexcept;

  private:
    struct alignas(kCacheLineBytes) Count {
        std::atomic<std::uint32_t> readers{0};
    };

    mutable std::array<Count, kThreadPlaces> counts_;
};

}  // namespace annals::storage
