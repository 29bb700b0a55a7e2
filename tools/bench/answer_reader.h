// AnswerReader: finds the end of an HTTP answer in what has been received, with as little work as that takes.
//
// Layer:   tools/bench.
// Spec:    RFC 9112, as far as a server under test answers: Content-Length or chunked bodies.
// Threads: one; a connection has its own.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::bench {

/// A whole answer. Lifetime: until the reader that gave it is used again.
struct Answer {
    int status = 0;
    std::string_view head;  ///< status line and headers
    std::string_view body;

    /// The value of a header (case of its name ignored); empty if there is none.
    std::string_view header(std::string_view name) const noexcept;
};

class AnswerReader {
  public:
    enum class State { more, done, broken };

    /// Where to receive to: at least 64 KiB of room.
    char* room();

    std::size_t room_size() const noexcept { return buffer_.size() - filled_; }

    /// Takes `bytes` that were received into room().
    State received(std::size_t bytes);

    /// Requires: received() said done.
    Answer answer() const noexcept;

    /// True if the server closes the connection after this answer.
    bool closes() const noexcept { return closes_; }

    /// Forgets the answer. What came behind it is kept: closed loops send one request at a time, so
    /// anything there is a fault, which the next answer shows.
    void next();

  private:
    State read_head();
    State read_chunks();

    std::vector<char> buffer_ = std::vector<char>(128 << 10);
    std::size_t filled_ = 0;
    std::size_t head_size_ = 0;  // 0: not all there yet
    std::size_t body_size_ = 0;
    bool chunked_ = false;
    bool closes_ = false;
    int status_ = 0;
    std::size_t chunk_at_ = 0;  // where the next chunk's size line begins
    std::string chunks_;        // the bodies of the chunks so far
};

}  // namespace annals::bench
