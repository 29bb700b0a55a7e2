// ReplyParser: parses an HTTP/1.1 reply from the bytes of a connection as they arrive.
//
// Layer:   tools, for HttpConnection.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "tools/commands/http_message.h"

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace annals::tools {

class ReplyParser {
  public:
    /// For the reply to `request`, which is not kept.
    explicit ReplyParser(const HttpRequest& request);

    ReplyParser(const ReplyParser&) = delete;
    ReplyParser& operator=(const ReplyParser&) = delete;

    /// Parses received bytes. Errors: body_too_large, io (not HTTP).
    Result<void> take(std::string_view bytes);

    /// Signals the end of input, which may be the end of the reply.
    void end();

    bool complete() const noexcept { return complete_; }

    /// Whether the connection may be reused. Requires: the reply is complete.
    bool keep_alive() const noexcept { return keep_alive_; }

    /// The reply, with its body decoded and without a byte-order mark. Requires: it is complete.
    /// Errors: processing (a success with an unknown encoding), io (the encoded body is incomplete), body_too_large.
    Result<HttpReply> take_reply();

  private:
    static llhttp_settings_t make_settings();

    static ReplyParser& of(llhttp_t* parser) { return *static_cast<ReplyParser*>(parser->data); }

    int add_to_head(std::string& to, std::string_view part);

    llhttp_t parser_;
    HttpReply reply_;
    std::string name_;   ///< of the current header line
    std::string value_;  ///< its value
    std::size_t head_bytes_ = 0;
    std::uint64_t body_bytes_max_;
    std::string too_large_;  ///< what is too large, if anything
    bool head_request_;
    bool complete_ = false;
    bool keep_alive_ = false;
};

}  // namespace annals::tools
