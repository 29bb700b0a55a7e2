#include "net/auth/introspector.h"

#include "core/base/ascii.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/start_thread.h"
#include "core/base/thread_name.h"
#include "net/auth/fetch.h"
#include "net/auth/jwt.h"
#include "net/make_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace annals::net::auth {

namespace {

constexpr std::chrono::seconds kAskLimit{3};
constexpr std::chrono::seconds kWarningInterval{10};
/// How long an invalid token, or one whose question failed, is not asked about again.
constexpr std::chrono::seconds kRefusedFor{10};
constexpr std::chrono::seconds kUnknownFor{2};
/// How long an answer stays available to those who waited for it, however soon it must be asked again.
constexpr std::chrono::seconds kWaitedFor{1};
/// Threads may arrive here in another order than they read the clock.
constexpr std::chrono::seconds kClockMayDiffer{1};

Instant after(Instant now, std::chrono::microseconds time) {
    return {now.us + time.count()};
}

/// What RFC 6750 calls b64token.
bool is_bearer_token(std::string_view text) {
    return !text.empty() && text.size() <= kTokenBytesMax &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return is_letter_or_digit(c) ||
                      std::string_view("-._~+/=").find(c) != std::string_view::npos;
           });
}

Error unknown() {
    return {Errc::overloaded, "Whether the token is valid cannot be determined at present"};
}

}  // namespace

Introspector::Introspector(const core::Config::Auth& config, std::string secret,
                           const ClientCertificate* shown)
    : config_(config.introspection),
      rules_{"", config.introspection.audience, config.jwt_leeway, ""},
      shown_(shown),
      throttle_(config.introspection.rate, 0, 0),
      of_addresses_(config.introspection.refused_rate, kOfOneAddressMax, 0),
      secret_(std::move(secret)) {
    // At least the first thread is required.
    threads_.emplace_back([this] {
        name_thread("introspector");
        run();
    });
    while (threads_.size() < kThreadsMax) {
        auto more = start_thread("introspector", [this] { run(); });
        if (!more) {
            break;
        }
        threads_.push_back(*std::move(more));
    }
}

Introspector::~Introspector() {
    {
        const std::lock_guard lock(mutex_);
        quit_.store(true);
    }
    wake_.notify_all();
}

void Introspector::set_secret(std::string secret) {
    const std::lock_guard lock(mutex_);
    secret_ = std::move(secret);
}

Result<Claims> Introspector::find_out(std::string_view token, std::string_view address, Instant now,
                                      Settled* later) {
    if (!is_bearer_token(token)) {
        return Error{Errc::bad_credentials, "The credentials are not a bearer token"};
    }
    std::string digest = sha256_hex(token);
    const std::lock_guard lock(mutex_);
    forget_if_back(now);
    if (const auto found = good_.find(digest);
        found != good_.end() &&
        (later != nullptr ? found->second.claims.expires : found->second.for_who_waited) > now) {
        return found->second.claims;
    }
    if (const auto found = refused_.find(digest);
        found != refused_.end() && found->second.until > now) {
        return found->second.error;
    }
    if (later == nullptr) {
        return unknown();
    }
    if (const auto found = asked_.find(digest); found != asked_.end()) {
        *later = found->second;
        return Error{Errc::not_found};
    }
    // The address first, so that a client that sends made-up tokens does not use up the common rate.
    if (of_addresses_.take(address, Throttle::Clock::now())) {
        return Error{Errc::throttled, "Too many tokens from this address were not valid"};
    }
    if (waiting_.size() >= kWaitingMax || throttle_.take("", Throttle::Clock::now())) {
        of_addresses_.give_back(address);
        return unknown();
    }
    const auto settled = std::make_shared<std::atomic<bool>>(false);
    asked_.emplace(digest, settled);
    waiting_.push_back({std::string(token), std::move(digest), std::string(address), settled});
    wake_.notify_one();
    *later = settled;
    return Error{Errc::not_found};
}

void Introspector::run() {
    std::unique_lock lock(mutex_);
    while (!quit_) {
        wake_.wait(lock, [this] { return !waiting_.empty() || quit_; });
        if (quit_) {
            break;
        }
        const Question question = std::move(waiting_.front());
        waiting_.pop_front();
        const std::string secret = secret_;
        lock.unlock();
        Result<Good> answer = ask(question.token, secret);
        if (answer || answer.error().code == Errc::overloaded) {
            of_addresses_.give_back(question.address);
        }
        lock.lock();
        keep(question.digest, std::move(answer));
        asked_.erase(question.digest);
        question.settled->store(true);
    }
}

void Introspector::keep(const std::string& digest, Result<Good> answer) {
    const Instant time = now();
    if (answer) {
        make_room(good_, kAnswersMax,
                  [&](const auto& entry) { return entry.second.for_who_waited <= time; });
        good_.insert_or_assign(digest, *std::move(answer));
        return;
    }
    good_.erase(digest);
    make_room(refused_, kAnswersMax, [&](const auto& entry) { return entry.second.until <= time; });
    const auto until =
        after(time, answer.error().code == Errc::overloaded ? kUnknownFor : kRefusedFor);
    refused_.insert_or_assign(digest, Refused{std::move(answer.error()), until});
}

/// If the clock went back, it is unknown how long answers have been known.
void Introspector::forget_if_back(Instant now) {
    if (after(now, kClockMayDiffer) < last_now_) {
        good_.clear();
        refused_.clear();
    }
    last_now_ = now;
}

/// The message contains neither the token nor the response.
Error Introspector::warn(std::string_view what) {
    const std::lock_guard lock(mutex_);
    const auto time = std::chrono::steady_clock::now();
    if (!quit_ && time >= next_warning_) {
        next_warning_ = time + kWarningInterval;
        log_warning(fmt::format("auth.introspection.url: {}", what));
    }
    return unknown();
}

Result<Introspector::Good> Introspector::ask(const std::string& token, const std::string& secret) {
    Form form{{{"token", token}, {"token_type_hint", "access_token"}}, config_.client_id, secret};
    if (secret.empty()) {
        // RFC 8705 section 2: the certificate is the proof, the form names the client.
        form.fields.emplace_back("client_id", std::exchange(form.client, ""));
    }
    const auto text = post_form(config_.url, form, kAskLimit, quit_, shown_);
    if (!text) {
        return warn(text.error().detail);
    }
    json::Parser parser;
    const auto answer = parser.parse(*text);
    if (!answer || !answer->root()["active"].is(json::Kind::boolean)) {
        return warn("the response is not one of RFC 7662");
    }
    if (answer->root()["active"].raw() != "true") {
        return Error{Errc::bad_credentials, "The token is not active"};
    }
    const Instant time = now();
    const Instant ask_again = after(time, config_.cache);
    const Instant end = std::max(ask_again, after(time, kWaitedFor));
    ANNALS_TRY(Claims claims, check_claims(answer->root(), rules_, time, end));
    const Instant for_who_waited = std::min(claims.expires, end);
    claims.expires = std::min(claims.expires, ask_again);
    return Good{std::move(claims), for_who_waited};
}

}  // namespace annals::net::auth
