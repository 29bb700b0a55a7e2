#include "net/connection.h"

#include "core/base/random.h"
#include "core/outcome.h"
#include "core/representation.h"
#include "net/auth/smart_configuration.h"
#include "net/await.h"
#include "net/characters.h"
#include "net/compression.h"
#include "net/probes.h"

#include <asio/buffer.hpp>

#include <utility>

namespace annals::net {

namespace {

/// What responses to GET depend on besides the URL.
constexpr std::string_view kVary = "Accept, Accept-Encoding";
constexpr std::string_view kVaryByOrigin = "Accept, Accept-Encoding, Origin";

/// For responses that a cache must validate.
constexpr std::string_view kSharedCaching = "no-cache";

/// The responses of one turn are sent once they have this size.
constexpr std::size_t kTurnBytesMax = 1 << 20;

/// Whether it is one of the server's own descriptions: large, and the same for everyone.
bool is_description(const core::Request& request, const core::Response& response) {
    return response.status == 200 && request.query.empty() &&
           (request.path == "/metadata" || request.path == "/openapi.json");
}

}  // namespace

/// Removes /fhir from the path, if it begins with that.
bool Connection::enter_root(core::Request& request) {
    if (!request.path.starts_with(kRoot) ||
        (request.path.size() != kRoot.size() && request.path[kRoot.size()] != '/')) {
        return false;
    }
    request.path.remove_prefix(kRoot.size());
    return true;
}

void Connection::enter(Phase phase, std::chrono::milliseconds limit) {
    phase_ = phase;
    deadline_ = worker_.time + limit;
}

Framing Connection::framing(bool close) const {
    return {.head = false,
            .http_1_0 = false,
            .close = close,
            .date = {worker_.date.data(), worker_.date.size()},
            .request_id = request_id_,
            .correlation_id = correlation_id_,
            .vary = {},
            .lines = worker_.shared.header_lines,
            .more_lines = cors_lines_};
}

asio::awaitable<void> Connection::run(std::unique_ptr<Connection> connection) {
    co_await connection->serve();
}

asio::awaitable<void> Connection::serve() {
    if (tls_ != nullptr) {
        const bool greeted = co_await greet();
        if (!greeted) {
            co_return;
        }
    }
    Turn turn = Turn::read;
    for (;;) {
        // What is ready is sent before every step, also before one that waits: earlier responses are not held back.
        Output::Sent sent = Output::Sent::all;
        if (!output_.empty()) {
            sent = output_.send(socket_.native_handle(), tls_.get());
        }
        if (sent == Output::Sent::blocked) {
            sent = co_await write();
        }
        if (sent == Output::Sent::broken) {
            co_return;
        }
        switch (turn) {
            case Turn::read: {
                if (!begin_read()) {
                    co_return;
                }
                const std::span<char> room = reader_.room();
                if (!is_within_memory()) {
                    turn = refuse(Error{Errc::overloaded});
                    continue;
                }
                const Moved moved = co_await read_some(room);
                turn = end_read(std::get<0>(moved), std::get<1>(moved));
                if (turn == Turn::read) {
                    turn = answer_ready();
                }
                continue;
            }
            case Turn::await:
                turn = co_await handle();
                continue;
            case Turn::settle: {
                begin_settling();
                // While the commit is being made durable, prepare() serializes `early_`.
                const Result<void> durable = co_await worker_.loop.settled_ticket(
                    early_->unsettled, static_cast<core::Meanwhile*>(this));
                turn = end_settling(durable);
                continue;
            }
            case Turn::slices:
                turn = co_await write_slices();
                continue;
            case Turn::yield:
                co_await worker_.loop.yield();
                turn = abandoned_ ? Turn::gone : answer_ready();
                continue;
            case Turn::close:
                co_await linger();
                co_return;
            case Turn::switch_protocol:
                co_await speak();
                co_return;
            case Turn::gone:
                co_return;
        }
    }
}

// The response to a request below the root that needs no further work: what is public, and refusals. None: it is
// admitted, unless the admission is undecided.
std::optional<core::Response> Connection::first_answer(core::Request& request) {
    const Shared& shared = worker_.shared;
    std::optional<core::Response> response;
    cors_lines_ = shared.cors.lines(request);
    if (!cors_lines_.empty()) {
        response = shared.cors.preflight(shared.config, request);
    }
    if (!response) {
        response = auth::answer_smart_configuration(shared.config, request);
    }
    if (!response && shared.token_endpoint != nullptr) {
        response = shared.token_endpoint->answer_keys(request);
    }
    if (!response) {
        response = admission_.judge(request, reader_.host());
    }
    return response;
}

// Whether the current request, whose response has no end, would still be admitted.
asio::awaitable<bool> Connection::is_still_let_in() {
    core::Request& request = reader_.request();
    std::optional<core::Response> refusal = co_await admission_.identify_again(request, abandoned_);
    if (!refusal && asks_for_websocket(request)) {
        refusal = refuse_websocket(request);
    } else if (!refusal) {
        refusal = worker_.shared.handlers.head(worker_.shared.service, request);
    }
    co_return !refusal;
}

Connection::Turn Connection::answer_ready() {
    phase_ = Phase::working;
    count_memory();
    for (std::size_t answered = 0; answered < kPipelinedRequestsMax; ++answered) {
        switch (reader_.next()) {
            case RequestReader::Step::need_bytes:
                return Turn::read;
            case RequestReader::Step::expects_continue:
                output_.add_text("HTTP/1.1 100 Continue\r\n\r\n");
                return Turn::read;
            case RequestReader::Step::head:
                if (const std::optional<Turn> end = judge_head()) {
                    return *end;
                }
                continue;
            case RequestReader::Step::refused: {
                const Refusal& refusal = reader_.refusal();
                return refuse(Error{refusal.code, std::string(refusal.text)}, refusal.status);
            }
            case RequestReader::Step::request:
                break;
        }
        const Turn turn = answer_request();
        if (turn != Turn::read) {
            return turn;
        }
        if (output_.size() > kTurnBytesMax) {
            break;
        }
    }
    return Turn::yield;
}

// Answers a complete request, as far as no coroutine is needed.
Connection::Turn Connection::answer_request() {
    if (reader_.decodes()) {
        count_memory();
    }
    reading_ = RequestReader::Phase::idle;
    begin_deadline_.reset();
    request_begin_ = Clock::now();
    core::Request& request = reader_.request();
    fill_in(request);
    std::optional<core::Response> response;
    if (enter_root(request)) {
        if (overload_) {
            return refuse(Error{Errc::overloaded});
        }
        response = first_answer(request);
        const bool judged = !response && !admission_.is_undecided();
        if (judged && asks_for_websocket(request)) {
            response = refuse_websocket(request);
            if (!response) {
                return switch_protocol(request);
            }
        } else if (judged) {
            const Handlers& handlers = worker_.shared.handlers;
            response = handlers.plain(worker_.shared.service, request, route_);
            if (!response) {
                early_ = handlers.early(worker_.shared.service, request, route_);
                if (early_ && early_->unsettled.value != 0) {
                    return Turn::settle;
                }
                response = std::exchange(early_, std::nullopt);
            }
        }
    } else {
        response = answer_outside(worker_.shared, request);
        core::represent_error(request, *response);
    }
    if (!response) {
        return Turn::await;
    }
    admission_.record(request, *response);
    return answer(*response);
}

void Connection::take_request_id(core::Request& request) {
    const std::string_view given = reader_.given_request_id();
    correlation_id_.clear();
    if (is_request_id(given)) {
        request_id_ = given;
        request.client_request_id = request_id_;
    } else {
        request_id_.resize(16);
        write_random_hex(request_id_.data());
        request.client_request_id = {};
        if (is_correlation_id(given)) {
            correlation_id_ = given;
        }
    }
    request.request_id = request_id_;
}

void Connection::fill_in(core::Request& request) {
    take_request_id(request);
    cors_lines_ = {};
    admission_.begin(request);
    request.loop = &worker_.loop;

    const Shared& shared = worker_.shared;
    const std::string_view host = reader_.host();
    if (!shared.config.base_url.empty()) {
        request.base_url = shared.config.base_url;
    } else if (host.empty()) {
        request.base_url = shared.base_url;
    } else {
        if (host != base_url_host_) {
            base_url_host_ = host;
            base_url_ = tls_ != nullptr ? "https://" : "http://";
            base_url_ += host;
            base_url_ += kRoot;
        }
        request.base_url = base_url_;
    }
}

std::uint64_t Connection::microseconds_until(Clock::time_point now) const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now - request_begin_).count());
}

