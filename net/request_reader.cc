#include "net/request_reader.h"

#include "core/base/check.h"
#include "core/base/text.h"
#include "net/characters.h"
#include "net/refused_head.h"

#include <llhttp.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace annals::net {

namespace {

constexpr std::size_t kBufferBytes = 8 << 10;  // of an active connection
constexpr std::size_t kBytesKept = 64 << 10;   // anything beyond is freed after its request
constexpr std::size_t kRoomMin = 1 << 10;
constexpr std::size_t kMethodBytesMax = 32;

constexpr std::string_view kBodyTooLarge = "the request's body is larger than limits.max_body";

core::HttpMethod method_of(unsigned method) noexcept {
    switch (method) {
        case HTTP_GET:
            return core::HttpMethod::get;
        case HTTP_HEAD:
            return core::HttpMethod::head;
        case HTTP_POST:
            return core::HttpMethod::post;
        case HTTP_PUT:
            return core::HttpMethod::put;
        case HTTP_PATCH:
            return core::HttpMethod::patch;
        case HTTP_DELETE:
            return core::HttpMethod::delete_;
        case HTTP_OPTIONS:
            return core::HttpMethod::options;
        default:
            return core::HttpMethod::other;
    }
}

}  // namespace

struct RequestReader::Parser {
    // Results of callbacks.
    static constexpr int kTaken = 0;
    static constexpr int kRefused = -1;

    llhttp_t state{};

    static RequestReader& reader(llhttp_t* state) {
        return *static_cast<RequestReader*>(state->data);
    }

    static const llhttp_settings_t& settings() {
        static const llhttp_settings_t value = [] {
            llhttp_settings_t table;
            llhttp_settings_init(&table);
            table.on_headers_complete = [](llhttp_t* state) {
                state->upgrade = 0;  // an Upgrade that is not accepted makes an ordinary request
                if (!reader(state).head_arrived()) {
                    return kRefused;
                }
                return reader(state).waits_to_decode() ? static_cast<int>(HPE_PAUSED) : kTaken;
            };
            table.on_body = [](llhttp_t* state, const char* at, std::size_t size) {
                return reader(state).body_arrived(at, size) ? kTaken : kRefused;
            };
            table.on_chunk_header = [](llhttp_t* state) {
                return reader(state).chunk_announced(state->content_length) ? kTaken : kRefused;
            };
            const auto ignored = [](llhttp_t* state, const char*, std::size_t size) {
                return reader(state).ignored_arrived(size) ? kTaken : kRefused;
            };
            table.on_header_field = ignored;
            table.on_header_value = ignored;
            table.on_chunk_extension_name = ignored;
            table.on_chunk_extension_value = ignored;
            table.on_message_complete = [](llhttp_t* state) {
                reader(state).done_ = true;
                return static_cast<int>(HPE_PAUSED);
            };
            return table;
        }();
        return value;
    }
};

RequestReader::RequestReader(std::uint64_t body_bytes_max, bool tells_head)
    : body_bytes_max_(body_bytes_max),
      body_limit_(body_bytes_max),
      tells_head_(tells_head),
      parser_(std::make_unique<Parser>()),
      decoded_bytes_max_(body_bytes_max) {
    llhttp_init(&parser_->state, HTTP_REQUEST, &Parser::settings());
    parser_->state.data = this;
}

RequestReader::~RequestReader() = default;

std::span<char> RequestReader::room() {
    if (phase() == Phase::idle) {
        begin_ = parsed_ = end_ = 0;
        drop_decoder();
        if (memory() > kBytesKept) {
            give_up();
        }
    }
    if (capacity_ - end_ < kRoomMin) {
        const std::size_t keep_from = done_ ? parsed_ : begin_;
        if (keep_from > 0) {
            std::memmove(buffer_.get(), buffer_.get() + keep_from, end_ - keep_from);
            end_ -= keep_from;
            parsed_ -= keep_from;
            begin_ = 0;
            body_begin_ -= std::min(body_begin_, keep_from);
            body_end_ -= std::min(body_end_, keep_from);
        }
    }
    if (capacity_ - end_ < kRoomMin) {
        const std::size_t capacity = std::max(kBufferBytes, capacity_ * 2);
        char* larger = static_cast<char*>(std::realloc(buffer_.get(), capacity));
        if (larger == nullptr) {
            throw std::bad_alloc();
        }
        buffer_.release();
        buffer_.reset(larger);
        capacity_ = capacity;
    }
    return {buffer_.get() + end_, capacity_ - end_};
}

