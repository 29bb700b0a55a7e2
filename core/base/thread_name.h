// Thread names, by which the system's tools tell the server's threads apart.
//
// Layer:   core/base.
// Threads: about the calling one.

#pragma once

namespace annals {

/// Names the calling thread, and those that it starts from now on, `name` in the system's tools (top -H, perf, a debugger),
/// which keep 15 bytes. docs/architecture.md, Threads, lists them.
void name_thread(const char* name) noexcept;

}  // namespace annals
