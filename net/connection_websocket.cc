// The part of a connection that becomes a websocket: who may open one, and its waits.

#include "core/base/text.h"
#include "core/interactions/media_type.h"
#include "core/representation.h"
#include "core/subscriptions/subscription.h"
#include "net/connection.h"
#include "net/subscription_socket.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace annals::net {

namespace {

constexpr std::string_view kPath = "/websocket";

/// After half of limits.idle_timeout without a message, a ping is sent; without an answer in the other
/// half the connection ends.
constexpr int kIdleParts = 2;

/// Whether the comma-separated list in the headers `name` has `token`.
bool has_token(const core::Request& request, std::string_view name, std::string_view token) {
    for (const core::Header& header : request.headers) {
        std::string_view list = equal_ignoring_case(header.name, name) ? header.value : "";
        while (!list.empty()) {
            if (equal_ignoring_case(core::next_part(list, ','), token)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

bool Connection::asks_for_websocket(const core::Request& request) const {
    return worker_.shared.notifier != nullptr && request.path == kPath &&
           (request.method == core::HttpMethod::get || request.method == core::HttpMethod::head);
}

/// Errors: unauthenticated, forbidden.
Result<void> Connection::judge_websocket(const core::Request& request) const {
    // Browsers let any page open a websocket anywhere, with the certificates and addresses of their user.
    if (request.header("Origin") && worker_.shared.cors.lines(request).empty() &&
        !is_own_origin(request, reader_.host())) {
        return Error{Errc::forbidden, "Scripts of this origin may not open a WebSocket here"};
    }
    return core::require_read(worker_.shared.service, request, core::subscription_type(),
                              core::Extent::all);
}

/// Returns none if the connection may become a websocket.
std::optional<core::Response> Connection::refuse_websocket(const core::Request& request) {
    if (const Result<void> allowed = judge_websocket(request); !allowed) {
        return admission_.challenge(allowed.error(), request);
    }
    const bool upgrades = request.method == core::HttpMethod::get &&
                          has_token(request, "Connection", "upgrade") &&
                          has_token(request, "Upgrade", "websocket") && !reader_.http_1_0();
    const bool version = request.header("Sec-WebSocket-Version") == "13";
    if (upgrades && version && websocket_accept(request.header("Sec-WebSocket-Key").value_or(""))) {
        return {};
    }
    core::Response response = Error{
        Errc::invalid, upgrades && version
                           ? "Sec-WebSocket-Key must be 16 bytes in base64"
                           : "This is a WebSocket endpoint: version 13 of RFC 6455 is required"};
    core::represent_error(request, response);
    if (!upgrades || !version) {
        response.status = 426;
        response.headers.emplace_back("Upgrade", "websocket");
        response.headers.emplace_back("Connection", "Upgrade");
        response.headers.emplace_back("Sec-WebSocket-Version", "13");
    }
    return response;
}

Connection::Turn Connection::switch_protocol(const core::Request& request) {
    core::Response response;
    response.status = 101;
    admission_.record(request, response);
    worker_.metrics.answered(request.method, response.status, 0);
    output_.add_text(
        fmt::format("HTTP/1.1 101 Switching Protocols\r\n"
                    "Upgrade: websocket\r\n"
                    "Connection: Upgrade\r\n"
                    "Sec-WebSocket-Accept: {}\r\n"
                    "X-Request-Id: {}\r\n",
                    *websocket_accept(*request.header("Sec-WebSocket-Key")), request_id_));
    if (!correlation_id_.empty()) {
        output_.add_text(fmt::format("X-Correlation-Id: {}\r\n", correlation_id_));
    }
    output_.add_text("\r\n");
    return Turn::switch_protocol;
}

void Connection::wake_websocket() {
    if (phase_ == Phase::websocket) {
        woken_ = true;
        wake();
    }
}

// Adds to `out` what the client is to be told by now. False if the connection was abandoned meanwhile.
asio::awaitable<bool> Connection::bring_up_to_date(SubscriptionSocket& session, std::string& out) {
    while (session.unread().value != 0) {
        co_await worker_.loop.fetched({session.unread()});
        if (abandoned_) {
            co_return false;
        }
        session.go_on(out);
    }
    const bool let_in = co_await is_still_let_in();
    if (!let_in && !session.has_ended()) {
        out.clear();  // Nothing else is sent to it.
        session.end(CloseCode::policy, out);
    }
    session.add_pings(out);
    if (worker_.shared.stopping.load(std::memory_order_relaxed)) {
        session.end(CloseCode::going_away, out);
    }
    co_return !abandoned_;
}

asio::awaitable<void> Connection::speak() {
    const std::chrono::milliseconds pause = worker_.shared.config.limits.idle_timeout / kIdleParts;
    const auto bytes = std::make_unique<std::array<char, 4096>>();
    SubscriptionSocket session(worker_.shared.service, worker_.shared.pings);
    std::string out;
    bool asked = false;  // a ping awaits its answer
    session.take(reader_.rest(), out);
    for (;;) {
        const bool connected = co_await bring_up_to_date(session, out);
        if (!connected) {
            co_return;
        }
        if (!out.empty()) {
            output_.add_text(std::exchange(out, {}));
            const Output::Sent sent = co_await write();
            if (sent == Output::Sent::broken) {
                co_return;
            }
            if (!session.has_ended()) {
                // Others get their turn, however fast the client reads; messages added meanwhile go out next.
                co_await worker_.loop.yield();
                if (abandoned_) {
                    co_return;
                }
                continue;
            }
        }
        if (session.has_ended()) {
            co_await linger();
            co_return;
        }
        enter(Phase::websocket, pause);
        const Moved moved = co_await read_some(*bytes);
        phase_ = Phase::working;
        const bool expired = std::exchange(expired_, false);
        const bool woken = std::exchange(woken_, false);
        if (abandoned_) {
            co_return;
        }
        const auto& [ec, count] = moved;
        if (!ec && count > 0) {
            asked = false;
            session.take({bytes->data(), count}, out);
        } else if (expired && !asked) {
            asked = true;
            append_frame(out, Opcode::ping, "");
        } else if (expired || !woken) {
            co_return;
        }
    }
}

}  // namespace annals::net
