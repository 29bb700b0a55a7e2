// Short turns: let a thread that waits for the device often get a core as soon as it needs one.
//
// Layer:   storage.
// Threads: about the calling one.

#pragma once

namespace annals::storage {

/// Asks the scheduler for time slices of 0.1 ms, which come sooner than longer ones. Kernels from 6.12 on grant them without
/// privileges; others ignore it.
void take_short_turns() noexcept;

}  // namespace annals::storage
