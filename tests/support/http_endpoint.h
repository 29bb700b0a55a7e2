// HttpEndpoint: a small HTTP server in the test's process, for what Annals itself asks of others.
//
// Threads: answers on threads of its own, one for each connection; members from any thread.

#pragma once

#include "tests/support/hook_receiver.h"

#include <functional>
#include <mutex>
#include <string>

namespace annals::test {

class HttpEndpoint {
  public:
    struct Answer {
        int status = 200;
        std::string body;
    };

    /// `answer` is called for each request, with its head (names of its lines in lower case) and body; it may block until the
    /// endpoint's end is due, not longer.
    explicit HttpEndpoint(std::function<Answer(const std::string& request)> answer);

    std::string url() const { return receiver_.url() + "/endpoint"; }

    int requests() const { return static_cast<int>(receiver_.received().size()); }

  private:
    HookReceiver receiver_;
};

/// Publishes a key set that can be changed.
class KeyEndpoint {
  public:
    explicit KeyEndpoint(std::string set)
        : set_(std::move(set)), endpoint_([this](const std::string&) {
              const std::lock_guard lock(mutex_);
              return HttpEndpoint::Answer{200, set_};
          }) {}

    std::string url() const { return endpoint_.url(); }

    int requests() const { return endpoint_.requests(); }

    void set(std::string text) {
        const std::lock_guard lock(mutex_);
        set_ = std::move(text);
    }

  private:
    std::mutex mutex_;
    std::string set_;
    HttpEndpoint endpoint_;
};

/// A URL where nobody listens.
std::string deserted_url();

}  // namespace annals::test
