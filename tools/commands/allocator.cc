#include "tools/commands/allocator.h"

#include <cstddef>

/// Read by jemalloc when the program starts.
///
/// oversize_threshold: by default, blocks of 8 MiB and more go back to the system as soon as they are freed, and each large body
/// faults in all its memory anew. With this they stay up to ten seconds.
///
/// tcache_*: by default, a thread keeps as few as 20 freed blocks of a size from 512 bytes on, fewer than 64 connections use in one
/// round, and gives back a part whenever it has allocated another 64 KiB, as a single transaction does. What is in use all the time
/// would pass through the arena again and again. With this a thread keeps up to 7 MB more.
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "oversize_threshold:0,tcache_gc_incr_bytes:1048576,tcache_nslots_small_min:100";

/// jemalloc's; null in sanitized builds.
extern "C" __attribute__((weak)) int mallctl(const char* name, void* old_value,
                                             std::size_t* old_size, void* new_value,
                                             std::size_t new_size) noexcept;

namespace annals::tools {

void give_back_what_sleepers_freed() {
    if (mallctl == nullptr) {
        return;
    }
    std::size_t threads_max = 1;
    bool on = true;
    static_cast<void>(
        mallctl("max_background_threads", nullptr, nullptr, &threads_max, sizeof threads_max));
    static_cast<void>(mallctl("background_thread", nullptr, nullptr, &on, sizeof on));
}

}  // namespace annals::tools
