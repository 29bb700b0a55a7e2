// Raw exchanges over a socket: bytes in, status and headers out.

#include "core/base/limits.h"
#include "tests/net/fake_service.h"
#include "tests/net/raw_exchange.h"

#include <functional>
#include <thread>

namespace annals::test {
namespace {

std::string padded(std::string target, std::size_t size) {
    target.resize(size, 'a');
    return target;
}

const std::vector<Exchange>& exchanges() {
    static const std::vector<Exchange> all{
        {"Plain", get("/fhir/text"), 200, false, "hello"},
        {"Root", get("/fhir", "") /* handled by the awaited echo */, 200, false, ""},
        {"EmptyLineFirst", "\r\n" + get("/fhir/text"), 200, false, "hello"},
        {"ConnectionClose", get("/fhir/text", "Connection: close\r\n"), 200, true, "hello"},
        {"ConnectionCloseAndATab", get("/fhir/text", "Connection: x, Close \t\r\n"), 200, true,
         "hello"},
        {"Http10", "GET /fhir/text HTTP/1.0\r\n\r\n", 200, true, "hello"},
        {"Http10KeepAlive", "GET /fhir/text HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200, false,
         "hello"},
        {"HandlerCloses", get("/fhir/close"), 200, true, "bye"},
        {"NoBodyStatus", get("/fhir/status?204"), 204, false, ""},
        {"NotModified", get("/fhir/status?304"), 304, false, ""},
        {"QueryAndHeaders", get("/fhir/describe?a=b%20c", "A: 1\r\nB:\t2 \r\nC:\r\n"), 200, false,
         "GET path=/describe query=a=b%20c base=http://annals.test/fhir body=0\n"
         "Host=annals.test\nA=1\nB=2\nC=\n"},
        {"AbsoluteForm", get("http://other.test:81/fhir/describe?x"), 200, false,
         "query=x base=http://other.test:81/fhir"},
        {"AbsoluteFormOfTls", get("HTTPS://other.test/fhir/describe"), 200, false,
         "base=http://other.test/fhir"},
        {"TargetOfTheLimit", get(padded("/fhir/text?", kRequestTargetBytesMax)), 200, false,
         "hello"},
        {"PageOfTheLimit", get(padded("/fhir/text?_cursor=a&b=", kPageTargetBytesMax)), 200, false,
         "hello"},
        {"BlanksBehindAValue", get("/fhir/describe", "A: 1\t\r\nB: 2 \t \r\n"), 200, false,
         "\nA=1\nB=2\n"},
        {"HeadersAsLongAsThoseThatAreRead",
         get("/fhir/text",
             "Hosd: a/b\r\nExpecd: tea\r\nConnectiom: close\r\nX-Request-Ie: \x80\r\n"
             "Content-Encodinh: br\r\nTransfer-Encodinh: gzip\r\nX-Annals-Min-Positiom: z\r\n"),
         200, false, "hello"},
        {"ExpectationIn10", "POST /fhir/echo HTTP/1.0\r\nExpect: tea\r\nContent-Length: 1\r\n\r\na",
         200, true, "a"},
        {"Upgrade", get("/fhir/text", "Connection: upgrade\r\nUpgrade: h2c\r\n"), 200, false,
         "hello"},
        {"GetWithBody", get("/fhir/describe", "Content-Length: 3\r\n") + "abc", 200, false,
         "body=3"},
        {"ContentLength", post("Content-Length: 5\r\n", "hello"), 200, false, "hello"},
        {"EmptyBody", post("Content-Length: 0\r\n", ""), 200, false, ""},
        {"Chunked", post("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"),
         200, false, "hello!"},
        {"ChunkedTrailers",
         post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\nTrailer: x\r\nB: c\r\n\r\n"), 200,
         false, "a"},
        {"ChunkedExtension",
         post("Transfer-Encoding: Chunked\r\n", "5;name=value\r\nhello\r\n0\r\n\r\n"), 200, false,
         "hello"},
        {"IdentityCoding", post("Content-Encoding: identity\r\nContent-Length: 1\r\n", "a"), 200,
         false, "a"},
        {"ContinueWithBodyAtOnce", post("Expect: 100-continue\r\nContent-Length: 5\r\n", "hello"),
         200, false, "hello"},

        {"LengthAndCoding",
         post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400, true,
         "\"invalid\""},
        {"CodingAndLength",
         post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"), 400, true,
         "OperationOutcome"},
        {"TwoLengths", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello"), 400, true,
         "OperationOutcome"},
        {"LengthList", post("Content-Length: 5, 5\r\n", "hello"), 400, true, "OperationOutcome"},
        {"SignedLength", post("Content-Length: +5\r\n", "hello"), 400, true, "OperationOutcome"},
        {"HugeLength", post("Content-Length: 99999999999999999999999\r\n", ""), 400, true,
         "OperationOutcome"},
        {"EmptyLength", post("Content-Length:\r\n", ""), 400, true, "OperationOutcome"},
        {"BareLineFeed", "GET /fhir/text HTTP/1.1\nHost: a\n\n", 400, true, "OperationOutcome"},
        {"BareLineFeedInHeaders", "GET /fhir/text HTTP/1.1\r\nHost: a\nB: c\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"BareLineFeedAtTheEnd", "GET /fhir/text HTTP/1.1\r\nHost: a\r\n\n", 400, true,
         "OperationOutcome"},
        {"BareCarriageReturn", "GET /fhir/text HTTP/1.1\r\nHost: a\rB: c\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"BareCarriageReturnFirst", "\rGET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"ObsoleteFolding", "GET /fhir/text HTTP/1.1\r\nHost: a\r\nB: c\r\n d\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"FoldedCoding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 501, true,
         "OperationOutcome"},
        {"SpaceBeforeColon", "GET /fhir/text HTTP/1.1\r\nHost : a\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"SpacedCoding", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), 400, true,
         "OperationOutcome"},
        {"EmptyName", get("/fhir/text", ": b\r\n"), 400, true, "OperationOutcome"},
        {"NulInHeader", get("/fhir/text", std::string("A: b\0c\r\n", 8)), 400, true,
         "OperationOutcome"},
        {"NulInTarget", get(std::string("/fhir/te\0xt", 11)), 400, true, "OperationOutcome"},
        {"NoHost", "GET /fhir/text HTTP/1.1\r\n\r\n", 400, true, "Host"},
        {"TwoHosts", get("/fhir/text", "Host: b\r\n"), 400, true, "Host"},
        {"BadHost", "GET /fhir/text HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, true, "Host"},
        {"BadPort", "GET /fhir/text HTTP/1.1\r\nHost: a:8x\r\n\r\n", 400, true, "Host"},
        {"BadPortOfAnAddress", "GET /fhir/text HTTP/1.1\r\nHost: [::1]:8x\r\n\r\n", 400, true,
         "Host"},
        {"BadPortInTarget", "GET http://a:8x/fhir/text HTTP/1.1\r\nHost: a\r\n\r\n", 400, true,
         "host"},
        {"EmptyHost", "GET /fhir/text HTTP/1.1\r\nHost:\r\n\r\n", 400, true, "Host"},
        {"TwoContentTypes",
         post("Content-Type: text/plain\r\ncontent-type: text/plain\r\nContent-Length: 1\r\n", "a"),
         400, true, "Content-Type"},
        {"Version20", "GET /fhir/text HTTP/2.0\r\nHost: a\r\n\r\n", 505, true, "OperationOutcome"},
        {"Version12", "GET /fhir/text HTTP/1.2\r\nHost: a\r\n\r\n", 505, true, "OperationOutcome"},
        {"Version09", "GET /fhir/text\r\n\r\n", 505, true, "OperationOutcome"},
        {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, true, "OperationOutcome"},
        {"UnknownMethod", "FROB /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 405, true, "not-supported"},
        {"UnknownMethodInLowerCase", "get /healthz HTTP/1.0\r\nHost: a\r\n\r\n", 405, true,
         "not-supported"},
        {"UnknownMethodWithoutVersion", "FROB /fhir/text\r\nHost: a\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"UnknownMethodOfNoToken", "FR(B /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n", 400, true,
         "OperationOutcome"},
        {"UnknownMethodAlone", "HELO\r\n", 400, true, "OperationOutcome"},
        {"UnknownMethodOfALongTarget", "FROB /" + std::string(kRequestTargetBytesMax + 100, 'a'),
         414, true, "OperationOutcome"},
        {"Noise", "\x16\x03\x01\x02 whatever", 400, true, "OperationOutcome"},
        {"TwoSpaces", "GET  /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n", 400, true, "OperationOutcome"},
        {"AuthorityForm", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400, true, "OperationOutcome"},
        {"UserInTarget", get("http://user@host/fhir/text"), 400, true, "OperationOutcome"},
        {"OtherScheme", get("ftp://other.test/fhir/text"), 400, true, "OperationOutcome"},
        {"DeleteInTarget", get("/fhir/te\x7fxt"), 400, true, "OperationOutcome"},
        {"NoAsciiInTarget", get("/fhir/te\xc3\xa9xt"), 400, true, "percent-encoded"},
        {"Fragment", get("/fhir/text#a"), 400, true, "OperationOutcome"},
        {"OtherCoding", post("Transfer-Encoding: gzip\r\n", ""), 501, true, "OperationOutcome"},
        {"TwoCodings", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501, true,
         "OperationOutcome"},
        {"ChunkedTwice",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 501,
         true, "OperationOutcome"},
        {"ChunkedIn10", "POST /fhir/echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         400, true, "OperationOutcome"},
        {"BadChunkSize", post("Transfer-Encoding: chunked\r\n", "x\r\n"), 400, true,
         "OperationOutcome"},
        {"NegativeChunk", post("Transfer-Encoding: chunked\r\n", "-1\r\n"), 400, true,
         "OperationOutcome"},
        {"PrefixedChunk", post("Transfer-Encoding: chunked\r\n", "0x5\r\nhello\r\n"), 400, true,
         "OperationOutcome"},
        {"OverflowingChunk", post("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\n"), 400,
         true, "OperationOutcome"},
        {"ChunkWithoutItsEnd", post("Transfer-Encoding: chunked\r\n", "5\r\nhelloXX0\r\n\r\n"), 400,
         true, "OperationOutcome"},
        {"ChunkLineFeed", post("Transfer-Encoding: chunked\r\n", "5\nhello\n0\n\n"), 400, true,
         "OperationOutcome"},
        {"LongTarget", get("/fhir/" + std::string(kRequestTargetBytesMax, 'a')), 414, true,
         "too-long"},
        {"EndlessTarget", "GET /fhir/" + std::string(2 * kRequestTargetBytesMax, 'a'), 414, true,
         "too-long"},
        {"LongPage",
         get("/fhir/text?_cursor=a&b=" + std::string(kPageTargetBytesMax - 100, 'b'),
             "A: " + std::string(kHeaderBytesMax / 2, 'a') + "\r\n"),
         200, false, ""},
        {"LongerPage", get("/fhir/text?_cursor=a&b=" + std::string(kPageTargetBytesMax, 'b')), 414,
         true, "too-long"},
        {"LongTargetOfNoPage",
         get("/fhir/text?b=a&_cursor=" + std::string(kRequestTargetBytesMax, 'b')), 414, true,
         "too-long"},
        {"LongHeadersOfAPage",
         get("/fhir/text?_cursor=a",
             "A: " + std::string(kPageTargetBytesMax + kHeaderBytesMax, 'a') + "\r\n"),
         431, true, "too-long"},
        {"LongHeaders", get("/fhir/text", "A: " + std::string(kHeaderBytesMax, 'a') + "\r\n"), 431,
         true, "too-long"},
        {"ManyHeaders", get("/fhir/text", with_headers(100)), 431, true, "too-long"},
        {"LongTrailers",
         post("Transfer-Encoding: chunked\r\n",
              "0\r\nA: " + std::string(2 * kHeaderBytesMax, 'a') + "\r\n\r\n"),
         431, true, "too-long"},
        {"OtherExpectation", post("Expect: tea\r\nContent-Length: 1\r\n", "a"), 417, true,
         "OperationOutcome"},
        {"ContentCoding", post("Content-Encoding: br\r\nContent-Length: 1\r\n", "a"), 415, true,
         "not-supported"},
        {"ContentCodingTwice",
         post("Content-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n", "a"),
         415, true, "not-supported"},
        {"TooLong", post("Content-Length: 67108865\r\n", "abc"), 413, true, "too-long"},
        {"TooLongExpecting", post("Expect: 100-continue\r\nContent-Length: 67108865\r\n", ""), 413,
         true, "too-long"},
        {"TooLongChunk", post("Transfer-Encoding: chunked\r\n", "4000001\r\nabc"), 413, true,
         "too-long"},

        {"Elsewhere", get("/"), 404, false, "not-found"},
        {"BesideTheRoot", get("/fhirx"), 404, false, "not-found"},
        {"Dots", get("/fhir/../healthz"), 200, false, ""},  // below /fhir, so for the handler
        {"EncodedSlash", get("/fhir%2ftext"), 404, false, "not-found"},
        {"DoubleSlash", get("//fhir/text"), 404, false, "not-found"},
        {"Asterisk", "OPTIONS * HTTP/1.1\r\n" + kHost + "\r\n", 200, false, ""},
        {"AsteriskOfAnotherMethod", get("*"), 404, false, "not-found"},
        {"Health", get("/healthz"), 200, false, "alive"},
        {"Ready", get("/readyz"), 200, false, "ready"},
        {"Metrics", get("/metrics"), 200, false, "annals_build_info"},
        {"HealthPost", "POST /healthz HTTP/1.1\r\n" + kHost + "Content-Length: 0\r\n\r\n", 405,
         false, "not-supported"},
    };
    return all;
}

// References, because some are large, and parameters are copied when tests start.
class RawExchange : public testing::TestWithParam<std::reference_wrapper<const Exchange>> {};

void expect_answer(Connection& connection, const Exchange& exchange) {
    std::optional<HttpResponse> response = connection.receive();
    ASSERT_TRUE(response) << "no response";
    if (response->status == 100) {
        response = connection.receive();
        ASSERT_TRUE(response) << "nothing after 100 Continue";
    }
    EXPECT_EQ(response->status, exchange.status) << response->body;
    EXPECT_NE(response->body.find(exchange.in_body), std::string::npos) << response->body;
    EXPECT_TRUE(response->header("X-Request-Id"));
    EXPECT_TRUE(response->header("Date"));
    if (exchange.status >= 400) {
        EXPECT_EQ(response->header("Content-Type"), "application/fhir+json; charset=utf-8");
    }
    if (exchange.status == 405) {
        EXPECT_EQ(response->header("Allow"), "GET, HEAD");
    }
    if (exchange.closes) {
        EXPECT_EQ(response->header("Connection"), "close");
        connection.shut_down_sending();
        EXPECT_TRUE(connection.closed_by_peer());
        return;
    }
    ASSERT_TRUE(connection.send(get("/fhir/text")));
    const std::optional<HttpResponse> next = connection.receive();
    ASSERT_TRUE(next) << "the connection should have stayed";
    EXPECT_EQ(next->body, "hello");
}

TEST_P(RawExchange, IsAnsweredWhenItArrivesAtOnce) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(GetParam().get().bytes));
    expect_answer(connection, GetParam());
}

TEST_P(RawExchange, IsAnsweredWhenItArrivesByteByByte) {
    Connection connection(server().port());
    std::string_view left = GetParam().get().bytes;
    const std::size_t step = left.size() > 4096 ? 97 : 1;
    while (!left.empty() && connection.send(left.substr(0, step))) {
        left.remove_prefix(std::min(step, left.size()));
        std::this_thread::yield();
    }
    expect_answer(connection, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Http, RawExchange,
                         testing::ValuesIn(std::vector<std::reference_wrapper<const Exchange>>(
                             exchanges().begin(), exchanges().end())),
                         [](const auto& exchange) { return exchange.param.get().name; });

TEST(RequestIds, AreEchoedIfSafeAndMadeOtherwise) {
    const auto id_for = [](const std::string& given) {
        return *exchange(server().port(), "GET", "/fhir/text", "", {{"X-Request-Id", given}})
                    .header("X-Request-Id");
    };
    EXPECT_EQ(id_for("abc-1.2/x=y"), "abc-1.2/x=y");
    EXPECT_NE(id_for("a b"), "a b");
    EXPECT_NE(id_for("\"<script>"), "\"<script>");
    EXPECT_EQ(id_for(std::string(1000, 'a')).size(), 16U);
    const HttpResponse twice = exchange(server().port(), "GET", "/fhir/text", "",
                                        {{"X-Request-Id", "first"}, {"X-Request-Id", "second"}});
    EXPECT_EQ(twice.header("X-Request-Id"), "first");
    // R4 http.html, Custom Headers
    const auto correlation_id_for = [](const std::string& given) {
        return exchange(server().port(), "GET", "/fhir/text", "", {{"X-Request-Id", given}})
            .header("X-Correlation-Id");
    };
    EXPECT_EQ(correlation_id_for("abc"), std::nullopt);
    EXPECT_EQ(correlation_id_for("{a b}"), "{a b}");
    EXPECT_EQ(correlation_id_for(std::string(1024, 'a')), std::string(1024, 'a'));
    EXPECT_EQ(correlation_id_for(std::string(1025, 'a')), std::nullopt);
    EXPECT_EQ(correlation_id_for("a\tb"), std::nullopt);
    EXPECT_EQ(correlation_id_for("\xe9"), std::nullopt);
    Connection kept(server().port());
    ASSERT_TRUE(kept.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\nX-Request-Id: {a b}\r\n\r\n" +
                          get("/fhir/text")));
    EXPECT_EQ(kept.receive()->header("X-Correlation-Id"), "{a b}");
    EXPECT_EQ(kept.receive()->header("X-Correlation-Id"), std::nullopt) << "not that of the last";
    const auto make = [] {
        return *exchange(server().port(), "GET", "/fhir/text").header("X-Request-Id");
    };
    const std::string made = make();
    EXPECT_EQ(made.size(), 16U);
    EXPECT_EQ(made.find_first_not_of("0123456789abcdef"), std::string::npos) << made;
    EXPECT_NE(made, make());
}

TEST(BaseUrl, ComesFromTheHostOrFromTheConfiguration) {
    EXPECT_NE(exchange(server().port(), "GET", "/fhir/describe").body.find("base=http://"),
              std::string::npos);
    Connection old(server().port());
    ASSERT_TRUE(old.send("GET /fhir/describe HTTP/1.0\r\n\r\n"));
    const auto response = old.receive();
    ASSERT_TRUE(response);
    EXPECT_NE(response->body.find("base=" + server().server().url() + " "), std::string::npos);
    Connection kept(server().port());
    for (const std::string host : {"one.example", "two.example"}) {
        ASSERT_TRUE(kept.send("GET /fhir/describe HTTP/1.1\r\nHost: " + host + "\r\n\r\n"));
        EXPECT_NE(kept.receive()->body.find("base=http://" + host + "/fhir "), std::string::npos);
    }

    FakeServer public_one(
        [](core::Config& config) { config.base_url = "https://example.org/r4/fhir"; });
    EXPECT_NE(exchange(public_one.port(), "GET", "/fhir/describe")
                  .body.find("base=https://example.org/r4/fhir "),
              std::string::npos);
}

TEST(Pipelining, AnswersAHundredRequestsInOrder) {
    Connection connection(server().port());
    std::string requests;
    for (int i = 0; i < 100; ++i) {
        // Requests answered later must not be overtaken by others.
        requests += i % 10 == 3 ? post("Content-Length: 2\r\n", std::to_string(i + 100).substr(1))
                                : get("/fhir/describe?" + std::to_string(i));
    }
    ASSERT_TRUE(connection.send(requests));
    for (int i = 0; i < 100; ++i) {
        const auto response = connection.receive();
        ASSERT_TRUE(response) << i;
        const std::string wanted =
            i % 10 == 3 ? std::to_string(i + 100).substr(1) : "query=" + std::to_string(i) + " ";
        EXPECT_NE(response->body.find(wanted), std::string::npos) << i << response->body;
    }
}

TEST(Pipelining, StopsAtAMalformedRequest) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(get("/fhir/text") + "GET / HTTP/1.1\r\nHost : a\r\n\r\n" +
                                get("/fhir/text")));
    const auto first = connection.receive();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->status, 200);
    const auto second = connection.receive();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->status, 400);
    EXPECT_FALSE(connection.receive());
}

