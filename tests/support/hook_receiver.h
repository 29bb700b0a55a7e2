// HookReceiver: receives notifications by HTTP, as well or badly as the test wants.
//
// Threads: the test's; it has its own, too.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace annals::test {

/// A request as received.
struct ReceivedHook {
    std::string method;
    std::string target;
    std::string head;  ///< all lines of the head, in lower case up to their colons
    std::string body;

    /// The value of a header ("x-annals-position"); empty if there is none.
    std::string header(const std::string& name) const;
};

class HookReceiver {
  public:
    /// Gets the request and the number of earlier ones; returns the bytes to send. It may send more with `send`, which is false
    /// once nobody receives it. After an empty answer, the connection stays open, but nothing more is sent.
    using Answer = std::function<std::string(const ReceivedHook& hook, std::size_t number,
                                             const std::function<bool(const std::string&)>& send)>;

    /// Without `answer`: 204 to everything.
    explicit HookReceiver(Answer answer = {});
    ~HookReceiver();
    HookReceiver(const HookReceiver&) = delete;
    HookReceiver& operator=(const HookReceiver&) = delete;

    /// "http://127.0.0.1:12345".
    std::string url() const;

    std::vector<ReceivedHook> received() const;

    /// Waits until `count` requests have come, at most half a minute; returns all received.
    std::vector<ReceivedHook> wait_for(std::size_t count) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Waits until `done`, at most a minute; returns whether it is.
bool eventually(const std::function<bool()>& done);

}  // namespace annals::test
