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
/// Sent in one go, however fast the other side takes it; then other connections of the loop get their turn.
constexpr std::size_t kSendBytesMax = 4 << 20;
constexpr std::size_t kTextBytesKept = 64 << 10;
constexpr std::size_t kSegmentsKept = 4 << 10;

void put(std::string& text, std::uint64_t number, int base = 10) {
    std::array<char, 20> digits;
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number, base);
    text.append(digits.data(), written.ptr);
}

void put_header(std::string& text, std::string_view name, std::string_view value) {
    text.append(name);
    text.append(": ");
    // Whatever a handler made of a client's words, it does not end the line.
    if (value.find('\n') == std::string_view::npos && value.find('\r') == std::string_view::npos) {
        text.append(value);
    }
    text.append("\r\n");
}

bool has_body(int status) noexcept {
    return status >= 200 && status != 204 && status != 304;
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
    std::string& text = text_;
    text.append("HTTP/1.1 ");
    put(text, static_cast<std::uint64_t>(response.status));
    text.push_back(' ');
    text.append(core::reason_phrase(response.status));
    text.append("\r\nDate: ");
    text.append(framing.date);
    text.append("\r\n");

    const bool body = has_body(response.status);
    const bool sliced = response.more != nullptr;
    // Content may be empty and be of a type: a Binary's.
    if (body && (sliced || !response.body.empty() || !response.media_type.empty())) {
        if (response.media_type.empty()) {
            text.append("Content-Type: ");
            text.append(core::content_type_name(response.content_type));
            text.append("\r\n");
        } else {
            put_header(text, "Content-Type", response.media_type);
        }
    }
    const std::optional<std::uint64_t> more =
        sliced ? response.more->size_left() : std::optional<std::uint64_t>(0);
    const bool chunked = !more && !framing.http_1_0;
    if (body && more) {
        text.append("Content-Length: ");
        put(text, response.body.size() + *more);
        text.append("\r\n");
    } else if (body && chunked) {
        text.append("Transfer-Encoding: chunked\r\n");
    }
    if (response.etag) {
        text.append("ETag: W/\"");
        put(text, response.etag->value);
        text.append("\"\r\n");
    }
    if (response.last_modified) {
        text.append("Last-Modified: ");
        const std::size_t place = text.size();
        text.resize(place + kHttpDateChars);
        write_http_date(*response.last_modified, text.data() + place);
        text.append("\r\n");
    }
    if (response.position) {
        text.append("X-Annals-Position: ");
        put(text, response.position->value);
        text.append("\r\n");
    }
    if (!response.location.empty()) {
        put_header(text, "Location", response.location);
    }
    if (!response.content_location.empty()) {
        put_header(text, "Content-Location", response.content_location);
    }
    if (!response.cache_control.empty()) {
        text.append("Cache-Control: ");
        text.append(response.cache_control);
        text.append("\r\n");
    }
    // RFC 9110 sections 10.2.1 and 15.5.6: always with 405, and empty where nothing is taken at present.
    if (!response.allow.empty() || response.status == 405) {
        put_header(text, "Allow", response.allow);
    }
    for (const auto& [name, value] : response.headers) {
        put_header(text, name, value);
    }
    if (!framing.vary.empty()) {
        text.append("Vary: ");
        text.append(framing.vary);
        text.append("\r\n");
    }
    text.append(framing.lines);
    text.append(framing.more_lines);
    text.append("X-Request-Id: ");
    text.append(framing.request_id);
    text.append("\r\n");
    if (framing.close) {
        text.append("Connection: close\r\n");
    } else if (framing.http_1_0) {
        text.append("Connection: keep-alive\r\n");
    }
    text.append("\r\n");
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
    put(text_, slice.size(), 16);
    text_.append("\r\n");
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
        // Such a piece stays in place when `body` is moved below: it is too long to be inside of it.
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
        // As much as goes into one record goes out together.
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
