// Pings: how many notifications each websocket subscription has had, for the connections that are bound to it.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html, websocket; docs/api/subscriptions.md.
// Threads: any, but for what is said.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

class Pings {
  public:
    /// Hears that there are more pings than before; called on the dispatcher's thread.
    class Listener {
      public:
        virtual ~Listener() = default;

        /// Must not block nor throw.
        virtual void pinged() noexcept = 0;
    };

    /// Counts for ever; a connection remembers what it has seen.
    using Counter = std::atomic<std::uint64_t>;

    /// The counter of a subscription, which is bound as long as somebody holds it.
    std::shared_ptr<const Counter> bind(std::string_view id);

    bool is_bound(std::string_view id) const;

    /// One more for `id`. The listeners are not told yet.
    void ping(std::string_view id);

    /// Tells the listeners, if there is anything to be told.
    void tell();

    /// Lifetime: the listener outlives its registration; no call is under way when remove() returns.
    void add(Listener& listener);
    void remove(Listener& listener);

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::weak_ptr<Counter>, std::less<>> counters_;  // guarded by mutex_
    std::vector<Listener*> listeners_;                                     // the same
    bool untold_ = false;                                                  // the same
};

}  // namespace annals::core
