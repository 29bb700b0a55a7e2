#include "tools/commands/reply_parser.h"

#include "core/base/text.h"
#include "net/coding.h"

#include <fmt/format.h>

#include <optional>

namespace annals::tools {

namespace {

/// Limits a reply's header lines, including interim replies and trailers.
constexpr std::size_t kHeadBytesMax = 1 << 20;

/// Decodes `body` from `coding`. Errors: processing (an unknown coding), io (it is incomplete), body_too_large.
Result<std::string> decoded(std::string_view body, std::string_view coding,
                            std::uint64_t bytes_max) {
    const std::optional<net::Coding> named = net::coding_named(coding);
    const auto decoder = named ? net::make_decoder(*named) : nullptr;
    if (decoder == nullptr) {
        return Error{Errc::processing,
                     fmt::format("the response is encoded ({}), which was not requested", coding)};
    }
    std::string plain;
    const net::Decoder::Step step = decoder->add(body, bytes_max, plain);
    if (step == net::Decoder::Step::too_large) {
        return Error{
            Errc::body_too_large,
            fmt::format("the response is too large: its body has more than {} bytes", bytes_max)};
    }
    if (step == net::Decoder::Step::corrupt || !decoder->complete()) {
        return Error{Errc::io, fmt::format("the response is not valid {}", coding)};
    }
    return plain;
}

/// Decodes the body of `reply` if it is encoded, asked or not. Errors: as decoded(), if it is a success.
Result<void> make_plain(HttpReply& reply, std::uint64_t bytes_max) {
    const std::string coding(reply.header("Content-Encoding").value_or(""));
    if (!reply.body.empty() && net::coding_named(coding) != net::Coding::identity) {
        Result<std::string> plain = decoded(reply.body, coding, bytes_max);
        if (!plain && reply.status / 100 == 2) {
            return std::move(plain.error());
        }
        reply.body = plain ? *std::move(plain) : plain.error().detail;
    }
    if (reply.body.starts_with(kByteOrderMark)) {
        reply.body.erase(0, kByteOrderMark.size());
    }
    return {};
}

}  // namespace

/// Appends a part of a header line to `to`; not 0 if the head is too large.
int ReplyParser::add_to_head(std::string& to, std::string_view part) {
    // A line takes more memory than its bytes.
    head_bytes_ += part.size() + sizeof(std::string);
    if (head_bytes_ > kHeadBytesMax) {
        too_large_ = fmt::format("its header has more than {} bytes", kHeadBytesMax);
        return HPE_USER;
    }
    to.append(part);
    return 0;
}

llhttp_settings_t ReplyParser::make_settings() {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_header_field = [](llhttp_t* parser, const char* at, std::size_t size) {
        return of(parser).add_to_head(of(parser).name_, {at, size});
    };
    settings.on_header_value = [](llhttp_t* parser, const char* at, std::size_t size) {
        return of(parser).add_to_head(of(parser).value_, {at, size});
    };
    settings.on_header_value_complete = [](llhttp_t* parser) {
        ReplyParser& self = of(parser);
        self.reply_.headers.emplace_back(std::move(self.name_), std::move(self.value_));
        self.name_.clear();
        self.value_.clear();
        return 0;
    };
    settings.on_headers_complete = [](llhttp_t* parser) {
        of(parser).reply_.status = parser->status_code;
        return of(parser).head_request_ ? 1 : 0;
    };
    settings.on_body = [](llhttp_t* parser, const char* at, std::size_t size) {
        ReplyParser& self = of(parser);
        if (size > self.body_bytes_max_ - self.reply_.body.size()) {
            self.too_large_ = fmt::format("its body has more than {} bytes", self.body_bytes_max_);
            return static_cast<int>(HPE_USER);
        }
        self.reply_.body.append(at, size);
        return 0;
    };
    settings.on_message_complete = [](llhttp_t* parser) {
        ReplyParser& self = of(parser);
        if (parser->status_code >= 100 && parser->status_code < 200) {
            self.reply_.headers.clear();
            return 0;
        }
        self.complete_ = true;
        self.keep_alive_ = llhttp_should_keep_alive(parser) == 1;
        return static_cast<int>(HPE_PAUSED);
    };
    return settings;
}

ReplyParser::ReplyParser(const HttpRequest& request)
    : body_bytes_max_(request.reply_bytes_max), head_request_(request.method == "HEAD") {
    static const llhttp_settings_t kSettings = make_settings();
    llhttp_init(&parser_, HTTP_RESPONSE, &kSettings);
    parser_.data = this;
}

Result<void> ReplyParser::take(std::string_view bytes) {
    const llhttp_errno_t code = llhttp_execute(&parser_, bytes.data(), bytes.size());
    if (!too_large_.empty()) {
        return Error{Errc::body_too_large,
                     fmt::format("the response is too large: {}", too_large_)};
    }
    if (code != HPE_OK && !complete_) {
        return Error{Errc::io, fmt::format("the response is not valid HTTP: {}",
                                           llhttp_get_error_reason(&parser_))};
    }
    return {};
}

Result<HttpReply> ReplyParser::take_reply() {
    ANNALS_TRY_VOID(make_plain(reply_, body_bytes_max_));
    return std::move(reply_);
}

void ReplyParser::end() {
    llhttp_finish(&parser_);
}

}  // namespace annals::tools
