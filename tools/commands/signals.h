// Signals that end a command's work.
//
// Layer:   tools.
// Threads: the main thread.

#pragma once

#include <initializer_list>

namespace annals::tools {

/// Calls `handler` at each of `signals` that is not ignored: a shell has its background jobs ignore SIGINT. Calls that block
/// then return with EINTR.
void handle_unless_ignored(std::initializer_list<int> signals, void (*handler)(int));

}  // namespace annals::tools
