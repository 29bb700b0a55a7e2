// Patience: how long to retry what a server can't do for the moment, and with which pauses.
//
// Layer:   tools.
// Threads: a plain value; its functions may be called by any thread.

#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace annals::tools {

/// How long HttpClient::send_patiently() keeps trying.
struct Patience {
    std::chrono::milliseconds first_pause{100};
    std::chrono::milliseconds longest_pause{5000};
    std::chrono::milliseconds longest_wait{30000};   ///< the most that Retry-After may ask for
    std::chrono::milliseconds give_up_after{60000};  ///< without a single success; negative: never
    std::function<void(const std::string&)> say;     ///< called with the reason of each wait
    std::function<bool()> stop;  ///< true ends it early, even while waiting for a reply
    std::function<bool()> last;  ///< true: no more attempts; a reply in progress is still awaited

    /// Whether there are no more attempts.
    bool ends() const { return (stop && stop()) || (last && last()); }

    /// Says `why`, and waits for `time` or until ends().
    void wait(const std::string& why, std::chrono::milliseconds time) const;
};

}  // namespace annals::tools