void RequestReader::drop_decoder() {
    if (decoder_ == nullptr) {
        return;
    }
    decoder_.reset();
    decoded_.clear();
    encoded_bytes_ = 0;
}

void RequestReader::give_up() {
    begin_ = parsed_ = end_ = 0;
    buffer_.reset();
    capacity_ = 0;
    decoder_.reset();
    std::string().swap(decoded_);
}

void RequestReader::filled(std::size_t count) {
    ANNALS_CHECK(count <= capacity_ - end_);
    end_ += count;
}

RequestReader::Phase RequestReader::phase() const noexcept {
    if (head_done_ && !done_) {
        return Phase::body;
    }
    return (started_ && !done_) || parsed_ < end_ ? Phase::head : Phase::idle;
}

void RequestReader::start() {
    llhttp_reset(&parser_->state);
    begin_ = parsed_;
    started_ = true;
    headers_read_ = head_done_ = done_ = expects_continue_ = chunked_ = host_from_target_ = false;
    head_told_ = closes_ = has_type_ = false;
    announced_bytes_ = 0;
    ignored_bytes_ = 0;
    host_count_ = coding_count_ = 0;
    host_place_ = coding_place_ = {};
    id_place_.reset();
    position_place_.reset();
    places_.clear();
    drop_decoder();
}

RequestReader::Step RequestReader::next() {
    if (refusal_.text.data() != nullptr) {
        return Step::refused;
    }
    if (done_) {
        started_ = done_ = head_done_ = headers_read_ = false;
    }
    if (!started_) {
        // RFC 9112 section 2.2: empty lines before a request are skipped.
        while (end_ - parsed_ >= 2 && std::memcmp(buffer_.get() + parsed_, "\r\n", 2) == 0) {
            parsed_ += 2;
        }
        begin_ = parsed_;
        if (parsed_ == end_ || (end_ - parsed_ == 1 && buffer_.get()[parsed_] == '\r')) {
            return Step::need_bytes;
        }
        start();
    }
    if (parsed_ == end_) {
        return wait_for_bytes();
    }
    const std::size_t fed = parsed_;
    const llhttp_errno_t error = llhttp_execute(&parser_->state, buffer_.get() + fed, end_ - fed);
    if (done_) {
        return step_after_message(fed);
    }
    if (error == HPE_PAUSED && head_done_) {
        // The caller learns who sends it before anything is decoded.
        llhttp_resume(&parser_->state);
        parsed_ = body_begin_;
        head_told_ = true;
        return Step::head;
    }
    if (error != HPE_OK) {
        return step_after_error(error);
    }
    parsed_ = end_;
    if (head_done_ && (chunked_ || decoder_ != nullptr)) {
        // Chunk sizes are parsed and encoded bytes decoded, so only the body's own bytes are kept.
        last_byte_ = buffer_.get()[end_ - 1];
        parsed_ = end_ = body_end_;
    }
    return wait_for_bytes();
}

/// `fed`: where the bytes begin that were parsed last.
RequestReader::Step RequestReader::step_after_message(std::size_t fed) {
    parsed_ = static_cast<std::size_t>(llhttp_get_error_pos(&parser_->state) - buffer_.get());
    // llhttp accepts a line feed alone as the end of the trailers, where others see another trailer.
    const char before = parsed_ - fed > 1 ? buffer_.get()[parsed_ - 2] : last_byte_;
    if (chunked_ && before != '\r') {
        return refused(Errc::invalid, "the chunked body is malformed");
    }
    if (decoder_ != nullptr && !decoder_->complete()) {
        return refused(Errc::invalid, "the body ends before its content coding does");
    }
    finish_request();
    return Step::request;
}

RequestReader::Step RequestReader::wait_for_bytes() {
    if (!head_done_) {
        return wait_for_head();
    }
    if (tells_head_ && !head_told_) {
        head_told_ = true;
        return Step::head;
    }
    if (expects_continue_ && body_begin_ == body_end_) {
        expects_continue_ = false;
        return Step::expects_continue;
    }
    return Step::need_bytes;
}

