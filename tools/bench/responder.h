// Responder: the minimal server on llhttp and Asio coroutines, as a reference for the real one.
//
// Layer:   tools/bench. One loop; one coroutine per connection.
// Threads: the caller's; with Commit::thread another one, which writes and syncs.

#pragma once

#include <cstdint>
#include <string>

namespace annals::bench {

enum class Commit : std::uint8_t {
    inline_in_loop,  ///< the loop writes and syncs itself when nothing else is ready
    thread,          ///< another thread does it, while the loop goes on
};

struct ResponderOptions {
    std::uint16_t body_bytes = 1500;  ///< of every response to GET
    std::string file;  ///< a ZeroedFile; what is POSTed is appended to it. Empty: GET only
    std::uint64_t file_bytes = 0;
    Commit commit = Commit::inline_in_loop;
};

/// Serves on a free port of 127.0.0.1 until the process is killed; writes "ready PORT\n" to `out`. A GET
/// gets a fixed body; a POST gets 201 and its own body back, once that is durable. All POSTs that arrive
/// between two syncs share the next.
void serve_barely(const ResponderOptions& options, int out);

}  // namespace annals::bench
