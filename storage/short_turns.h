// Short turns: how a thread that waits for the device again and again gets a core as soon as it needs one.
//
// Layer:   storage.
// Threads: about the calling one.

#pragma once

namespace annals::storage {

/// Asks the scheduler for turns of a tenth of a millisecond, which come sooner than longer ones. Kernels from 6.12 on
/// give them, without any privilege; what is not given is left out.
void take_short_turns() noexcept;

}  // namespace annals::storage