RequestReader::Step RequestReader::wait_for_head() {
    const std::string_view head(origin(), end_ - begin_);
    if (head.size() > kRequestTargetBytesMax + 64 && head.size() > target_bytes_max(head) + 64 &&
        head.find('\n') == std::string_view::npos) {
        return refused(Errc::uri_too_long, "the request line is too long; use POST and _search");
    }
    if (head.size() > kHeaderBytesMax && head.size() > head_bytes_max(head)) {
        return refused(Errc::headers_too_large, "the request's headers are too long");
    }
    return Step::need_bytes;
}

core::Request& RequestReader::head() {
    set_head();
    request_.body = {};
    return request_;
}

bool RequestReader::refuse(Errc code, std::string_view text, int status) {
    refusal_ = {status, code, text, {}};
    return false;
}

RequestReader::Step RequestReader::refused(Errc code, std::string_view text, int status) {
    refuse(code, text, status);
    return Step::refused;
}

// For a method that llhttp doesn't know, only the first line is read: the 405 lists the path's methods.
RequestReader::Step RequestReader::step_after_unknown_method() {
    const std::string_view head(origin(), end_ - begin_);
    const std::size_t line_end = head.find('\n');
    const std::string_view line = head.substr(0, line_end);
    const std::string_view method = line.substr(0, line.find(' '));
    if (method.size() > kMethodBytesMax || !is_token(method)) {
        return refused(Errc::invalid, "this is not an HTTP/1.1 request");
    }
    if (line_end == std::string_view::npos) {
        if (head.size() <= kRequestTargetBytesMax + 64) {
            parsed_ = end_;
            return Step::need_bytes;
        }
        return refused(Errc::uri_too_long, "the request line is too long");
    }
    constexpr std::string_view kVersions[] = {" HTTP/1.1\r", " HTTP/1.0\r"};
    std::string_view target = line.substr(std::min(method.size() + 1, line.size()));
    const bool versioned = target.ends_with(kVersions[0]) || target.ends_with(kVersions[1]);
    target.remove_suffix(versioned ? kVersions[0].size() : 0);
    if (!versioned || !target.starts_with('/') || target.find(' ') != std::string_view::npos) {
        return refused(Errc::invalid, "this is not an HTTP/1.1 request");
    }
    refuse(Errc::method_not_allowed, "this method is not known");
    refusal_.path = target.substr(0, target.find('?'));
    return Step::refused;
}

RequestReader::Step RequestReader::step_after_error(int error) {
    if (refusal_.text.data() != nullptr) {
        return Step::refused;  // a callback refused it, which stopped llhttp
    }
    switch (error) {
        case HPE_INVALID_METHOD:
            return step_after_unknown_method();
        case HPE_INVALID_VERSION:
        case HPE_PAUSED_H2_UPGRADE:
            return refused(Errc::invalid, "only HTTP/1.1 and HTTP/1.0 are supported", 505);
        case HPE_INVALID_URL:
            return refused(Errc::invalid, kMalformedTarget);
        case HPE_INVALID_HEADER_TOKEN:
        case HPE_CR_EXPECTED:
        case HPE_LF_EXPECTED:
            return refused(Errc::invalid, "a header line is malformed");
        case HPE_UNEXPECTED_CONTENT_LENGTH:
            return refused(Errc::invalid, "the body's length is stated twice");
        case HPE_INVALID_CONTENT_LENGTH:
            return refused(Errc::invalid, "Content-Length is not a number");
        case HPE_INVALID_TRANSFER_ENCODING:
            return refused(Errc::not_implemented, "the only supported transfer coding is chunked");
        case HPE_INVALID_CHUNK_SIZE:
        case HPE_STRICT:
            return refused(Errc::invalid,
                           head_done_ ? std::string_view("the chunked body is malformed")
                                      : std::string_view("a line of the request is malformed"));
        default:
            return refused(Errc::invalid, "this is not an HTTP/1.1 request");
    }
}

