// The part of a connection that decides who may go on: memory, the audit log, rates, and who somebody is.

#include "core/base/text.h"
#include "core/interactions/media_type.h"
#include "core/representation.h"
#include "net/await.h"
#include "net/connection.h"
#include "net/probes.h"

#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::net {

namespace {

/// How long a request waits for what tells who sends it, and how often it looks: more and more seldom.
constexpr std::chrono::seconds kSettledWait{4};
constexpr std::chrono::milliseconds kSettledPauseMax{20};

/// A request of so many bytes goes on whatever others take.
constexpr std::uint64_t kSmallBytes = 64 << 10;

/// How often a request that waits for a line of the audit log looks whether there is one.
constexpr std::chrono::milliseconds kLinePause{10};

/// The CapabilityStatement says where tokens are got: whoever has one that is no good must be able to read it. It is the same for
/// everybody, but for a list of code systems that needs no token to be read; other public answers may depend on who asks, and
/// there a bad token is told.
bool needs_no_token(const core::Config& config, const core::Request& request) {
    return (request.path == "/metadata" || request.path == "/metadata/") &&
           (request.method == core::HttpMethod::get || request.method == core::HttpMethod::head) &&
           core::is_public(config, "metadata");
}

}  // namespace

/// Takes /fhir from the path, if it begins with that.
bool Connection::enter_root(core::Request& request) {
    if (!request.path.starts_with(kRoot) ||
        (request.path.size() != kRoot.size() && request.path[kRoot.size()] != '/')) {
        return false;
    }
    request.path.remove_prefix(kRoot.size());
    return true;
}

/// Counts what is being read to what all may take together, and holds what may still come of it to the rest.
void Connection::count_memory() {
    Shared& shared = worker_.shared;
    const std::size_t bytes = reader_.memory();
    if (bytes != memory_) {
        shared.memory.fetch_add(bytes - memory_, std::memory_order_relaxed);
        memory_ = bytes;
    }
    const std::uint64_t limit = shared.config.limits.max_memory;
    const std::uint64_t taken = shared.memory.load(std::memory_order_relaxed);
    // A few bytes that arrive may be many when they are decoded.
    reader_.set_decoded_bytes_max(bytes + kSmallBytes + (taken < limit ? limit - taken : 0));
}

/// Whether what is being read fits into what all may take together. A small request always does.
bool Connection::is_within_memory() {
    count_memory();
    return memory_ <= kSmallBytes || worker_.shared.memory.load(std::memory_order_relaxed) <=
                                         worker_.shared.config.limits.max_memory;
}

/// Whether a browser has sent it for a page of an origin that nobody has named, without a preflight that would have told it so
/// (https://fetch.spec.whatwg.org, CORS-safelisted). What the page is told then comes too late: it would have written already, from
/// within its user's network and with his certificate.
bool Connection::is_of_foreign_page(const core::Request& request) const {
    if (request.method != core::HttpMethod::post || !request.header("Origin") ||
        !cors_lines_.empty() || is_own_origin(request) || request.path.ends_with("/_search")) {
        return false;
    }
    // Scripts can't set it. Behind a proxy that gives another Host it tells the application's own page.
    if (request.header("Sec-Fetch-Site") == "same-origin") {
        return false;
    }
    const std::string_view type =
        core::read_media_type(request.header("Content-Type").value_or("")).name;
    return type.empty() || equal_ignoring_case(type, "text/plain") ||
           equal_ignoring_case(type, "application/x-www-form-urlencoded") ||
           equal_ignoring_case(type, "multipart/form-data");
}

/// Finds out whether the request may go on to its handler, or answers why not. With `settled_` or `waits_for_line_`
/// set that is not known yet.
std::optional<core::Response> Connection::admit(core::Request& request) {
    Shared& shared = worker_.shared;
    if (shared.audit != nullptr && !line_reserved_) {
        line_reserved_ = shared.audit->reserve();
        if (!line_reserved_ && shared.config.audit.when_full == "wait") {
            waits_for_line_ = true;
            return {};
        }
        if (!line_reserved_) {
            core::Response response =
                Error{Errc::overloaded, "The audit log takes no more at present", ""};
            core::represent_error(request, response);
            return response;
        }
    }
    std::optional<core::Response> refusal;
    if (asks_for_token(request)) {
        if (std::optional<core::Response> slower = slow_down(request)) {
            return slower;
        }
        return give_token(request, true);
    }
    if (worker_.authenticator) {
        refusal = identify(request, true);
    } else if (is_of_foreign_page(request)) {
        refusal = Error{Errc::forbidden, "Pages of this origin may not write here", ""};
        core::represent_error(request, *refusal);
    }
    if (settled_ == nullptr) {
        // Whoever can't say who he is, is known by his address.
        if (std::optional<core::Response> slower = slow_down(request)) {
            return slower;
        }
    }
    return refusal;
}

bool Connection::asks_for_token(const core::Request& request) const {
    return worker_.shared.token_endpoint != nullptr && auth::TokenEndpoint::is_for(request);
}

/// The answer to whoever asks for a token; none with `settled_` set: it is not known yet.
std::optional<core::Response> Connection::give_token(core::Request& request, bool may_ask) {
    std::string client;
    std::optional<core::Response> answer = worker_.shared.token_endpoint->answer(
        request, network_text_, now(), may_ask ? &settled_ : nullptr, client);
    if (!client.empty()) {
        // For the audit log: it may do nothing by this.
        principal_ = std::make_shared<const core::Principal>(std::move(client), "");
        request.principal = principal_.get();
    }
    return answer;
}

