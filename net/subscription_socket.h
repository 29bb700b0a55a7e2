// SubscriptionSocket: the protocol of one websocket: a client binds to subscriptions and gets a ping for each event.
//
// Layer:   net; independent of sockets.
// Spec:    FHIR R4 subscription.html, websocket; docs/api/subscriptions.md, websocket.
// Threads: belongs to one connection.

#pragma once

#include "core/service.h"
#include "core/subscriptions/pings.h"
#include "net/websocket.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace annals::net {

class SubscriptionSocket {
  public:
    /// Requires: the client may read Subscriptions. Lifetime: the arguments outlive it.
    SubscriptionSocket(const core::Service& service, core::Pings& pings)
        : service_(service), pings_(pings), reader_(kMessageBytesMax) {}

    /// Reads bytes that have arrived, and appends the responses to `out`, up to the message that needs unread().
    void take(std::string_view bytes, std::string& out);

    /// If not 0: the next message names this Subscription, which is not in memory. Fetch it and call
    /// go_on() before the next take().
    Position unread() const noexcept { return unread_; }

    /// Appends the responses that had to wait for unread().
    void go_on(std::string& out);

    /// Appends the pings that are due, as far as they fit.
    void add_pings(std::string& out);

    /// True once a close frame was answered or appended: nothing more is sent.
    bool has_ended() const noexcept { return ended_; }

    /// Appends a close frame.
    void end(CloseCode code, std::string& out);

    static constexpr std::size_t kMessageBytesMax = 512;
    static constexpr std::size_t kBindingsMax = 100;
    static constexpr std::size_t kPingBytesMax = 64 << 10;  ///< appended at a time

  private:
    struct Binding {
        std::shared_ptr<const core::Pings::Counter> counter;
        std::uint64_t told = 0;
    };

    void answer_all(std::string& out);
    void answer(std::string_view message, bool may_block, std::string& out);
    Result<void> bind(std::string_view id, bool may_block);

    const core::Service& service_;
    core::Pings& pings_;
    FrameReader reader_;
    std::map<std::string, Binding, std::less<>> bindings_;
    std::string waiting_;  ///< the next message to answer
    Position unread_;      ///< the Subscription it names
    bool ended_ = false;
};

}  // namespace annals::net
