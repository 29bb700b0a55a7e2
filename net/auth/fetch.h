// Fetching a small document by HTTP.
//
// Layer:   net/auth; with net/notifier.cc the users of libcurl.
// Threads: blocks the calling thread; any.

#pragma once

#include "core/base/result.h"

#include <atomic>
#include <chrono>
#include <string>

namespace annals::net::auth {

inline constexpr std::size_t kFetchedBytesMax = 1 << 20;

/// What `url` (http or https, the server's certificate verified) answers with 200; redirections are not followed.
/// Ends early when `stop` becomes true. Errors: io, timeout, body_too_large.
Result<std::string> fetch(const std::string& url, std::chrono::milliseconds limit,
                          const std::atomic<bool>& stop);

}  // namespace annals::net::auth
