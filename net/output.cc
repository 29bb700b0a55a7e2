#include "net/output.h"

#include "core/base/instant.h"
#include "core/outcome.h"
#include "net/tls.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

namespace annals::net {

namespace {

constexpr std::size_t kIovecsMax = 1024;      // IOV_MAX
constexpr std::size_t kCopiedBytesMax = 512;  // a piece up to this size is copied
/// The most that is sent at a time, however fast the other side reads; then other connections
/// of the loop get their turn.
constexpr std::size_t kSendBytesMax = 4 << 20;
constexpr std::size_t kTextBytesKept = 64 << 10;
constexpr std::size_t kSegmentsKept = 4 << 10;

/// Builds text in a buffer and then appends it at once: so a string is checked for room once, and not for
/// each of a head's thirty pieces.
class Buffered {
  public:
    explicit Buffered(std::string& to) : to_(to) {}

    Buffered& add(std::string_view piece) {
        if (piece.size() > kBytes - used_) [[unlikely]] {
            add_long(piece);
        } else {
            used_ += piece.copy(buffer_.data() + used_, piece.size());
        }
        return *this;
    }

    Buffered& add(std::uint64_t number, int base = 10) {
        std::array<char, 20> digits;
        const auto end =
            std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
        return add({digits.data(), end});
    }

    void add_header(std::string_view name, std::string_view value) {
        add(name).add(": ");
        // Even if a handler puts a client's text into a header, it can't end the line.
        if (value.find('\n') == std::string_view::npos &&
            value.find('\r') == std::string_view::npos) {
            add(value);
        }
        add("\r\n");
    }

    void flush() {
        to_.append(buffer_.data(), used_);
        used_ = 0;
    }

  private:
    static constexpr std::size_t kBytes = 1024;

    [[gnu::cold, gnu::noinline]] void add_long(std::string_view piece) {
        flush();
        to_.append(piece);
    }

