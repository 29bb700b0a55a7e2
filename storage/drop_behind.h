// DropBehind: what of the log is left in the system's memory behind the writer.
//
// Layer:   storage.
// Threads: the log writer's.

#pragma once

#include "storage/file_system.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>

namespace annals::storage {

/// While much is written, lets the system forget what is older than the newest `kept_bytes` of it, but for what has been
/// read: for machines where memory that is used again costs a fraction of what fresh memory does (docs/performance.md).
/// Below some rate what the system keeps is its own affair.
class DropBehind {
  public:
    using Clock = std::chrono::steady_clock;

    /// Forgotten at once: a call to the system costs little for so many.
    static constexpr std::uint64_t kChunk = 4 << 20;

    /// What is older than this when `kept_bytes` more have been written stays.
    static constexpr std::chrono::seconds kPoured{10};

    /// `kept_bytes` 0: nothing is forgotten. Lifetime: `fs` outlives it.
    DropBehind(FileSystem& fs, std::string directory, std::uint64_t kept_bytes)
        : fs_(fs), directory_(std::move(directory)), kept_bytes_(kept_bytes) {}

    /// The segment of that number in `directory` is written from `offset` on, and the one before no more.
    void begin(std::uint64_t number, std::uint64_t offset);

    /// It is durable up to `end`, since `now`. Requires: begin() was called.
    void durable(std::uint64_t end, Clock::time_point now);

  private:
    struct Chunk {
        std::uint64_t number = 0;  ///< of the segment
        std::uint64_t offset = 0;
        std::uint64_t end = 0;
        Clock::time_point written;
    };

    void forget(const Chunk& chunk);

    FileSystem& fs_;
    const std::string directory_;
    const std::uint64_t kept_bytes_;
    std::deque<Chunk> chunks_;
    std::uint64_t kept_ = 0;
};

}  // namespace annals::storage