bool RequestReader::decode(std::string_view bytes) {
    encoded_bytes_ += bytes.size();
    if (encoded_bytes_ > body_limit_) {
        return refuse(Errc::body_too_large, kBodyTooLarge);
    }
    const std::uint64_t bytes_max = std::min(body_limit_, decoded_bytes_max_);
    switch (decoder_->add(bytes, bytes_max, decoded_)) {
        case Decoder::Step::taken:
            return true;
        case Decoder::Step::corrupt:
            return refuse(Errc::invalid, "the body does not match its Content-Encoding");
        case Decoder::Step::too_large:
            break;
    }
    if (bytes_max < body_limit_) {
        return refuse(Errc::overloaded, "there is not enough memory to decode the body");
    }
    return refuse(Errc::body_too_large,
                  "the request's decoded body is larger than limits.max_body");
}

/// Whether it may be a Bundle.
bool RequestReader::posts_to_root() const noexcept {
    std::string_view path = path_place_.text(origin());
    if (path.ends_with('/')) {
        path.remove_suffix(1);
    }
    return request_.method == core::HttpMethod::post && path == "/fhir";
}

bool RequestReader::head_arrived() {
    llhttp_t& state = parser_->state;
    if (state.http_major != 1) {
        return refuse(Errc::invalid, "only HTTP/1.1 and HTTP/1.0 are supported", 505);
    }
    http_1_0_ = state.http_minor == 0;
    request_.method = method_of(state.method);
    std::size_t position = 0;
    if (!read_request_line(position)) {
        return false;
    }
    headers_read_ = true;
    if (!read_headers(position)) {
        return false;
    }
    if (position > kHeaderBytesMax && position > head_bytes_max({origin(), position})) {
        return refuse(Errc::headers_too_large, "the request's headers are too long");
    }
    if (host_count_ == 0 && !http_1_0_) {
        return refuse(Errc::invalid, "the Host header is missing");
    }
    keep_alive_ = llhttp_should_keep_alive(&state) != 0 && !closes_;
    announced_bytes_ = chunked_ ? 0 : state.content_length;
    body_limit_ = body_bytes_max_ + (posts_to_root() ? kBundleWrapBytes : 0);
    if (announced_bytes_ > body_limit_) {
        return refuse(Errc::body_too_large, kBodyTooLarge);
    }
    if (!chunked_ && announced_bytes_ == 0) {
        expects_continue_ = false;
        drop_decoder();
    }
    head_done_ = true;
    body_begin_ = body_end_ = begin_ + position;
    return true;
}

bool RequestReader::body_arrived(const char* bytes, std::size_t count) {
    char* const end = buffer_.get() + body_end_;
    if (body_end_ - body_begin_ + count > body_limit_) {
        return refuse(Errc::body_too_large, kBodyTooLarge);
    }
    if (decoder_ != nullptr) {
        return decode({bytes, count});
    }
    if (end != bytes) {
        std::memmove(end, bytes, count);
    }
    body_end_ += count;
    return true;
}

bool RequestReader::chunk_announced(std::uint64_t bytes) {
    if (bytes > body_limit_ - (body_end_ - body_begin_)) {
        return refuse(Errc::body_too_large, kBodyTooLarge);
    }
    return true;
}

bool RequestReader::ignored_arrived(std::size_t count) {
    if (!head_done_) {
        return true;  // the head as a whole is limited
    }
    ignored_bytes_ += count;
    if (ignored_bytes_ > kHeaderBytesMax) {
        return refuse(Errc::headers_too_large, "chunk extensions or trailers are too long");
    }
    return true;
}

void RequestReader::finish_request() {
    set_head();
    request_.body = decoder_ != nullptr
                        ? std::string_view(decoded_)
                        : std::string_view(buffer_.get() + body_begin_, body_end_ - body_begin_);
    request_.oversized = request_.body.size() > body_bytes_max_;
}

core::Request& RequestReader::refused_request() {
    if (headers_read_) {
        set_head();
    } else {
        request_ = {};
        request_.method = core::HttpMethod::other;
        host_ = request_id_ = accept_encoding_ = {};
    }
    if (started_ && !head_done_) {
        read_refused_head({origin(), end_ - begin_}, request_);
        request_id_ = request_.header("X-Request-Id").value_or("");
    }
    request_.body = {};
    return request_;
}

}  // namespace annals::net
