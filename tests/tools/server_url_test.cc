#include "tools/commands/server_url.h"

#include <gtest/gtest.h>

#include <string>

namespace annals::tools {
namespace {

TEST(ServerUrl, IsReadWithAndWithoutPortAndPath) {
    const auto url = parse_server_url("http://example.org:8080/fhir/");
    ASSERT_TRUE(url);
    EXPECT_EQ(url->host, "example.org");
    EXPECT_EQ(url->port, "8080");
    EXPECT_EQ(url->base_path, "/fhir");
    EXPECT_EQ(url->text(), "http://example.org:8080/fhir");
    const auto v6 = parse_server_url("http://[::1]:81");
    ASSERT_TRUE(v6);
    EXPECT_EQ(v6->host, "::1");
    EXPECT_EQ(v6->authority(), "[::1]:81");
    EXPECT_EQ(parse_server_url("http://host/fhir")->port, "80");
    EXPECT_EQ(parse_server_url("https://host/fhir")->port, "443");
    EXPECT_EQ(parse_server_url("http://host:65535/fhir")->port, "65535");
}

TEST(ServerUrl, IsRefusedWhenItNamesNoServer) {
    for (const char* text : {"",
                             "host:80",
                             "ftp://host/fhir",
                             "http://",
                             "https://",
                             "http://host:x/fhir",
                             "http://host/fhir?a=b",
                             "http://:80/fhir",
                             "http://[::1]x80/fhir",
                             "http://[::1]80",
                             "http://host/fhir#a",
                             "http://host/fhir ",
                             "http://host/fhir\r",
                             "http://host/fhir\n",
                             "http://[::1/fhir",
                             "http://[]/fhir",
                             "http://host:/fhir",
                             "http://host:0/fhir",
                             "http://host:65536/fhir",
                             "http://host:18446744073709551696/fhir"}) {
        EXPECT_FALSE(parse_server_url(text)) << text;
    }
    for (const char* text : {"http://u:secret@host/fhir", "https://u:secret@host:80/fhir"}) {
        const auto url = parse_server_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().detail.find("secret"), std::string::npos) << url.error().detail;
    }
    EXPECT_TRUE(parse_server_url("http://host/a@b"));
}

TEST(RequestTarget, IsThePathAndQueryOfALink) {
    EXPECT_EQ(request_target("http://other:9/fhir/_history?_cursor=a"), "/fhir/_history?_cursor=a");
    EXPECT_EQ(request_target("/fhir/_history"), "/fhir/_history");
    EXPECT_EQ(request_target("http://other"), "/");
    const std::string asked = "/a/fhir/_history?_since=http://b";
    EXPECT_EQ(request_target("?page=2", asked), "/a/fhir/_history?page=2");
    EXPECT_EQ(request_target("_history?of=http://b/c", asked), "/a/fhir/_history?of=http://b/c");
    EXPECT_EQ(request_target("./_history?page=2", asked), "/a/fhir/_history?page=2");
    EXPECT_EQ(request_target("/fhir/_history?of=http://b/c", asked),
              "/fhir/_history?of=http://b/c");
}

}  // namespace
}  // namespace annals::tools
