// Output: the responses of one turn of a connection, as bytes for one gathered write.
//
// Layer:   net.
// Spec:    RFC 9110, 9112; FHIR R4 http.html, Custom Headers; docs/api/README.md.
// Threads: belongs to one connection.

#pragma once

#include "core/exchange.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net {

class TlsStream;

/// How a response is framed, beyond what the Response itself says.
struct Framing {
    bool head = false;      ///< answers HEAD: the headers of GET, no body
    bool http_1_0 = false;  ///< of the request
    bool close = false;     ///< the connection ends after it
    std::string_view date;  ///< "Fri, 02 Jan 2026 03:04:05 GMT"
    std::string_view request_id;
    std::string_view correlation_id;  ///< empty: header left out
    std::string_view vary;            ///< static text; empty: header left out
    std::string_view lines;           ///< complete header lines, made beforehand
    std::string_view more_lines;
};

/// Header blocks and bodies in order. Bodies stay where they are (mappings, buffers) until they are sent,
/// except small ones, which are cheaper to copy than to put into an iovec.
class Output {
  public:
    enum class Sent : std::uint8_t {
        all,      ///< nothing is left; the bodies have been released
        blocked,  ///< the socket takes no more for now, or others should have their turn
        broken,   ///< the connection is gone
    };

    /// Adds the whole response or, if `response.more` is set, its beginning.
    void add(core::Response& response, const Framing& framing);

    /// Adds one slice of response.more.
    void add_slice(core::Body slice, bool chunked);

    /// Adds the end of a body that was sent in slices.
    void add_last_chunk() { add_text("0\r\n\r\n"); }

    void add_text(std::string_view text);

    bool empty() const noexcept { return size_ == 0; }

    std::size_t size() const noexcept { return size_; }

    /// Sends as much as the non-blocking socket `fd` takes; through `tls`, if not null, which encrypts on that socket.
    Sent send(int fd, TlsStream* tls = nullptr);

    void clear();

  private:
    struct Segment {
        const char* data;  ///< null: in text_ at `offset`
        std::size_t offset;
        std::size_t size;
    };

    Sent send_encrypted(TlsStream& tls);
    std::string_view bytes_of(const Segment& segment) const noexcept;
    void sent(std::size_t count) noexcept;
    void add_body(core::Body body);
    void extend_text(std::size_t from);

    std::string text_;
    std::vector<Segment> segments_;
    std::vector<core::Body> bodies_;
    std::size_t first_ = 0;  ///< segments before it have been sent
    std::size_t size_ = 0;
};

}  // namespace annals::net