TEST(Pipelining, LeavesOthersTheirTurns) {
    FakeServer one_thread([](core::Config& config) { config.threads = 1; });
    // Many requests, and few with large answers: neither all are handled nor all answers are kept before others are served.
    for (const auto& [target, count] :
         {std::pair("/fhir/text", 150), std::pair("/fhir/view?1000000", 40)}) {
        Connection many(one_thread.port());
        Connection other(one_thread.port());
        ASSERT_TRUE(other.send(get("/fhir/count")));
        const auto counted_before = other.receive();
        ASSERT_TRUE(counted_before);
        const int before = std::stoi(counted_before->body);
        std::string requests = get("/fhir/hold");
        for (int i = 0; i < count; ++i) {
            requests += get(target);
        }
        ASSERT_TRUE(many.send(requests));
        HeldLoop held;
        ASSERT_TRUE(other.send(get("/fhir/count")));
        held.let_go();
        const auto counted = other.receive();
        ASSERT_TRUE(counted);
        EXPECT_LT(std::stoi(counted->body) - before, count) << target;
        for (int i = 0; i <= count; ++i) {
            ASSERT_TRUE(many.receive()) << target;
        }
    }
}

TEST(Expect, IsAnsweredBeforeTheBodyComes) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(post("Expect: 100-continue\r\nContent-Length: 5\r\n", "")));
    const auto interim = connection.receive(true);
    ASSERT_TRUE(interim);
    EXPECT_EQ(interim->status, 100);
    ASSERT_TRUE(connection.send("hello"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, "hello");
}

