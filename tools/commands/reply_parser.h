// ReplyParser: an HTTP/1.1 reply, out of the bytes of a connection as they come.
//
// Layer:   tools, for HttpClient.
// Threads: belongs to one thread.

#pragma once

#include "core/base/result.h"
#include "tools/commands/http_client.h"

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace annals::tools {

class ReplyParser {
  public:
    /// Of the reply to `request`, which is not kept.
    explicit ReplyParser(const HttpRequest& request);

    ReplyParser(const ReplyParser&) = delete;
    ReplyParser& operator=(const ReplyParser&) = delete;

    /// Takes what came. Errors: body_too_large, io (it is no HTTP).
    Result<void> take(std::string_view bytes);

    /// Nothing more comes, which may be the end of the reply.
    void end();

    bool complete() const noexcept { return complete_; }

    /// Whether the connection may be used again. Requires: the reply is complete.
    bool keep_alive() const noexcept { return keep_alive_; }

    /// Its body is decoded, where it came encoded, and begins without a byte-order mark. Requires: it is complete.
    /// Errors: processing (a success in an encoding that isn't known), io (it is not whole), body_too_large.
    Result<HttpReply> take_reply();

  private:
    static llhttp_settings_t make_settings();

    static ReplyParser& of(llhttp_t* parser) { return *static_cast<ReplyParser*>(parser->data); }

    int add_to_head(std::string& to, std::string_view part);

    llhttp_t parser_;
    HttpReply reply_;
    std::string name_;   ///< of the header line under way
    std::string value_;  ///< and what it says
    std::size_t head_bytes_ = 0;
    std::uint64_t body_bytes_max_;
    std::string too_large_;  ///< what is, if something is
    bool head_request_;
    bool complete_ = false;
    bool keep_alive_ = false;
};

}  // namespace annals::tools
