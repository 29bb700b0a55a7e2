// Settled: tells when a question to another thread has been answered.
//
// Layer:   net/auth.
// Threads: any.

#pragma once

#include <atomic>
#include <memory>

namespace annals::net::auth {

/// Becomes true once the question is answered, or can't be; null: nothing was asked.
using Settled = std::shared_ptr<const std::atomic<bool>>;

}  // namespace annals::net::auth