TEST(Bodies, MayHave64MebibytesInChunks) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(post("Transfer-Encoding: chunked\r\n", "")));
    const std::string chunk = "100000\r\n" + std::string(1 << 20, 'z') + "\r\n";
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(connection.send(chunk));
    }
    ASSERT_TRUE(connection.send("0\r\n\r\n"));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, std::string(64 << 20, 'z'));
}

TEST(Bodies, OfManySmallChunksAreJoined) {
    Connection connection(server().port());
    std::string bytes = post("Transfer-Encoding: chunked\r\n", "");
    std::string wanted;
    for (int i = 0; i < 20'000; ++i) {
        const std::string piece(static_cast<std::size_t>(i % 7 + 1),
                                static_cast<char>('a' + i % 26));
        bytes += std::to_string(piece.size()) + "\r\n" + piece + "\r\n";
        wanted += piece;
    }
    ASSERT_TRUE(connection.send(bytes + "0\r\n\r\n" + get("/fhir/text")));
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, wanted);
    const auto next = connection.receive();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->body, "hello");
}

TEST(Bodies, OverTheLimitAreRefusedWhileTheyCome) {
    FakeServer small([](core::Config& config) { config.limits.max_body = 100'000; });
    Connection connection(small.port());
    ASSERT_TRUE(connection.send(post("Transfer-Encoding: chunked\r\n", "")));
    const std::string chunk = "2710\r\n" + std::string(10'000, 'z') + "\r\n";
    for (int i = 0; i < 100; ++i) {
        if (!connection.send(chunk)) {
            break;
        }
    }
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 413);
}

TEST(HalfClose, StillGetsItsAnswer) {
    Connection connection(server().port());
    ASSERT_TRUE(connection.send(get("/fhir/wait?50")));
    connection.shut_down_sending();
    const auto response = connection.receive();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, "waited");
    EXPECT_TRUE(connection.closed_by_peer());
}

TEST(Metrics, CountByMethodAndStatusClass) {
    FakeServer fresh;
    exchange(fresh.port(), "GET", "/fhir/text");
    exchange(fresh.port(), "GET", "/fhir/text");
    exchange(fresh.port(), "GET", "/nowhere");
    const std::string page = exchange(fresh.port(), "GET", "/metrics").body;
    EXPECT_NE(page.find("annals_http_requests_total{method=\"GET\",code=\"2xx\"} 2\n"),
              std::string::npos)
        << page;
    EXPECT_NE(page.find("annals_http_requests_total{method=\"GET\",code=\"4xx\"} 1\n"),
              std::string::npos);
    EXPECT_NE(page.find("annals_http_request_seconds_count{method=\"GET\"} 3\n"),
              std::string::npos);
    EXPECT_NE(page.find("annals_http_connections 1\n"), std::string::npos);
    EXPECT_NE(page.find("annals_store_writable 1\n"), std::string::npos);
}

}  // namespace
}  // namespace annals::test
