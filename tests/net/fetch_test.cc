// Fetching from other servers: how much, for how long, and which answers count.

#include "net/auth/fetch.h"

#include "tests/support/hook_receiver.h"
#include "tests/support/http_endpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace annals::net::auth {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto kLimit = 10s;

/// Answers with N bytes, with a status, or never: "/bytes/N", "/status/N", "/never".
test::HookReceiver::Answer as_asked() {
    return [](const test::ReceivedHook& hook, std::size_t, const auto&) -> std::string {
        const auto number = [&] {
            return std::stoul(hook.target.substr(hook.target.rfind('/') + 1));
        };
        if (hook.target == "/never") {
            return {};
        }
        const bool bytes = hook.target.starts_with("/bytes/");
        return fmt::format(
            "HTTP/1.1 {} -\r\nLocation: /bytes/1\r\nConnection: close\r\nContent-Length: "
            "{}\r\n\r\n{}",
            bytes ? 200 : number(), bytes ? number() : 2,
            bytes ? std::string(number(), 'a') : "{}");
    };
}

class FetchTest : public testing::Test {
  protected:
    Result<std::string> fetched(const std::string& target,
                                std::chrono::milliseconds limit = kLimit) {
        return fetch(other_.url() + target, limit, stop_);
    }

    Errc fault(const std::string& target, std::chrono::milliseconds limit = kLimit) {
        const auto text = fetched(target, limit);
        return text ? Errc::usage : text.error().code;
    }

    std::atomic<bool> stop_{false};
    test::HookReceiver other_{as_asked()};
};

TEST_F(FetchTest, TakesWhatIsAnsweredWith200AndAsMuchAsItMayBe) {
    const auto most = fetched(fmt::format("/bytes/{}", kFetchedBytesMax));
    ASSERT_TRUE(most) << most.error().detail;
    EXPECT_EQ(*most, std::string(kFetchedBytesMax, 'a'));
    EXPECT_EQ(fetched("/bytes/0").value(), "");
    EXPECT_EQ(fault(fmt::format("/bytes/{}", kFetchedBytesMax + 1)), Errc::body_too_large);
    for (const int status : {201, 203, 204, 301, 302, 304, 307, 404, 500}) {
        const auto text = fetched(fmt::format("/status/{}", status));
        ASSERT_FALSE(text) << status;
        EXPECT_EQ(text.error().code, Errc::io);
        EXPECT_THAT(text.error().detail, HasSubstr(fmt::format(": status {}", status)));
    }
    EXPECT_EQ(fetched("/status/200").value(), "{}");
}

TEST_F(FetchTest, EndsInTimeAndWhenItIsToldTo) {
    EXPECT_EQ(fault("/never", 20ms), Errc::timeout);
    EXPECT_EQ(fetch(test::deserted_url(), kLimit, stop_).error().code, Errc::io);
    EXPECT_EQ(fetch("file:///etc/hostname", kLimit, stop_).error().code, Errc::io);
    stop_ = true;
    EXPECT_EQ(fault("/never"), Errc::io);
    EXPECT_EQ(fault("/bytes/1"), Errc::io);
}

TEST_F(FetchTest, PostsAFormAsAClientThatHasASecret) {
    const auto answer =
        post_form(other_.url() + "/status/200",
                  {{{"a b", "c&d=\xc3\xa4"}, {"e", ""}}, "cli:ent", "p%w"}, kLimit, stop_);
    EXPECT_EQ(answer.value(), "{}");
    const test::ReceivedHook hook = other_.received().back();
    EXPECT_EQ(hook.method, "POST");
    EXPECT_EQ(hook.header("content-type"), "application/x-www-form-urlencoded");
    EXPECT_EQ(hook.header("accept"), "application/json");
    EXPECT_EQ(hook.body, "a%20b=c%26d%3D%C3%A4&e=");
    EXPECT_EQ(hook.header("authorization"), "Basic Y2xpJTNBZW50OnAlMjV3");  // cli%3Aent:p%25w
    EXPECT_EQ(post_form(other_.url() + "/status/302", {{}, "a", "b"}, kLimit, stop_).error().code,
              Errc::io);
}

TEST_F(FetchTest, GoesThroughTheProxyThatTheEnvironmentNames) {
    const test::HttpEndpoint proxy(
        [](const std::string&) { return test::HttpEndpoint::Answer{502, ""}; });
    ::setenv("https_proxy", proxy.url().c_str(), 1);
    const auto text = fetch("https://annals.invalid/keys", kLimit, stop_);
    ::unsetenv("https_proxy");
    EXPECT_FALSE(text);
    EXPECT_EQ(proxy.requests(), 1);
}

}  // namespace
}  // namespace annals::net::auth
