// HookReceiver: a receiver of notifications by HTTP, as good or as bad as the test wants it.
//
// Threads: the test's; it has some of its own.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace annals::test {

/// A request as it came.
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
    /// Given what came, and how many had come before, the bytes to be sent; may send more by `send`, which is false once nobody
    /// takes them. After an empty answer the connection stays open, and nothing more is said.
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

    /// Waits until so many have come, half a minute at most; all that have.
    std::vector<ReceivedHook> wait_for(std::size_t count) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Waits until `done`, a minute at most; whether it is.
bool eventually(const std::function<bool()>& done);

}  // namespace annals::test
