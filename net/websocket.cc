#include "net/websocket.h"

#include "codec/json/unicode.h"
#include "core/base/base64.h"
#include "core/base/check.h"
#include "core/base/digest.h"

#include <algorithm>
#include <utility>

namespace annals::net {

namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t kControlBytesMax = 125;

bool is_control(Opcode opcode) noexcept {
    return (static_cast<unsigned>(opcode) & 8) != 0;
}

/// Whether a client may send that code in a close frame (section 7.4).
bool is_close_code(unsigned code) noexcept {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

}  // namespace

std::optional<std::string> websocket_accept(std::string_view key) {
    if (key.size() != 24 || base64_size(key) != 16) {
        return {};
    }
    std::string out;
    append_base64(sha1(std::string(key) + std::string(kGuid)), out);
    return out;
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
    ANNALS_CHECK(payload.size() <= (is_control(opcode) ? kControlBytesMax : 0xffff));
    out += static_cast<char>(0x80 | static_cast<unsigned>(opcode));
    if (payload.size() <= kControlBytesMax) {
        out += static_cast<char>(payload.size());
    } else {
        out += static_cast<char>(126);
        out += static_cast<char>(payload.size() >> 8);
        out += static_cast<char>(payload.size() & 0xff);
    }
    out += payload;
}

void append_close(std::string& out, CloseCode code) {
    std::string payload;
    payload += static_cast<char>(static_cast<unsigned>(code) >> 8);
    payload += static_cast<char>(static_cast<unsigned>(code) & 0xff);
    append_frame(out, Opcode::close, payload);
}

struct FrameReader::Head {
    bool last = false;
    Opcode opcode = Opcode::continuation;
    std::size_t payload = 0;  ///< bytes of it
    std::size_t mask = 0;     ///< where it begins
    std::size_t begin = 0;    ///< of the payload
};

FrameReader::Event FrameReader::fail(CloseCode code) {
    ended_ = true;
    end_ = Event::failed;
    fault_ = code;
    buffer_.clear();
    message_.clear();
    return end_;
}

/// Returns none once `head` is read; otherwise the event to return instead.
std::optional<FrameReader::Event> FrameReader::read_head(Head& head) {
    if (buffer_.size() < 2) {
        return Event::need_bytes;
    }
    const unsigned first = byte_at(buffer_, 0);
    const unsigned second = byte_at(buffer_, 1);
    head.last = (first & 0x80) != 0;
    head.opcode = static_cast<Opcode>(first & 0x0f);
    const bool known = (first & 0x0f) <= 2 || ((first & 0x0f) >= 8 && (first & 0x0f) <= 10);
    if ((first & 0x70) != 0 || !known || (second & 0x80) == 0) {
        return fail(CloseCode::protocol_error);  // Extensions, or no mask.
    }
    const unsigned size = second & 0x7f;
    if (is_control(head.opcode) && (!head.last || size > kControlBytesMax)) {
        return fail(CloseCode::protocol_error);
    }
    if (!is_control(head.opcode) && in_message_ != (head.opcode == Opcode::continuation)) {
        return fail(CloseCode::protocol_error);
    }
    if (head.opcode == Opcode::binary) {
        return fail(CloseCode::unsupported);
    }
    const std::size_t more = size < 126 ? 0 : size == 126 ? 2 : 8;
    if (buffer_.size() < 2 + more) {
        return Event::need_bytes;
    }
    std::uint64_t bytes = more == 0 ? size : 0;
    for (std::size_t i = 0; i < more; ++i) {
        bytes = bytes << 8 | byte_at(buffer_, 2 + i);
    }
    // The shortest form is required (section 5.2).
    if ((more == 2 && bytes < 126) || (more == 8 && (bytes < 0x10000 || bytes >> 63 != 0))) {
        return fail(CloseCode::protocol_error);
    }
    if (bytes > message_bytes_max_ - std::min(message_.size(), message_bytes_max_) &&
        !is_control(head.opcode)) {
        return fail(CloseCode::too_large);
    }
    head.payload = static_cast<std::size_t>(bytes);
    head.mask = 2 + more;
    head.begin = head.mask + 4;
    return {};
}

FrameReader::Event FrameReader::next() {
    for (;;) {
        if (ended_) {
            return end_;
        }
        Head head;
        if (const auto instead = read_head(head)) {
            return *instead;
        }
        if (buffer_.size() < head.begin + head.payload) {
            return Event::need_bytes;
        }
        std::string payload = buffer_.substr(head.begin, head.payload);
        for (std::size_t i = 0; i < payload.size(); ++i) {
            payload[i] = static_cast<char>(payload[i] ^ buffer_[head.mask + i % 4]);
        }
        buffer_.erase(0, head.begin + head.payload);
        const Event event = take(head, std::move(payload));
        if (event != Event::need_bytes) {
            return event;
        }
    }
}

/// Returns need_bytes if the frame makes no event.
FrameReader::Event FrameReader::take(const Head& head, std::string payload) {
    switch (head.opcode) {
        case Opcode::ping:
            payload_ = std::move(payload);
            return Event::ping;
        case Opcode::pong:
            payload_ = std::move(payload);
            return Event::pong;
        case Opcode::close:
            if (payload.size() == 1 ||
                (payload.size() >= 2 &&
                 !is_close_code(byte_at(payload, 0) << 8 | byte_at(payload, 1)))) {
                return fail(CloseCode::protocol_error);
            }
            if (payload.size() > 2 && !json::is_utf8(std::string_view(payload).substr(2))) {
                return fail(CloseCode::not_utf8);
            }
            fail(CloseCode::normal);
            end_ = Event::close;
            return end_;
        case Opcode::continuation:
        case Opcode::text:
        case Opcode::binary:
            break;
    }
    message_ += payload;
    in_message_ = !head.last;
    if (in_message_) {
        return Event::need_bytes;
    }
    payload_ = std::exchange(message_, {});
    return json::is_utf8(payload_) ? Event::text : fail(CloseCode::not_utf8);
}

}  // namespace annals::net
