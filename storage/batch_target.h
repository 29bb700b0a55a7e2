// BatchTarget: how many commits make a batch, so that those who are not in it come while it is written.
//
// Layer:   storage.
// Threads: its owner's (the sequencer, under its mutex).

#pragma once

#include <chrono>
#include <cstddef>

namespace annals::storage {

/// Writers that are answered together come back together: if each batch waited for all of them, the device would rest while
/// they are served and the processor while it writes. So where serving takes longest, a batch of many is closed when the rest
/// are as many as are served while it is written, at most 28 in a hundred. How many there are is found out by every 16th,
/// which waits for all.
class BatchTarget {
  public:
    using Duration = std::chrono::nanoseconds;

    /// A batch of `commits` was closed, `gathered` after its first one came.
    void closed(std::size_t commits, Duration gathered) noexcept;

    /// One was written, synced and published in that time.
    void written(Duration took) noexcept;

    /// A batch with so many is to be closed; 0: the next one waits for all.
    std::size_t enough() const noexcept { return enough_; }

  private:
    std::size_t enough_ = 0;
    std::size_t writers_ = 0;  ///< in the last batch that waited for all
    Duration gathered_{};      ///< the time that it took
    Duration write_time_{};    ///< running mean
    unsigned round_ = 0;
};

}  // namespace annals::storage
