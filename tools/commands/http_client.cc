#include "tools/commands/http_client.h"

#include "core/base/text.h"
#include "net/coding.h"
#include "tools/commands/bundle_answers.h"
#include "tools/commands/http_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace annals::tools {

using std::chrono::milliseconds;

namespace {

/// Smaller bodies are sent as they are: little would be saved.
constexpr std::size_t kCompressedBytesMin = 1 << 10;

/// How many replies in a row may be unreadable. With the usual pauses, that is half a minute.
constexpr int kUnreadableMax = 12;

/// Retry-After in seconds; nothing for a date.
milliseconds retry_after(const HttpReply& reply) {
    const std::string_view text = reply.header("Retry-After").value_or("");
    return std::chrono::seconds(parse_number<std::uint32_t>(text).value_or(0));
}

/// The text of an OperationOutcome in the reply, after a colon; empty for any other body, such as a proxy's page.
std::string said_in(const HttpReply& reply) {
    json::Parser parser;
    const auto outcome = parser.parse(reply.body);
    if (!outcome || !outcome->root()["resourceType"].equals("OperationOutcome")) {
        return {};
    }
    const std::string text = outcome_text(outcome->root());
    return text.empty() ? text : ": " + text;
}

/// The same request with its body compressed, which `encoded` keeps.
HttpRequest compressed(const HttpRequest& request, std::string& encoded) {
    HttpRequest smaller = request;
    if (const net::EncoderPointer encoder = net::take_encoder(net::Coding::zstd)) {
        encoder->add(request.body, net::Encoder::Then::end, encoded);
        smaller.body = encoded;
        smaller.headers.emplace_back("Content-Encoding", net::coding_name(net::Coding::zstd));
    }
    return smaller;
}

/// Whether a compressed body may have been refused for its coding. Servers that ignore codings don't understand it (400).
bool is_about_coding(const HttpReply& reply, const Compression& compression) {
    return reply.status == 415 || (reply.status == 400 && !compression.taken);
}

/// Whether this reply to the uncompressed body shows that `status` had to do with the coding: the server has looked at the body.
bool shows_coding_refused(const HttpReply& plain, int status) {
    constexpr std::array kUnread{401, 403, 408, 413, 429};
    return plain.status != status && plain.status < 500 &&
           std::ranges::find(kUnread, plain.status) == kUnread.end();
}

/// Whether a request that was answered like this may succeed if it is sent again.
bool is_passing(const HttpConnection& connection, const HttpRequest& request,
                const HttpReply& reply) {
    // Any other 503 means that nothing was done (or that a sync failed, after which nothing is until a restart); after other
    // faults that is unknown. A request with a body that was too slow (408) may be so again: that is left to the caller.
    return reply.status == 429 || reply.status == 503 ||
           (reply.status >= 500 && reply.status != 501 && request.repeatable) ||
           (reply.status == 408 && request.body.empty()) ||
           (reply.status == 401 && connection.let_in() &&
            connection.server().credentials.in_files());
}

/// What makes a reply unreadable; empty: nothing.
std::string_view damage_of(const HttpRequest& request, const HttpReply& reply) {
    const bool cut_off = reply.status == 200 && request.is_cut_off && request.is_cut_off(reply);
    if (request.method == "GET" && reply.body.find('\0') != std::string::npos) {
        return "a version was erased while it was being sent";
    }
    return cut_off ? "the response cannot be parsed, or was cut off" : "";
}

}  // namespace

HttpClient::HttpClient(ServerUrl server, milliseconds timeout)
    : connection_(std::make_unique<HttpConnection>(std::move(server), timeout)) {
}

HttpClient::~HttpClient() = default;

HttpClient::HttpClient(HttpClient&&) noexcept = default;

const ServerUrl& HttpClient::server() const noexcept {
    return connection_->server();
}

bool HttpClient::sent() const noexcept {
    return connection_->sent();
}

void HttpClient::close() {
    connection_->close();
}

Result<HttpReply> HttpClient::send_body(const HttpRequest& request) {
    const std::shared_ptr<Compression>& compression = server().compression;
    if (compression == nullptr || compression->refused ||
        request.body.size() < kCompressedBytesMin) {
        return connection_->exchange(request);
    }
    std::string encoded;
    auto reply = connection_->exchange(compressed(request, encoded));
    if (!reply || !is_about_coding(*reply, *compression)) {
        compression->taken = compression->taken || (reply && reply->status / 100 == 2);
        return reply;
    }
    auto plain = connection_->exchange(request);
    const bool helped = plain && shows_coding_refused(*plain, reply->status);
    if (helped && !compression->refused.exchange(true) && connection_->patience().say) {
        connection_->patience().say(
            fmt::format("{}: status {}: compressed bodies are not accepted, so they are sent "
                        "uncompressed from now on",
                        server().authority(), reply->status));
    }
    return plain;
}

Result<HttpReply> HttpClient::send(const HttpRequest& request) {
    auto reply = send_body(request);
    // Callers report a reply by its body.
    if (reply && reply->status / 100 == 3) {
        if (const auto location = reply->header("Location")) {
            reply->body = fmt::format("redirect to {}", *location);
        }
    }
    return reply;
}

bool HttpClient::is_given_up(const HttpReply& reply) {
    if (reply.status != 503) {
        return false;
    }
    json::Parser parser;
    const auto outcome = parser.parse(reply.body);
    if (!outcome) {
        return false;
    }
    for (const json::Value issue : outcome->root()["issue"].elements()) {
        if (issue["code"].equals("timeout")) {
            return true;
        }
    }
    return false;
}

Result<HttpReply> HttpClient::send_patiently(const HttpRequest& request, const Patience& patience) {
    const auto started = std::chrono::steady_clock::now();
    connection_->set_patience(patience);
    const std::string authority = server().authority();
    auto pause = patience.first_pause;
    int unreadable_in_a_row = 0;
    while (true) {
        auto reply = send(request);
        std::string why;
        bool again = false;
        std::string_view damage;
        milliseconds asked{0};
        if (reply && !request.repeatable && is_given_up(*reply)) {
            json::Parser parser;
            return Error{Errc::timeout, fmt::format("{}: status 503: {}", authority,
                                                    outcome_text(parser, reply->body))};
        }
        if (reply && request.divisible && is_given_up(*reply)) {
            return reply;
        }
        if (reply) {
            again = is_passing(*connection_, request, *reply);
            damage = again ? "" : damage_of(request, *reply);
            if (again) {
                why = fmt::format("{}: status {}{}", authority, reply->status, said_in(*reply));
            } else if (!damage.empty()) {
                why = fmt::format("{}: {}", authority, damage);
            }
            asked = std::min(retry_after(*reply), patience.longest_wait);
        } else {
            const bool passing =
                reply.error().code == Errc::io || reply.error().code == Errc::timeout;
            again = passing && (request.repeatable || !sent());
            why = reply.error().detail;
        }
        unreadable_in_a_row = damage.empty() ? 0 : unreadable_in_a_row + 1;
        const milliseconds wait = std::max(pause, asked);
        const bool too_late =
            patience.give_up_after.count() >= 0 &&
            std::chrono::steady_clock::now() - started + wait > patience.give_up_after;
        if ((!again && damage.empty()) || patience.ends() || too_late ||
            unreadable_in_a_row == kUnreadableMax) {
            return reply;
        }
        patience.wait(why, wait);
        pause = std::min(pause * 2, patience.longest_pause);
    }
}

}  // namespace annals::tools
