// RequestReader: turns bytes, in portions of any size, into complete HTTP/1.1 requests or refusals.
//
// Layer:   net; independent of sockets, so that tests and fuzzers can feed it bytes.
// Spec:    RFC 9110 and 9112. llhttp frames the message; this class rejects what llhttp is too lenient about.
// Threads: belongs to one connection.

#pragma once

#include "core/base/limits.h"
#include "core/base/owned.h"
#include "core/exchange.h"
#include "net/coding.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net {

/// Why net answers a request itself, without core; the connection ends with that response.
struct Refusal {
    int status = 0;  ///< if it differs from the status of `code`; else 0
    Errc code = Errc::invalid;
    std::string_view text;  ///< static
    /// With method_not_allowed: verbatim. Lifetime: until RequestReader::room() or give_up().
    std::string_view path;
};

/// Gathers the bytes of a connection and cuts requests out of them.
///
/// One request at a time: call room(), filled() and next() until that returns `request`; the request's views
/// are valid until room() or next() is called again.
class RequestReader {
  public:
    enum class Step : std::uint8_t {
        need_bytes,        ///< read into room(), call filled(), then next()
        expects_continue,  ///< as need_bytes, but the client waits for "100 Continue" first
        head,     ///< head() is complete, and more of the body is to come; call next() to go on
        request,  ///< request() is complete
        refused,  ///< refusal() says why; the connection must end
    };
    enum class Phase : std::uint8_t { idle, head, body };

    /// `body_bytes_max`: a POST to /fhir may exceed it by kBundleWrapBytes; then Request::oversized is set.
    /// `tells_head`: next() returns `head` if the body has not arrived with it.
    explicit RequestReader(std::uint64_t body_bytes_max, bool tells_head = false);
    ~RequestReader();
    RequestReader(const RequestReader&) = delete;
    RequestReader& operator=(const RequestReader&) = delete;

    /// Where the next bytes go; never empty. May move what has arrived. Between two requests it frees the memory of the last
    /// one, except what most requests need.
    std::span<char> room();

    /// Tells that the first `count` bytes of room() have been filled.
    void filled(std::size_t count);

    /// Continues with what has arrived.
    Step next();

    /// Limits decoded bodies to `bytes` from now on; exceeding it, where it is below `body_bytes_max`, counts as a lack of memory.
    void set_decoded_bytes_max(std::uint64_t bytes) noexcept { decoded_bytes_max_ = bytes; }

    /// Whether the body of the current request is decoded.
    bool decodes() const noexcept { return decoder_ != nullptr; }

    /// Frees the memory of the request. If it was incomplete, bytes read into room() afterwards can only be discarded.
    void give_up();

    /// Which part of the current request is being read.
    Phase phase() const noexcept;

    /// The request. `path` is the whole path; base_url, request_id and loop are for the caller to set. A body in
    /// a content coding has been decoded.
    core::Request& request() noexcept { return request_; }

    /// After `head`: the request without its body. Lifetime: until room() or next().
    core::Request& head();

    /// The memory held, in bytes.
    std::size_t memory() const noexcept {
        return capacity_ + decoded_.capacity() + (decoder_ != nullptr ? decoder_->memory() : 0);
    }

    /// The query and headers of a refused request, as far as they have arrived; the path only if it could be read.
    core::Request& refused_request();

    /// The Accept-Encoding header of the request, all lines of it; empty if there is none.
    std::string_view accept_encoding() const noexcept { return accept_encoding_; }

    std::string_view host() const noexcept {
        return host_;
    }  ///< validated; empty with HTTP/1.0 only

    /// X-Request-Id as sent; empty if there is none.
    std::string_view given_request_id() const noexcept { return request_id_; }

    bool keep_alive() const noexcept { return keep_alive_; }

    bool http_1_0() const noexcept { return http_1_0_; }

    const Refusal& refusal() const noexcept { return refusal_; }

    /// The bytes that have arrived after the last request. Lifetime: until room() or next().
    std::string_view rest() const noexcept { return {buffer_.get() + parsed_, end_ - parsed_}; }

  private:
    struct Parser;

