// HttpEndpoint: a small HTTP server in the test's process, for requests that Annals itself makes.
//
// Threads: answers on its own threads, one per connection; members from any thread.

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

    /// `answer` is called for each request, with its head (header names in lower case) and body; it may block, but not
    /// beyond the endpoint's end.
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

/// A URL where nothing listens.
std::string deserted_url();

}  // namespace annals::test
