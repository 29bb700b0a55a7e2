// Where notifications may go.

#include "core/subscriptions/endpoint.h"

#include "core/config/config.h"

#include <gtest/gtest.h>

namespace annals::core {
namespace {

bool allows(const std::string& prefix, const std::string& url) {
    const std::vector<std::string> allowed{prefix};
    const Result<Endpoint> endpoint = read_endpoint(url);
    return endpoint && is_allowed(*endpoint, allowed);
}

TEST(Endpoints, BelowAnAllowedOneAreAllowed) {
    EXPECT_TRUE(allows("https://hooks.example.org", "https://hooks.example.org/a/b?c=d"));
    EXPECT_TRUE(allows("https://hooks.example.org/a", "https://hooks.example.org/a"));
    EXPECT_TRUE(allows("https://hooks.example.org/a", "https://hooks.example.org/a/b"));
    EXPECT_TRUE(allows("https://hooks.example.org/a/", "https://HOOKS.Example.org:443/a/b"));
    EXPECT_TRUE(allows("http://127.0.0.1:9000/", "http://127.0.0.1:9000"));
    EXPECT_TRUE(allows("http://[::1]:9000/x", "HTTP://[::1]:9000/x/y"));
    EXPECT_TRUE(allows("http://[fd00::af]/", "http://[FD00::AF]:80/x"));
    EXPECT_TRUE(allows("http://a/", "http://a:80/.../b.c"));
}

TEST(Endpoints, ThatOnlyLookAlikeAreNot) {
    EXPECT_FALSE(allows("https://hooks.example.org", "http://hooks.example.org/"));
    EXPECT_FALSE(allows("https://hooks.example.org", "https://hooks.example.org.evil.org/"));
    EXPECT_FALSE(allows("https://hooks.example.org", "https://hooks.example.org:8443/"));
    EXPECT_FALSE(allows("https://hooks.example.org", "https://hooks.example.org@evil.org/"));
    EXPECT_FALSE(allows("https://hooks.example.org", "https://evil.org/https://hooks.example.org"));
    EXPECT_FALSE(allows("https://hooks.example.org", "https://evil.org#hooks.example.org"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/ab"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/A"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/"));
    EXPECT_FALSE(allows("https://hooks.example.org/a/", "https://hooks.example.org/a"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/a/../b"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/a/%2e%2E/b"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/a/.%2e"));
    EXPECT_FALSE(allows("https://hooks.example.org/a", "https://hooks.example.org/a\\..\\b"));
    for (const char* path : {"/a/..%2fb", "/a/%2e%2E%2Fb", "/a/..%5Cb", "/a/x%2f..", "/a/x%2f.%2Fb",
                             "/a/..;/b", "/a/..;x=y/b", "/a/..;x%2fb"}) {
        EXPECT_FALSE(
            allows("https://hooks.example.org/a", std::string("https://hooks.example.org") + path))
            << path;
    }
    EXPECT_TRUE(
        allows("https://hooks.example.org/a", "https://hooks.example.org/a/b%2Fc;d/..e%2f"));
    const Result<Endpoint> endpoint = read_endpoint("https://hooks.example.org/");
    EXPECT_FALSE(is_allowed(*endpoint, {}));
}

TEST(Endpoints, ThatAreMalformedAreRefused) {
    for (const std::string url : {"",
                                  "/",
                                  "hook",
                                  "https",
                                  "https:",
                                  "https:/a",
                                  "https://",
                                  "https:///a",
                                  "ftp://a/",
                                  "file:///etc/passwd",
                                  "gopher://a/",
                                  "http://a b/",
                                  "http://a/b c",
                                  "http://a/\r\nX: y",
                                  "http://a:0/",
                                  "http://a:65536/",
                                  "http://a:+1/",
                                  "http://a:/",
                                  "http://a:1:2/",
                                  "http://u:p@a/",
                                  "http://[::1/",
                                  "http://::1/",
                                  "http://[]/",
                                  "http://a/#b",
                                  "http://\xc3\xa4/",
                                  "http://a%2fb/",
                                  "http://a/..",
                                  "http://a/b/./c",
                                  "//a/b"}) {
        EXPECT_FALSE(read_endpoint(url)) << url;
    }
    EXPECT_FALSE(read_endpoint("http://a/" + std::string(5000, 'x')));
}

TEST(Endpoints, OfTheConfigurationMustBeUrlsWithoutAQuery) {
    ConfigSources sources;
    sources.sets = {R"(subscriptions.endpoints=["https://a/", "http://localhost:9/x"])"};
    EXPECT_TRUE(load_config(sources));
    for (const std::string prefix : {"https://", "*", "https://a/?b", "a/b"}) {
        sources.sets = {"subscriptions.endpoints=[\"" + prefix + "\"]"};
        const Result<Config> config = load_config(sources);
        ASSERT_FALSE(config) << prefix;
        EXPECT_EQ(config.error().code, Errc::usage);
        EXPECT_NE(config.error().detail.find("subscriptions.endpoints"), std::string::npos);
    }
}

}  // namespace
}  // namespace annals::core
