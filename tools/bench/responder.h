// Responder: the least that a server on llhttp and Asio coroutines can do, to measure the real one against.
//
// Layer:   tools/bench. One loop; a coroutine a connection.
// Threads: the caller's; with Commit::thread one more, which writes and syncs.

#pragma once

#include <cstdint>
#include <string>

namespace annals::bench {

enum class Commit : std::uint8_t {
    inline_in_loop,  ///< the loop writes and syncs itself once it has nothing else ready
    thread,          ///< another thread does, while the loop goes on
};

struct ResponderOptions {
    std::uint16_t body_bytes = 1500;  ///< of every answer to GET
    std::string file;  ///< a ZeroedFile; what is POSTed is appended to it. Empty: GET only
    std::uint64_t file_bytes = 0;
    Commit commit = Commit::inline_in_loop;
};

/// Serves on a free port of 127.0.0.1 until the process is killed; writes "ready PORT\n" to `out`. A GET
/// is answered with a fixed body; a POST, once its body is durable, with that body and 201. All that has come
/// in since the last sync shares the next.
void serve_barely(const ResponderOptions& options, int out);

}  // namespace annals::bench