    /// Where a text is, from origin() on: the buffer may move until the request is complete.
    struct Place {
        Place() = default;

        Place(const char* origin, std::string_view text) noexcept
            : begin(static_cast<std::uint32_t>(text.data() - origin)),
              size(static_cast<std::uint32_t>(text.size())) {}

        std::string_view text(const char* origin) const noexcept { return {origin + begin, size}; }

        std::uint32_t begin = 0;
        std::uint32_t size = 0;
    };

    struct HeaderPlace {
        Place name;
        Place value;
    };

    void start();
    // llhttp's callbacks: false if the request is refused.
    bool head_arrived();
    bool body_arrived(const char* bytes, std::size_t count);
    bool chunk_announced(std::uint64_t bytes);
    bool ignored_arrived(std::size_t count);
    /// How long a target may be, given the head that begins with it.
    static std::size_t target_bytes_max(std::string_view head) noexcept;
    /// How long the head may be.
    static std::size_t head_bytes_max(std::string_view head) noexcept;

    const char* origin() const noexcept { return buffer_.get() + begin_; }

    bool read_request_line(std::size_t& position);
    bool read_headers(std::size_t& position);
    bool apply_header(std::string_view name, std::string_view value);
    bool apply_content_coding(std::string_view value);
    bool decode(std::string_view bytes);
    bool posts_to_root() const noexcept;

    /// Whether the caller is told of the head before any of the body that has come with it is decoded.
    bool waits_to_decode() const noexcept { return tells_head_ && decoder_ != nullptr; }

    void drop_decoder();
    void set_head();
    static constexpr std::string_view kMalformedTarget =
        "the request target is malformed; characters other than ASCII must be percent-encoded";
    bool read_target(std::string_view target);
    void finish_request();
    Step wait_for_bytes();
    Step wait_for_head();
    Step step_after_message(std::size_t fed);
    Step step_after_error(int error);
    Step step_after_unknown_method();
    /// Returns false.
    bool refuse(Errc code, std::string_view text, int status = 0);
    Step refused(Errc code, std::string_view text, int status = 0);

    std::uint64_t body_bytes_max_;
    std::uint64_t body_limit_;  ///< of the current request: larger if it may be a Bundle
    bool tells_head_;
    std::unique_ptr<Parser> parser_;

    Owned<char, std::free> buffer_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;   ///< of the current request
    std::size_t parsed_ = 0;  ///< llhttp has seen everything before
    std::size_t end_ = 0;     ///< of what has arrived

    // Of the current request.
    bool started_ = false;
    bool headers_read_ = false;
    bool head_done_ = false;
    bool head_told_ = false;
    bool done_ = false;
    bool expects_continue_ = false;
    bool chunked_ = false;
    bool keep_alive_ = false;
    bool closes_ = false;  ///< the Connection header says so
    bool http_1_0_ = false;
    std::uint64_t announced_bytes_ = 0;  ///< Content-Length
    std::size_t ignored_bytes_ = 0;      ///< chunk extensions and trailers
    char last_byte_ = '\0';              ///< of the chunked body read so far
    std::size_t body_begin_ = 0;
    std::size_t body_end_ = 0;
    std::vector<HeaderPlace> places_;
    Place path_place_;
    Place query_place_;
    std::string unescaped_path_;  ///< empty if nothing in it was escaped
    Place host_place_;
    std::size_t host_count_ = 0;
    bool has_type_ = false;          ///< a Content-Type header
    std::optional<Place> id_place_;  ///< of the first X-Request-Id
    Place coding_place_;
    std::size_t coding_count_ = 0;
    std::string joined_codings_;  ///< if there are several lines of Accept-Encoding
    std::optional<Place> position_place_;
    bool host_from_target_ = false;
    std::unique_ptr<Decoder> decoder_;  ///< null: the body is not decoded
    std::string decoded_;               ///< the decoded part of the body
    std::uint64_t encoded_bytes_ = 0;
    std::uint64_t decoded_bytes_max_;

    core::Request request_;
    std::string_view host_;
    std::string_view request_id_;
    std::string_view accept_encoding_;
    Refusal refusal_;
};

}  // namespace annals::net