std::optional<core::Response> Connection::slow_down(const core::Request& request) {
    if (!worker_.shared.throttle.limits_requests() || std::exchange(charged_, true)) {
        return {};
    }
    const std::string who =
        request.principal != nullptr ? "p" + request.principal->name() : "a" + network_text_;
    const auto wait = worker_.shared.throttle.take(who, Clock::now());
    if (!wait) {
        return {};
    }
    worker_.metrics.throttled.add();
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait).count();
    core::Response response = Error{Errc::throttled,
                                    fmt::format("More than {} requests a second; try again in {} s",
                                                worker_.shared.config.limits.rate, seconds),
                                    ""};
    worker_.shared.throttle.tell(response, *wait);
    core::represent_error(request, response);
    return response;
}

/// Before the body is read: whether its sender may send it. What can't be told by the head is told later.
std::optional<core::Response> Connection::refuse_at_head(core::Request& request) {
    if (!enter_root(request)) {
        // Nobody is asked who he is there, and nothing takes a body.
        core::Response answer = answer_outside(worker_.shared, request);
        core::represent_error(request, answer);
        return answer;
    }
    cors_lines_ = worker_.shared.cors.lines(request);
    if (asks_for_token(request)) {
        return auth::TokenEndpoint::refuse_at_head(request);
    }
    std::optional<core::Response> refusal = admit(request);
    const bool unknown = settled_ != nullptr || waits_for_line_;
    settled_ = nullptr;
    waits_for_line_ = false;
    if (!refusal && !unknown) {
        refusal = worker_.shared.handlers.head(worker_.shared.service, request);
    }
    return refusal;
}

void Connection::record(const core::Request& request, const core::Response& response) {
    charged_ = false;
    if (std::exchange(line_reserved_, false)) {
        worker_.shared.audit->record_access(request, response, address_text_);
    }
}

/// The same for what the reader refused, if its head was read. For what there was no room for no line is taken.
void Connection::record_refusal(core::Request& request, const core::Response& response,
                                bool overloaded) {
    if (worker_.shared.audit == nullptr || !enter_root(request)) {
        return;
    }
    if (!line_reserved_) {
        // Nobody has asked yet who sends it: what stands there is of the request before.
        request.principal = nullptr;
        line_reserved_ = !overloaded && worker_.shared.audit->reserve();
    }
    record(request, response);
}

/// False if nobody waits for the answer any more.
asio::awaitable<bool> Connection::wait_for_audit() {
    asio::steady_timer pause(worker_.loop.context());
    while (!abandoned_) {
        if (worker_.shared.audit->reserve()) {
            line_reserved_ = true;
            co_return true;
        }
        pause.expires_after(kLinePause);
        const Waited waited = co_await pause.async_wait(use_tuple);
        static_cast<void>(waited);
    }
    co_return false;
}

core::Response Connection::challenge(const Error& error, const core::Request& request) const {
    core::Response response = error;
    if (error.code == Errc::throttled) {
        worker_.metrics.throttled.add();
    }
    core::represent_error(request, response);
    core::add_challenge(worker_.shared.service, error, response);
    return response;
}

// Finds out who sends the request, or answers why that can't be told. With settled_ set it is not known yet.
std::optional<core::Response> Connection::identify(core::Request& request, bool may_ask) {
    auto who = worker_.authenticator->authenticate(request, {network_text_, certificate_}, now(),
                                                   may_ask ? &settled_ : nullptr, memo_);
    if (who) {
        principal_ = *std::move(who);
        request.principal = principal_.get();
        return {};
    }
    if (settled_ != nullptr) {
        return {};
    }
    if (needs_no_token(worker_.shared.config, request)) {
        principal_ = nullptr;
        request.principal = nullptr;
        return {};
    }
    return challenge(who.error(), request);
}

// The same, once what was asked is answered, or isn't.
asio::awaitable<std::optional<core::Response>> Connection::identify_later(core::Request& request) {
    asio::steady_timer timer(worker_.loop.context());
    const Clock::time_point end = Clock::now() + kSettledWait;
    std::chrono::milliseconds pause{1};
    while (!settled_->load() && Clock::now() < end && !abandoned_) {
        timer.expires_after(pause);
        const Waited waited = co_await timer.async_wait(use_tuple);
        static_cast<void>(waited);
        pause = std::min(pause * 2, kSettledPauseMax);
    }
    settled_ = nullptr;
    co_return asks_for_token(request) ? give_token(request, false) : identify(request, false);
}

// Whether the request under way, to which the answer has no end, would be let in now: tokens expire, and keys are taken back.
asio::awaitable<bool> Connection::is_still_let_in() {
    if (!worker_.authenticator) {
        co_return true;
    }
    core::Request& request = reader_.request();
    std::optional<core::Response> refusal = identify(request, true);
    if (settled_ != nullptr) {
        refusal = co_await identify_later(request);
    }
    if (!refusal && asks_for_websocket(request)) {
        refusal = refuse_websocket(request);
    } else if (!refusal) {
        refusal = worker_.shared.handlers.head(worker_.shared.service, request);
    }
    co_return !refusal;
}

}  // namespace annals::net
