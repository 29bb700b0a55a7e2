// Thread names: by which the system's tools tell one thread of the server from another.
//
// Layer:   core/base.
// Threads: about the calling one.

#pragma once

namespace annals {

/// Has the system show the calling thread, and those that it starts from now on, as `name` (top -H, perf, a debugger), of
/// which 15 bytes are kept. docs/architecture.md, Threads, has who does what.
void name_thread(const char* name) noexcept;

}  // namespace annals
