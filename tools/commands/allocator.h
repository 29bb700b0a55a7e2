// jemalloc's settings.
//
// Layer:   tools.
// Threads: the main thread.

#pragma once

namespace annals::tools {

/// Returns freed memory to the system after ten seconds: threads that keep allocating do this themselves; for those that sleep (a
/// merger after a large merge, a job, an idle loop) jemalloc starts a background thread here. Without one the memory stays
/// until they allocate again, which is harmless. Does nothing in sanitized builds, which use another allocator.
void give_back_what_sleepers_freed();

}  // namespace annals::tools
