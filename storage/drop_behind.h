// DropBehind: keeps the page cache small behind the log's writer.
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

/// During heavy writing, drops from the page cache what is older than the newest `kept_bytes`, except what has been read: for
/// machines where reused memory costs a fraction of fresh memory (docs/optimizations.md). At lower rates the system decides
/// what it keeps.
class DropBehind {
  public:
    using Clock = std::chrono::steady_clock;

    /// Dropped at once: for this much, a system call costs little.
    static constexpr std::uint64_t kChunk = 4 << 20;

    /// Data that is older than this when `kept_bytes` more have been written is kept.
    static constexpr std::chrono::seconds kPoured{10};

    /// `kept_bytes` 0: nothing is dropped. Lifetime: `fs` outlives it.
    DropBehind(FileSystem& fs, std::string directory, std::uint64_t kept_bytes)
        : fs_(fs), directory_(std::move(directory)), kept_bytes_(kept_bytes) {}

    /// From now on segment `number` in `directory` is written, from `offset` on, and the one before is not.
    void begin(std::uint64_t number, std::uint64_t offset);

    /// The segment is durable up to `end`, as of `now`. Requires: begin() was called.
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
