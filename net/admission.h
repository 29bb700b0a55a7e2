// Admission: which requests of a connection go on to their handlers, by the audit log, rates and credentials.
//
// Layer:   net.
// Spec:    docs/security.md.
// Threads: pinned to its connection's thread.

#pragma once

#include "core/exchange.h"
#include "net/address.h"
#include "net/auth/authenticator.h"
#include "net/auth/settled.h"
#include "net/worker.h"

#include <asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace annals::net {

/// Judges one request after the other, and holds what was found out about the current one: its sender, and the
/// line of the audit log that is reserved for it.
///
/// `host` is the request's Host; `abandoned` becomes true when nobody waits for the response any more. Lifetime: what is
/// passed to a coroutine outlives it.
class Admission {
  public:
    /// Lifetime: `worker` outlives it.
    Admission(Worker& worker, const PeerAddress& peer);
    ~Admission();
    Admission(const Admission&) = delete;
    Admission& operator=(const Admission&) = delete;

    /// The x5t#S256 of the connection's client certificate. Without a call, none was requested.
    void set_certificate(std::string thumbprint) { certificate_ = std::move(thumbprint); }

    /// Forgets the sender of the previous request.
    void begin(core::Request& request);

    /// Returns a refusal, or the response of the token endpoint. None: the request is admitted, or, if
    /// is_undecided(), judge_later() must find out.
    std::optional<core::Response> judge(core::Request& request, std::string_view host);

    bool is_undecided() const noexcept { return settled_ != nullptr || waits_for_line_; }

    /// Decides what judge() could not. None: the request is admitted.
    asio::awaitable<std::optional<core::Response>> judge_later(core::Request& request,
                                                               std::string_view host,
                                                               const bool& abandoned);

    /// Refuses a request before its body is read. What the head doesn't tell is left to judge().
    std::optional<core::Response> refuse_at_head(core::Request& request, std::string_view host);

    /// Why the sender of an admitted request would not be admitted again: tokens expire, and keys are revoked.
    asio::awaitable<std::optional<core::Response>> identify_again(core::Request& request,
                                                                  const bool& abandoned);

    /// Ends the current request: writes its line of the audit log.
    void record(const core::Request& request, const core::Response& response);

    /// The same if the reader refused it, once its head was read. `overloaded`: there was no memory for it; it
    /// takes no line.
    void record_refusal(core::Request& request, const core::Response& response, bool overloaded);

    /// The response for a sender who may not: `error`, with what credentials are asked for.
    core::Response challenge(const Error& error, const core::Request& request) const;

  private:
    /// Whether a request may ask an issuer or a client who sent it, and so leave that undecided.
    enum class Asking : std::uint8_t { allowed, over };

    bool asks_for_token(const core::Request& request) const;
    std::optional<core::Response> give_token(core::Request& request, Asking asking);
    std::optional<core::Response> identify(core::Request& request, Asking asking);
    std::optional<core::Response> slow_down(const core::Request& request);
    asio::awaitable<bool> reserve_line_later(const bool& abandoned);
    asio::awaitable<std::optional<core::Response>> identify_later(core::Request& request,
                                                                  const bool& abandoned);

    Worker& worker_;
    std::string address_text_;  ///< empty without an audit log
    std::string network_text_;  ///< of PeerAddress::network(); empty without credentials and rates
    std::string certificate_;
    auth::Authenticator::Memo memo_;
    std::shared_ptr<const core::Principal> principal_;  ///< of the current request
    auth::Settled settled_;        ///< if not null: becomes true when the sender is known
    bool charged_ = false;         ///< the current request has been counted against limits.rate
    bool line_reserved_ = false;   ///< of the audit log, for the current request
    bool waits_for_line_ = false;  ///< no line could be reserved yet
};

}  // namespace annals::net
