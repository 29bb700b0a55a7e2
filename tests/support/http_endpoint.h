// HttpEndpoint: a small HTTP server in the test's process, for what Annals itself asks of others.
//
// Threads: answers on one thread of its own, one request after the other; members from any thread.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace annals::test {

class HttpEndpoint {
  public:
    struct Answer {
        int status = 200;
        std::string body;
    };

    /// `answer` is called for each request, with its head and body as they came; it may block until the endpoint's end is
    /// due, not longer.
    explicit HttpEndpoint(std::function<Answer(const std::string& request)> answer);

    ~HttpEndpoint();
    HttpEndpoint(const HttpEndpoint&) = delete;
    HttpEndpoint& operator=(const HttpEndpoint&) = delete;

    std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/endpoint"; }

    int requests() const { return requests_; }

  private:
    void serve();

    const std::function<Answer(const std::string&)> answer_;
    int socket_;
    std::uint16_t port_ = 0;
    std::atomic<int> requests_{0};
    std::thread thread_;
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