    std::string& to_;
    std::size_t used_ = 0;
    std::array<char, kBytes> buffer_;
};

bool has_body(int status) noexcept {
    return status >= 200 && status != 204 && status != 304;
}

/// The headers that the response itself states, except those of its body.
void add_headers_of(const core::Response& response, Buffered& head) {
    if (response.etag) {
        head.add("ETag: W/\"").add(response.etag->value).add("\"\r\n");
    }
    if (response.last_modified) {
        std::array<char, kHttpDateChars> date;
        write_http_date(*response.last_modified, date.data());
        head.add("Last-Modified: ").add({date.data(), date.size()}).add("\r\n");
    }
    if (response.position) {
        head.add("X-Annals-Position: ").add(response.position->value).add("\r\n");
    }
    if (!response.location.empty()) {
        head.add_header("Location", response.location);
    }
    if (!response.content_location.empty()) {
        head.add_header("Content-Location", response.content_location);
    }
    if (!response.cache_control.empty()) {
        head.add("Cache-Control: ").add(response.cache_control).add("\r\n");
    }
    // RFC 9110 sections 10.2.1 and 15.5.6: always with 405, and empty if no method is allowed at present.
    if (!response.allow.empty() || response.status == 405) {
        head.add_header("Allow", response.allow);
    }
    for (const auto& [name, value] : response.headers) {
        head.add_header(name, value);
    }
}

}  // namespace

void Output::add_text(std::string_view text) {
    const std::size_t from = text_.size();
    text_.append(text);
    extend_text(from);
}

void Output::extend_text(std::size_t from) {
    const std::size_t added = text_.size() - from;
    size_ += added;
    if (segments_.size() > first_ && segments_.back().data == nullptr &&
        segments_.back().offset + segments_.back().size == from) {
        segments_.back().size += added;
    } else if (added > 0) {
        segments_.push_back({nullptr, from, added});
    }
}

void Output::add(core::Response& response, const Framing& framing) {
    const std::size_t from = text_.size();
    Buffered head(text_);
    head.add("HTTP/1.1 ").add(static_cast<std::uint64_t>(response.status)).add(" ");
    head.add(core::reason_phrase(response.status)).add("\r\nDate: ").add(framing.date).add("\r\n");

    const bool body = has_body(response.status);
    const bool sliced = response.more != nullptr;
    // Content may be empty and still have a type: a Binary's.
    if (body && (sliced || !response.body.empty() || !response.media_type.empty())) {
        if (response.media_type.empty()) {
            head.add("Content-Type: ").add(core::content_type_name(response.content_type));
            head.add("\r\n");
        } else {
            head.add_header("Content-Type", response.media_type);
        }
    }
    const std::optional<std::uint64_t> more =
        sliced ? response.more->size_left() : std::optional<std::uint64_t>(0);
    const bool chunked = !more && !framing.http_1_0;
    if (body && more) {
        head.add("Content-Length: ").add(response.body.size() + *more).add("\r\n");
    } else if (body && chunked) {
        head.add("Transfer-Encoding: chunked\r\n");
    }
    add_headers_of(response, head);
    if (!framing.vary.empty()) {
        head.add("Vary: ").add(framing.vary).add("\r\n");
    }
    head.add(framing.lines).add(framing.more_lines);
    head.add("X-Request-Id: ").add(framing.request_id).add("\r\n");
    if (!framing.correlation_id.empty()) {
        head.add_header("X-Correlation-Id", framing.correlation_id);
    }
    if (framing.close) {
        head.add("Connection: close\r\n");
    } else if (framing.http_1_0) {
        head.add("Connection: keep-alive\r\n");
    }
    head.add("\r\n");
    head.flush();
    extend_text(from);
    if (!body || framing.head) {
        return;
    }
    if (sliced) {
        add_slice(std::move(response.body), chunked);
    } else {
        add_body(std::move(response.body));
    }
}

void Output::add_slice(core::Body slice, bool chunked) {
    if (slice.empty()) {
        return;  // an empty chunk would end the body
    }
    if (!chunked) {
        add_body(std::move(slice));
        return;
    }
    const std::size_t from = text_.size();
    Buffered frame(text_);
    frame.add(slice.size(), 16).add("\r\n");
    frame.flush();
    extend_text(from);
    add_body(std::move(slice));
    add_text("\r\n");
}

void Output::add_body(core::Body body) {
    bool referred = false;
    for (std::size_t i = 0; i < body.piece_count(); ++i) {
        const std::string_view piece = body.piece(i);
        if (piece.size() <= kCopiedBytesMax) {
            add_text(piece);
            continue;
        }
        // Such a piece stays in place when `body` is moved below, because it is too long for a
        // short string's own buffer.
        segments_.push_back({piece.data(), 0, piece.size()});
        size_ += piece.size();
        referred = true;
    }
    if (referred) {
        bodies_.push_back(std::move(body));
    }
}

std::string_view Output::bytes_of(const Segment& segment) const noexcept {
    return {segment.data != nullptr ? segment.data : text_.data() + segment.offset, segment.size};
}

void Output::sent(std::size_t count) noexcept {
    size_ -= count;
    while (count > 0) {
        Segment& segment = segments_[first_];
        const std::size_t taken = std::min(count, segment.size);
        segment.size -= taken;
        segment.offset += taken;
        if (segment.data != nullptr) {
            segment.data += taken;
        }
        count -= taken;
        if (segment.size == 0) {
            ++first_;
        }
    }
}

Output::Sent Output::send_encrypted(TlsStream& tls) {
    for (std::size_t total = 0;;) {
        // As much as fits into one record is sent together.
        while (first_ < segments_.size()) {
            const std::size_t taken = tls.add(bytes_of(segments_[first_]));
            if (taken == 0) {
                break;
            }
            total += taken;
            sent(taken);
        }
        const TlsStream::Step step = tls.flush();
        if (step != TlsStream::Step::done) {
            return step == TlsStream::Step::wants_write ? Sent::blocked : Sent::broken;
        }
        if (first_ == segments_.size()) {
            clear();
            return Sent::all;
        }
        if (total >= kSendBytesMax) {
            return Sent::blocked;
        }
    }
}

Output::Sent Output::send(int fd, TlsStream* tls) {
    if (tls != nullptr) {
        return send_encrypted(*tls);
    }
    std::size_t left = kSendBytesMax;
    while (first_ < segments_.size()) {
        if (left == 0) {
            return Sent::blocked;
        }
        std::array<iovec, kIovecsMax> pieces;
        const std::size_t count_max = std::min(segments_.size() - first_, kIovecsMax);
        std::size_t count = 0;
        for (std::size_t room = left; count < count_max && room > 0; ++count) {
            const std::string_view bytes = bytes_of(segments_[first_ + count]).substr(0, room);
            pieces[count] = {const_cast<char*>(bytes.data()), bytes.size()};
            room -= bytes.size();
        }
        msghdr message{};
        message.msg_iov = pieces.data();
        message.msg_iovlen = count;
        const bool more = first_ + count < segments_.size();
        const ssize_t result =
            ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0));
        if (result < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK ? Sent::blocked : Sent::broken;
        }
        sent(static_cast<std::size_t>(result));
        left -= static_cast<std::size_t>(result);
    }
    clear();
    return Sent::all;
}

void Output::clear() {
    text_.clear();
    segments_.clear();
    bodies_.clear();
    first_ = 0;
    size_ = 0;
    if (text_.capacity() > kTextBytesKept) {
        text_.shrink_to_fit();
    }
    if (segments_.capacity() > kSegmentsKept) {
        segments_.shrink_to_fit();
    }
}

}  // namespace annals::net