Connection::Turn Connection::answer(core::Response& response) {
    const Clock::time_point now = Clock::now();
    worker_.metrics.answered(reader_.request().method, response.status, microseconds_until(now));
    return put(response, now);
}

Connection::Turn Connection::put(core::Response& response, Clock::time_point now) {
    worker_.keep_date(now);
    const core::Request& request = reader_.request();
    if (!reader_.accept_encoding().empty()) {
        compress(response, reader_.accept_encoding(), is_description(request, response));
    }
    const bool sliced = response.more != nullptr && request.method != core::HttpMethod::head;
    const bool measured = sliced && response.more->size_left().has_value();
    closing_ = response.close || !reader_.keep_alive() ||
               (sliced && !measured && reader_.http_1_0()) || overload_ ||
               worker_.shared.stopping.load(std::memory_order_relaxed);
    Framing frame = framing(closing_);
    frame.head = request.method == core::HttpMethod::head;
    frame.http_1_0 = reader_.http_1_0();
    if (frame.head || request.method == core::HttpMethod::get) {
        frame.vary = worker_.shared.cors.varies() ? kVaryByOrigin : kVary;
    }
    if (worker_.authenticator &&
        (response.cache_control.empty() ||
         (request.principal != nullptr && response.cache_control == kSharedCaching))) {
        response.cache_control = kGuardedCaching;
    } else if (response.cache_control.empty() && !frame.vary.empty()) {
        // Otherwise a cache may estimate from Last-Modified how long to keep a response to GET
        // (RFC 9111 section 4.2.2).
        response.cache_control = kSharedCaching;
    }
    output_.add(response, frame);
    if (sliced) {
        slices_ = std::move(response.more);
        slices_chunked_ = !measured && !frame.http_1_0;
        return Turn::slices;
    }
    return closing_ ? Turn::close : Turn::read;
}

