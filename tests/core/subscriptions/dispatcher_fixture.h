// A dispatcher of Subscriptions whose notifications the test receives, and whose clock it sets.

#pragma once

#include "codec/json/document.h"
#include "core/subscriptions/dispatcher.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// The members of a Subscription on `criteria` by rest-hook to http://hook/a.
inline std::string hook(std::string_view id, std::string_view criteria,
                        std::string_view payload = {}, std::string_view more = {}) {
    return fmt::format(
        R"({{"resourceType":"Subscription","id":"{}","status":"requested","reason":"test","criteria":"{}",)"
        R"({}"channel":{{"type":"rest-hook","endpoint":"http://hook/a"{}}}}})",
        id, criteria, more, payload.empty() ? "" : fmt::format(R"(,"payload":"{}")", payload));
}

class DispatcherTest : public test::ServiceFixture {
  protected:
    DispatcherTest() {
        config_.subscriptions.enabled = true;
        config_.subscriptions.endpoints = {"http://hook/a", "http://hook/b"};
        config_.subscriptions.attempts = 3;
        open();
    }

    void open() {
        dispatcher_.reset();
        restart(config_);
        dispatch();
    }

    void dispatch() {
        dispatcher_.reset();
        auto& files = storage::posix_file_system();
        dispatcher_ = std::make_unique<Dispatcher>(service(), files, pings_,
                                                   *Dispatcher::saved(service(), files));
    }

    /// Everything that is due now.
    std::vector<Notification> advance() {
        std::vector<Notification> all;
        do {
            for (Notification& notification : dispatcher_->advance(time_)) {
                all.push_back(std::move(notification));
            }
        } while (dispatcher_->has_more());
        return all;
    }

    /// Receives everything, and returns the value of the header `what` for each.
    std::vector<std::string> told(std::string_view what = "X-Annals-Version: ") {
        std::vector<std::string> all;
        for (;;) {
            const std::vector<Notification> some = advance();
            if (some.empty()) {
                return all;
            }
            for (const Notification& notification : some) {
                for (const std::string& line : notification.headers) {
                    if (line.starts_with(what)) {
                        all.push_back(line.substr(what.size()));
                    }
                }
                dispatcher_->settle(notification, {}, time_);
            }
        }
    }

    int put(std::string_view body) {
        const auto document = json::Parser().parse(body);
        const json::Value root = document->root();
        return send("PUT",
                    fmt::format("/{}/{}", root["resourceType"].string(), root["id"].string()), body)
            .status;
    }

    /// PUTs a Subscription and has the dispatcher take it up.
    void subscribe(std::string_view body) {
        ASSERT_LE(put(body), 201);
        advance();
    }

    std::string element(std::string_view id, std::string_view name) {
        const test::Answer answer = send("GET", fmt::format("/Subscription/{}", id));
        return json::Parser().parse(answer.body)->root()[name].string();
    }

    std::string status(std::string_view id) { return element(id, "status"); }

    static std::string observation(std::string_view id, std::string_view subject,
                                   std::string_view code = "c") {
        return fmt::format(
            R"({{"resourceType":"Observation","id":"{}","status":"final","code":{{"coding":[{{"code":"{}"}}]}},)"
            R"("subject":{{"reference":"{}"}}}})",
            id, code, subject);
    }

    Config config_;
    Pings pings_;
    std::unique_ptr<Dispatcher> dispatcher_;
    Dispatcher::Clock::time_point time_ = Dispatcher::Clock::now();
};

}  // namespace annals::core
