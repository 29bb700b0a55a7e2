#include "tools/commands/allocator.h"

#include <cstddef>

/// Read by jemalloc when the program starts. By default, blocks of 8 MiB and more go back to the system as soon as they are freed,
/// and each large body faults in all its memory anew. With this they stay up to ten seconds.
extern "C" const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:0";

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
