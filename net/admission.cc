#include "net/admission.h"

#include "core/representation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::net {

namespace {

/// How long a request waits until its sender is known, and how often it checks, at growing intervals.
constexpr std::chrono::seconds kSettledWait{4};
constexpr std::chrono::milliseconds kSettledPauseMax{20};

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

core::Response refusal(Error error, const core::Request& request) {
    core::Response response = std::move(error);
    core::represent_error(request, response);
    return response;
}

}  // namespace

Admission::Admission(Worker& worker, const PeerAddress& peer) : worker_(worker) {
    if (worker_.shared.audit != nullptr) {
        address_text_ = peer.text();
    }
    if (worker_.authenticator || worker_.shared.throttle.limits_requests()) {
        network_text_ = peer.network().text();
    }
}

Admission::~Admission() {
    if (line_reserved_) {
        worker_.shared.audit->release();
    }
}

void Admission::begin(core::Request& request) {
    principal_.reset();
    request.principal = nullptr;
}

std::optional<core::Response> Admission::judge(core::Request& request, std::string_view host) {
    Shared& shared = worker_.shared;
    if (shared.audit != nullptr && !line_reserved_) {
        line_reserved_ = shared.audit->reserve();
        if (!line_reserved_ && shared.config.audit.when_full == "wait") {
            waits_for_line_ = true;
            return {};
        }
        if (!line_reserved_) {
            return refusal(Error{Errc::overloaded, "The audit log cannot be written at present"},
                           request);
        }
    }
    if (asks_for_token(request)) {
        if (std::optional<core::Response> slower = slow_down(request)) {
            return slower;
        }
        return give_token(request, Asking::allowed);
    }
    std::optional<core::Response> response;
    if (worker_.authenticator) {
        response = identify(request, Asking::allowed);
    } else if (shared.cors.is_of_foreign_page(request, host)) {
        response = refusal(
            Error{Errc::forbidden, "Pages of this origin may not write to this server"}, request);
    }
    if (settled_ == nullptr) {
        // Senders without valid credentials are identified by their address.
        if (std::optional<core::Response> slower = slow_down(request)) {
            return slower;
        }
    }
    return response;
}

asio::awaitable<std::optional<core::Response>> Admission::judge_later(core::Request& request,
                                                                      std::string_view host,
                                                                      const bool& abandoned) {
    std::optional<core::Response> response;
    if (std::exchange(waits_for_line_, false)) {
        line_reserved_ = co_await reserve_line_later(abandoned);
        if (!line_reserved_) {
            co_return core::Response(Error{Errc::timeout});
        }
        response = judge(request, host);
    }
    if (settled_ != nullptr) {
        response = co_await identify_later(request, abandoned);
        if (!response) {
            response = slow_down(request);
        }
    }
    co_return response;
}

std::optional<core::Response> Admission::refuse_at_head(core::Request& request,
                                                        std::string_view host) {
    if (asks_for_token(request)) {
        return auth::TokenEndpoint::refuse_at_head(request);
    }
    std::optional<core::Response> response = judge(request, host);
    if (is_undecided()) {
        settled_ = nullptr;
        waits_for_line_ = false;
    } else if (!response) {
        response = worker_.shared.handlers.head(worker_.shared.service, request);
    }
    return response;
}

asio::awaitable<std::optional<core::Response>> Admission::identify_again(core::Request& request,
                                                                         const bool& abandoned) {
    if (!worker_.authenticator) {
        co_return std::nullopt;
    }
    std::optional<core::Response> response = identify(request, Asking::allowed);
    if (settled_ != nullptr) {
        response = co_await identify_later(request, abandoned);
    }
    co_return response;
}

void Admission::record(const core::Request& request, const core::Response& response) {
    charged_ = false;
    if (std::exchange(line_reserved_, false)) {
        worker_.shared.audit->record_access(request, response, address_text_);
    }
}

void Admission::record_refusal(core::Request& request, const core::Response& response,
                               bool overloaded) {
    if (worker_.shared.audit == nullptr) {
        return;
    }
    if (!line_reserved_) {
        // It has not been authenticated: this is the previous request's sender.
        request.principal = nullptr;
        line_reserved_ = !overloaded && worker_.shared.audit->reserve();
    }
    record(request, response);
}

core::Response Admission::challenge(const Error& error, const core::Request& request) const {
    if (error.code == Errc::throttled) {
        worker_.metrics.throttled.add();
    }
    core::Response response = refusal(error, request);
    core::add_challenge(worker_.shared.service, error, response);
    return response;
}

bool Admission::asks_for_token(const core::Request& request) const {
    return worker_.shared.token_endpoint != nullptr && auth::TokenEndpoint::is_for(request);
}

// If `settled_` is set afterwards, there is no response yet.
std::optional<core::Response> Admission::give_token(core::Request& request, Asking asking) {
    std::string client;
    std::optional<core::Response> answer = worker_.shared.token_endpoint->answer(
        request, network_text_, now(), asking == Asking::allowed ? &settled_ : nullptr, client);
    if (!client.empty()) {
        // For the audit log only: it gets no access by this.
        principal_ = std::make_shared<const core::Principal>(std::move(client), "");
        request.principal = principal_.get();
    }
    return answer;
}

// Finds out who sends the request, or returns why that is unknown. If `settled_` is set afterwards, that isn't
// known yet.
std::optional<core::Response> Admission::identify(core::Request& request, Asking asking) {
    auto who =
        worker_.authenticator->authenticate(request, {network_text_, certificate_}, now(),
                                            asking == Asking::allowed ? &settled_ : nullptr, memo_);
    if (who) {
        principal_ = *std::move(who);
        request.principal = principal_.get();
        return {};
    }
    if (settled_ != nullptr) {
        return {};
    }
    if (needs_no_token(worker_.shared.config, request)) {
        begin(request);
        return {};
    }
    return challenge(who.error(), request);
}

std::optional<core::Response> Admission::slow_down(const core::Request& request) {
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

// False if nobody waits for the response any more.
asio::awaitable<bool> Admission::reserve_line_later(const bool& abandoned) {
    while (!abandoned) {
        if (worker_.shared.audit->reserve()) {
            co_return true;
        }
        co_await worker_.loop.pause(kLinePause);
    }
    co_return false;
}

// identify(), or give_token(), once the question is settled.
asio::awaitable<std::optional<core::Response>> Admission::identify_later(core::Request& request,
                                                                         const bool& abandoned) {
    const Clock::time_point end = Clock::now() + kSettledWait;
    std::chrono::milliseconds pause{1};
    while (!settled_->load() && Clock::now() < end && !abandoned) {
        co_await worker_.loop.pause(pause);
        pause = std::min(pause * 2, kSettledPauseMax);
    }
    settled_ = nullptr;
    co_return asks_for_token(request) ? give_token(request, Asking::over)
                                      : identify(request, Asking::over);
}

}  // namespace annals::net
