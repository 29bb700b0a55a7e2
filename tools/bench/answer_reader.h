// AnswerReader: finds the end of an HTTP response in the received bytes, as cheaply as possible.
//
// Layer:   tools/bench.
// Spec:    RFC 9112, as far as servers under test use it: Content-Length or chunked bodies.
// Threads: one; each connection has its own.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace annals::bench {

/// A complete response. Lifetime: until the reader that returned it is used again.
struct Answer {
    int status = 0;
    std::string_view head;  ///< status line and headers
    std::string_view body;

    /// The value of a header (its name in any case); empty if there is none.
    std::string_view header(std::string_view name) const noexcept;
};

class AnswerReader {
  public:
    enum class State { more, done, broken };

    /// Where to receive: at least 64 KiB of room.
    char* room();

    std::size_t room_size() const noexcept { return buffer_.size() - filled_; }

    /// Processes `bytes` that were received into room().
    State received(std::size_t bytes);

    /// Requires: received() returned done.
    Answer answer() const noexcept;

    /// Whether the server closes the connection after this response.
    bool closes() const noexcept { return closes_; }

    /// Forgets the response. Anything received after it is kept: closed loops send one request at a time, so
    /// there shouldn't be any, and the next response shows the fault.
    void next();

  private:
    State read_head();
    State read_chunks();

    std::vector<char> buffer_ = std::vector<char>(128 << 10);
    std::size_t filled_ = 0;
    std::size_t head_size_ = 0;  // 0: not complete yet
    std::size_t body_size_ = 0;
    bool chunked_ = false;
    bool closes_ = false;
    int status_ = 0;
    std::size_t chunk_at_ = 0;  // where the next chunk's size line starts
    std::string chunks_;        // the bodies of all chunks so far
};

}  // namespace annals::bench