void Connection::begin_settling() {
    enter(Phase::handling, worker_.shared.config.limits.request_timeout);
    worker_.metrics.in_flight.add();
    early_turn_.reset();
}

Connection::Turn Connection::end_settling(const Result<void>& durable) {
    worker_.metrics.in_flight.subtract();
    phase_ = Phase::working;
    if (!durable) {
        output_.clear();
        early_turn_.reset();
        early_ = durable.error();
        core::tell_failure(reader_.request(), *early_);
    }
    admission_.record(reader_.request(), *early_);
    if (abandoned_) {
        return Turn::gone;
    }
    const Clock::time_point now = Clock::now();
    worker_.metrics.answered(reader_.request().method, early_->status, microseconds_until(now));
    const Turn turn = early_turn_ ? *early_turn_ : put(*early_, now);
    early_.reset();
    return turn == Turn::read ? answer_ready() : turn;
}

void Connection::prepare() {
    early_turn_ = put(*early_, Clock::now());
}

asio::awaitable<Connection::Turn> Connection::handle() {
    enter(Phase::handling, worker_.shared.config.limits.request_timeout);
    worker_.metrics.in_flight.add();
    core::Request& request = reader_.request();
    std::optional<core::Response> response;
    const bool judged = !admission_.is_undecided();
    if (!judged) {
        response = co_await admission_.judge_later(request, reader_.host(), abandoned_);
    }
    const bool websocket = asks_for_websocket(request);
    if (!response && websocket) {
        response = refuse_websocket(request);
    }
    if (!response && websocket) {
        worker_.metrics.in_flight.subtract();
        phase_ = Phase::working;
        co_return abandoned_ ? Turn::gone : switch_protocol(request);
    }
    const Handlers& handlers = worker_.shared.handlers;
    if (!response && !judged) {
        response = handlers.plain(worker_.shared.service, request, route_);
    }
    if (!response) {
        response = co_await handlers.awaiting(worker_.shared.service, request, route_);
    }
    worker_.metrics.in_flight.subtract();
    phase_ = Phase::working;
    admission_.record(request, *response);
    if (abandoned_) {
        co_return Turn::gone;
    }
    const Turn turn = answer(*response);
    co_return turn == Turn::read ? answer_ready() : turn;
}

}  // namespace annals::net
