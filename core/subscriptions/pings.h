// Pings: counts the notifications of each websocket subscription, for the connections that are bound to it.
//
// Layer:   core/subscriptions.
// Spec:    FHIR R4 subscription.html, websocket; docs/api/subscriptions.md.
// Threads: any, except as noted.

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
    /// Called when there are new pings, on the dispatcher's thread.
    class Listener {
      public:
        virtual ~Listener() = default;

        /// Must neither block nor throw.
        virtual void pinged() noexcept = 0;
    };

    /// Never reset; a connection remembers the count that it has seen.
    using Counter = std::atomic<std::uint64_t>;

    /// The counter of a subscription, which stays bound as long as anyone holds it.
    std::shared_ptr<const Counter> bind(std::string_view id);

    bool is_bound(std::string_view id) const;

    /// Counts a ping for `id`, without notifying the listeners yet.
    void ping(std::string_view id);

    /// Notifies the listeners if there were any pings.
    void tell();

    /// Lifetime: the listener outlives its registration; once remove() returns, no call is in progress.
    void add(Listener& listener);
    void remove(Listener& listener);

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::weak_ptr<Counter>, std::less<>> counters_;  // guarded by mutex_
    std::vector<Listener*> listeners_;                                     // guarded by mutex_
    bool untold_ = false;                                                  // guarded by mutex_
};

}  // namespace annals::core
