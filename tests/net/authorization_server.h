// An authorization server that is asked about opaque tokens.

#pragma once

#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"

#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>

namespace annals::test {

inline constexpr const char* kActive = R"({"active":true,"sub":"lab","scope":"system/Patient.rs"})";

/// Records requests, and answers as told.
class AuthorizationServer {
  public:
    using Reply = std::function<HttpEndpoint::Answer(const std::string& request)>;

    explicit AuthorizationServer(std::string body)
        : AuthorizationServer(
              [body](const std::string&) { return HttpEndpoint::Answer{200, body}; }) {}

    explicit AuthorizationServer(Reply reply)
        : reply_(std::move(reply)),
          endpoint_([this](const std::string& request) { return take(request); }) {}

    GuardedServer::Change trusted() {
        return [this](core::Config& config, GuardedServer& server) {
            config.auth.mode = "jwt";
            config.auth.introspection.url = endpoint_.url();
            config.auth.introspection.client_id = "annals:1";
            config.auth.introspection.client_secret_file = server.file("secret");
            write_whole_file(server.file("secret"), "p/w d\n");
        };
    }

    void reply(const std::string& body, int status = 200) {
        const std::lock_guard lock(mutex_);
        reply_ = [body, status](const std::string&) { return HttpEndpoint::Answer{status, body}; };
    }

    std::string last_request() {
        const std::lock_guard lock(mutex_);
        return request_;
    }

    std::string url() const { return endpoint_.url(); }

    int requests() const { return endpoint_.requests(); }

  private:
    HttpEndpoint::Answer take(const std::string& request) {
        Reply reply;
        {
            const std::lock_guard lock(mutex_);
            request_ = request;
            reply = reply_;
        }
        return reply(request);
    }

    std::mutex mutex_;
    Reply reply_;
    std::string request_;
    HttpEndpoint endpoint_;
};

/// Answers only after `released` is set.
inline AuthorizationServer::Reply says_active_once(std::promise<void>& released) {
    return [release = released.get_future().share()](const std::string&) {
        release.wait();
        return HttpEndpoint::Answer{200, kActive};
    };
}

}  // namespace annals::test
