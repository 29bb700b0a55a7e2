// Responses over a socket: their headers, and bodies of every size and in slices.

#include "tests/net/fake_service.h"
#include "tests/net/raw_exchange.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace annals::test {
namespace {

TEST(HttpResponses, CarryTypedHeaders) {
    const HttpResponse response = exchange(server().port(), "GET", "/fhir/view?1500");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, std::string(1500, 'x'));
    EXPECT_EQ(response.header("ETag"), "W/\"3\"");
    EXPECT_EQ(response.header("Last-Modified"), "Fri, 02 Jan 2026 03:04:05 GMT");
    EXPECT_EQ(response.header("Content-Length"), "1500");
    EXPECT_EQ(response.header("Content-Type"), "text/plain; charset=utf-8");
}

TEST(HttpResponses, CarryHeadersOfAnyLengthWhole) {
    for (std::size_t size = 500; size < 2600; size += size > 600 && size < 1100 ? 1 : 100) {
        const HttpResponse response =
            exchange(server().port(), "GET", "/fhir/location?" + std::to_string(size));
        ASSERT_EQ(response.status, 200) << size;
        ASSERT_EQ(response.header("Location"), std::string(size, 'x'));
        ASSERT_EQ(response.header("X-Content-Type-Options"), "nosniff");
    }
}

TEST(HttpResponses, HaveNoHeaderThatATextWithALineBreakWouldAdd) {
    for (const char* const kind : {"0", "1", "2"}) {
        const HttpResponse response =
            exchange(server().port(), "GET", std::string("/fhir/breaks?") + kind);
        EXPECT_EQ(response.status, 200) << kind;
        for (const char* const name : {"X-Given", "Content-Type", "Location", "Content-Location"}) {
            EXPECT_EQ(response.header(name), "") << kind << name;
        }
        EXPECT_FALSE(response.header("X-Other")) << kind;
        EXPECT_EQ(response.body, "hello") << kind;
    }
}

TEST(HttpResponses, ToHeadHaveTheHeadersOfGetAndNoBody) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send("HEAD /fhir/view?1500 HTTP/1.1\r\n" + kHost + "\r\n"));
    const auto head = connection.receive(true);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->header("Content-Length"), "1500");
    ASSERT_TRUE(connection.send("HEAD /fhir/slices?3 HTTP/1.1\r\n" + kHost + "\r\n"));
    const auto sliced = connection.receive(true);
    ASSERT_TRUE(sliced);
    EXPECT_EQ(sliced->status, 200);
    ASSERT_TRUE(
        connection.send("HEAD /fhir/view?1500 HTTP/1.1\r\n" + kHost + "\r\n" + get("/fhir/text")));
    ASSERT_TRUE(connection.receive(true));
    const auto next = connection.receive();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->body, "hello");
}

TEST(HttpResponses, WithoutABodySayNothingOfItsLength) {
    const HttpResponse none = exchange(server().port(), "GET", "/fhir/status?204");
    EXPECT_FALSE(none.header("Content-Length"));
    EXPECT_FALSE(none.header("Content-Type"));
    EXPECT_FALSE(exchange(server().port(), "GET", "/fhir/status?304").header("Content-Length"));
    const HttpResponse empty = exchange(server().port(), "GET", "/fhir/status?200");
    EXPECT_EQ(empty.header("Content-Length"), "0");
}

TEST(HttpResponses, Of405SayThatNoMethodIsTakenWhereNoneIs) {
    EXPECT_EQ(exchange(server().port(), "GET", "/fhir/status?405").header("Allow"), "");
    EXPECT_FALSE(exchange(server().port(), "GET", "/fhir/status?404").header("Allow"));
}

TEST(HttpResponses, OfManyPiecesArriveWhole) {
    const HttpResponse response = exchange(server().port(), "GET", "/fhir/pieces?3000");
    EXPECT_EQ(response.body, std::string(3'000'000, 'x'));
}

TEST(HttpResponses, InSlicesAreChunked) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(get("/fhir/slices?300") + get("/fhir/text")));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_TRUE(response->chunked);
    EXPECT_EQ(response->body.size(), 6U + 3'000'000U);
    EXPECT_TRUE(response->body.starts_with("begin:"));
    const auto next = connection.receive();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->body, "hello");
}

TEST(HttpResponses, InSlicesEndWithTheConnectionForHttp10) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send("GET /fhir/slices?30 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_FALSE(response->chunked);
    EXPECT_EQ(response->body.size(), 6U + 300'000U) << "no sizes of chunks";
    EXPECT_EQ(response->header("Connection"), "close");
    EXPECT_TRUE(connection.closed_by_peer());
}

TEST(HttpResponses, InSlicesOfAKnownSizeSayHowLongTheyAre) {
    constexpr std::size_t kBytes = 6 + 3'000'000;
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(get("/fhir/measured?300") + "HEAD /fhir/measured?300 HTTP/1.1\r\n" +
                                kHost + "\r\n"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_FALSE(response->chunked);
    EXPECT_EQ(response->header("Content-Length"), std::to_string(kBytes));
    EXPECT_EQ(response->body.size(), kBytes);
    EXPECT_TRUE(response->body.ends_with("b"));
    const auto head = connection.receive(true);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->header("Content-Length"), std::to_string(kBytes));
    // They are delimited without closing the connection.
    ASSERT_TRUE(
        connection.send("GET /fhir/measured?30 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    const auto old = connection.receive();
    ASSERT_TRUE(old);
    EXPECT_EQ(old->header("Connection"), "keep-alive");
    EXPECT_EQ(old->body.size(), 6U + 300'000U);
    ASSERT_TRUE(connection.send(get("/fhir/text")));
    EXPECT_TRUE(connection.receive());
}

}  // namespace
}  // namespace annals::test
