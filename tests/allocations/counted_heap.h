// Counts of what this executable allocates: its operator new is replaced.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace annals::test {

extern std::atomic<std::size_t> allocations;
extern std::atomic<std::int64_t> held_bytes;
extern std::atomic<std::size_t> largest_allocation;  ///< since somebody set it to 0

}  // namespace annals::test
