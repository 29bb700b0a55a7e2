// The part of a connection that admits requests: memory, the audit log, rates, authentication.

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

/// How long a request waits until its sender is known, and how often it checks, at growing intervals.
constexpr std::chrono::seconds kSettledWait{4};
constexpr std::chrono::milliseconds kSettledPauseMax{20};

/// A request of at most this size is admitted whatever others use.
constexpr std::uint64_t kSmallBytes = 64 << 10;

/// How often a request that waits for a line of the audit log checks for one.
constexpr std::chrono::milliseconds kLinePause{10};

/// The CapabilityStatement says where to get tokens, so clients with an invalid one must be able to read it.
/// It is the same for everyone, except for a list of code systems that is public, too; other public responses
/// may depend on the sender, so an invalid token is an error there.
bool needs_no_token(const core::Config& config, const core::Request& request) {
    return (request.path == "/metadata" || request.path == "/metadata/") &&
           (request.method == core::HttpMethod::get || request.method == core::HttpMethod::head) &&
           core::is_public(config, "metadata");
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

/// Counts the memory of the current request, and limits what may still be added to the rest of the common limit.
void Connection::count_memory() {
    Shared& shared = worker_.shared;
    const std::size_t bytes = reader_.memory();
    if (bytes != memory_) {
        shared.memory.fetch_add(bytes - memory_, std::memory_order_relaxed);
        memory_ = bytes;
    }
    const std::uint64_t limit = shared.config.limits.max_memory;
    const std::uint64_t taken = shared.memory.load(std::memory_order_relaxed);
    // A few bytes may be many after decoding.
    reader_.set_decoded_bytes_max(bytes + kSmallBytes + (taken < limit ? limit - taken : 0));
}

/// Whether the current request is within the common limit. A small one always is.
bool Connection::is_within_memory() {
    count_memory();
    return memory_ <= kSmallBytes || worker_.shared.memory.load(std::memory_order_relaxed) <=
                                         worker_.shared.config.limits.max_memory;
}

/// Whether a browser sent it for a page of an origin that is not allowed, without the preflight that would
/// have prevented it (https://fetch.spec.whatwg.org, CORS-safelisted). Hiding the response would be too late:
/// the page would have written already, from inside its user's network and with the user's certificate.
bool Connection::is_of_foreign_page(const core::Request& request) const {
    if (request.method != core::HttpMethod::post || !request.header("Origin") ||
        !cors_lines_.empty() || is_own_origin(request) || request.path.ends_with("/_search")) {
        return false;
    }
    // Scripts can't set it. It identifies the application's own pages behind a proxy that changes Host.
    if (request.header("Sec-Fetch-Site") == "same-origin") {
        return false;
    }
    const std::string_view type =
        core::read_media_type(request.header("Content-Type").value_or("")).name;
    return type.empty() || equal_ignoring_case(type, "text/plain") ||
           equal_ignoring_case(type, "application/x-www-form-urlencoded") ||
           equal_ignoring_case(type, "multipart/form-data");
}

/// Finds out whether the request may go on to its handler, or returns the refusal. If `settled_` or
/// `waits_for_line_` is set, that isn't known yet.
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
                Error{Errc::overloaded, "The audit log cannot be written at present"};
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
        refusal = Error{Errc::forbidden, "Pages of this origin may not write to this server"};
        core::represent_error(request, *refusal);
    }
    if (settled_ == nullptr) {
        // Senders without valid credentials are identified by their address.
        if (std::optional<core::Response> slower = slow_down(request)) {
            return slower;
        }
    }
    return refusal;
}

bool Connection::asks_for_token(const core::Request& request) const {
    return worker_.shared.token_endpoint != nullptr && auth::TokenEndpoint::is_for(request);
}

/// The response to a request for a token; if `settled_` is set, there is none yet.
std::optional<core::Response> Connection::give_token(core::Request& request, bool may_ask) {
    std::string client;
    std::optional<core::Response> answer = worker_.shared.token_endpoint->answer(
        request, network_text_, now(), may_ask ? &settled_ : nullptr, client);
    if (!client.empty()) {
        // For the audit log only: it gets no access by this.
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
    core::Response response =
        Error{Errc::throttled, fmt::format("More than {} requests per second; try again in {} s",
                                           worker_.shared.config.limits.rate, seconds)};
    worker_.shared.throttle.tell(response, *wait);
    core::represent_error(request, response);
    return response;
}

/// Checks before the body is read whether the sender may send it. What the head doesn't tell is checked later.
std::optional<core::Response> Connection::refuse_at_head(core::Request& request) {
    if (!enter_root(request)) {
        // No credentials are needed there, and no request has a body.
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

/// Records a refusal by the reader, if the head was read. A request that there was no memory for takes no line.
void Connection::record_refusal(core::Request& request, const core::Response& response,
                                bool overloaded) {
    if (worker_.shared.audit == nullptr || !enter_root(request)) {
        return;
    }
    if (!line_reserved_) {
        // It has not been authenticated: this is the previous request's sender.
        request.principal = nullptr;
        line_reserved_ = !overloaded && worker_.shared.audit->reserve();
    }
    record(request, response);
}

/// False if nobody waits for the response any more.
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

// Finds out who sends the request, or returns why that is unknown. If settled_ is set, that isn't known yet.
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

// The same, once the question is settled.
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

// Whether the current request, whose response has no end, would still be admitted: tokens expire, and keys are revoked.
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
