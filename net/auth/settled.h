// Settled: how whoever asked something of another thread learns that it is answered.
//
// Layer:   net/auth.
// Threads: any.

#pragma once

#include <atomic>
#include <memory>

namespace annals::net::auth {

/// True once the question is answered, or can't be; null: nothing was asked.
using Settled = std::shared_ptr<const std::atomic<bool>>;

}  // namespace annals::net::auth
