// Requests that are refused before they were read completely.

#include "core/base/limits.h"
#include "tests/net/raw_exchange.h"
#include "tests/support/guarded_server.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

TEST(RefusedHeads, AreAnsweredInWhatTheyAskFor) {
    const std::string xml = "Accept: application/fhir+xml\r\n";
    const std::string many(kRequestTargetBytesMax, 'a');
    const std::vector<Exchange> refused{
        {"LongTarget", get("/fhir/" + many, xml), 414, true, ""},
        {"LongQuery", get("/fhir/Patient?_format=xml&name=" + many), 414, true, ""},
        {"EndlessQuery", "GET /fhir/Patient?_format=xml&name=" + many + many, 414, true, ""},
        {"UnknownMethod", "FROB /fhir/text HTTP/1.1\r\n" + kHost + xml + "\r\n", 405, true, ""},
        {"UnknownMethodAndFormat", "FROB /fhir/text?_format=xml HTTP/1.1\r\n\r\n", 405, true, ""},
        {"MalformedTarget", get("/fhir/text#a", xml), 400, true, ""},
        {"NoHost", "GET /fhir/text HTTP/1.1\r\n" + xml + "\r\n", 400, true, ""},
        {"AfterTheFault", get("/fhir/text", "Host: b\r\n" + xml), 400, true, ""},
        {"MalformedHeader", get("/fhir/text", xml + "A b: c\r\n"), 400, true, ""},
        {"Version12", "GET /fhir/text HTTP/1.2\r\n" + xml + "\r\n", 505, true, ""},
        {"ManyHeaders", get("/fhir/text", with_headers(100) + xml), 431, true, ""},
        {"LongHeaders", get("/fhir/text", xml + "A: " + std::string(kHeaderBytesMax, 'a') + "\r\n"),
         431, true, ""},
        {"OtherCoding", post(xml + "Transfer-Encoding: gzip\r\n", ""), 501, true, ""},
        {"ContentCoding", post("Content-Encoding: br\r\n" + xml + "Content-Length: 1\r\n", "a"),
         415, true, ""},
        {"TooLong", post(xml + "Content-Length: 67108865\r\n", "abc"), 413, true, ""},
        {"BadChunkSize", post(xml + "Transfer-Encoding: chunked\r\n", "x\r\n"), 400, true, ""},
    };
    for (const Exchange& exchange : refused) {
        SCOPED_TRACE(exchange.name);
        Connection connection(server().port());
        ASSERT_TRUE(connection.send(exchange.bytes));
        const std::optional<HttpResponse> response = connection.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, exchange.status);
        EXPECT_EQ(response->header("Content-Type"), "application/fhir+xml; charset=utf-8");
        EXPECT_NE(response->body.find("<OperationOutcome xmlns"), std::string::npos);
    }
}

TEST(RefusedHeads, SayNothingThatWasNotSaidWhole) {
    const std::string many(2 * kRequestTargetBytesMax, 'a');
    for (const std::string& bytes :
         {"GET /fhir/" + many + "?_format=xml", "GET /fhir/Patient?name=" + many + "&_format=xml",
          get("/fhir/text", "Host: b\r\nAccept application/fhir+xml\r\n")}) {
        Connection connection(server().port());
        ASSERT_TRUE(connection.send(bytes));
        const std::optional<HttpResponse> response = connection.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->header("Content-Type"), "application/fhir+json; charset=utf-8");
    }
}

TEST(RefusedHeads, SayHowATargetThatIsNotAsciiIsSent) {
    for (const std::string target :
         {"/fhir/Patient?name=M\xc3\xbcller", "/fhir/Patient/\xc3\xbc"}) {
        Connection connection(server().port());
        ASSERT_TRUE(connection.send(get(target)));
        const std::optional<HttpResponse> response = connection.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 400);
        EXPECT_NE(response->body.find("percent-encoded"), std::string::npos) << response->body;
    }
}

TEST(RefusedHeads, OfAnUnknownMethodAreToldWhatThePathTakes) {
    const std::vector<std::pair<std::string, std::string>> allowed{
        {"/fhir/Patient/1", "GET, HEAD, PUT, PATCH, DELETE"},
        {"/fhir/Patient/1/_history/1?_format=json", "GET, HEAD"},
        {"/fhir/Nothing/1", "GET, HEAD, POST, PUT, PATCH, DELETE"},
        {"/healthz", "GET, HEAD"}};
    for (const auto& [target, methods] : allowed) {
        Connection connection(server().port());
        ASSERT_TRUE(connection.send("FOO " + target + " HTTP/1.1\r\nHost: a\r\n\r\n"));
        const std::optional<HttpResponse> response = connection.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 405);
        EXPECT_EQ(response->header("Allow"), methods) << target;
        EXPECT_FALSE(connection.read_exactly(1));
    }
}

TEST(RefusedHeads, TellStrangersNothingOfThePathAndCachesNothing) {
    GuardedServer server(with_keys("api_key", "{}"));
    Connection connection(server.port());
    ASSERT_TRUE(connection.send("FOO /fhir/Patient/1/_history/1 HTTP/1.1\r\nHost: a\r\n\r\n"));
    const std::optional<HttpResponse> response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 405);
    EXPECT_EQ(response->header("Allow"), "GET, HEAD, POST, PUT, PATCH, DELETE");
    EXPECT_EQ(response->header("Cache-Control"), "private, no-cache");
}

TEST(RefusedHeads, KeepTheNumberThatTheyCameWith) {
    Connection connection(server().port());
    ASSERT_TRUE(
        connection.send("FROB / HTTP/1.1\r\nX-Request-Id: mine\r\nX-Request-Id: another\r\n\r\n"));
    EXPECT_EQ(connection.receive()->header("X-Request-Id"), "mine");
}

TEST(RefusedHeads, OfHeadHaveNoBody) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send("HEAD /fhir/text HTTP/1.1\r\n\r\n"));
    const std::optional<HttpResponse> response = connection.receive(true);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 400);
    EXPECT_FALSE(connection.read_exactly(1));
}

}  // namespace
}  // namespace annals::test
