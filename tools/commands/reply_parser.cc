#include "tools/commands/reply_parser.h"

#include <fmt/format.h>

namespace annals::tools {

namespace {

/// Of the header lines of a reply, those of interim replies and behind its body included.
constexpr std::size_t kHeadBytesMax = 1 << 20;

}  // namespace

/// Adds a part of a header line to `to`; not 0 if there are too many.
int ReplyParser::add_to_head(std::string& to, std::string_view part) {
    // A line costs more than its bytes.
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
        return Error{Errc::body_too_large, fmt::format("the answer is too large: {}", too_large_),
                     ""};
    }
    if (code != HPE_OK && !complete_) {
        return Error{Errc::io,
                     fmt::format("the answer is no HTTP: {}", llhttp_get_error_reason(&parser_)),
                     ""};
    }
    return {};
}

void ReplyParser::end() {
    llhttp_finish(&parser_);
}

}  // namespace annals::tools
