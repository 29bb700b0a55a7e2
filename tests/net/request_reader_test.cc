#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace annals::test {
namespace {

using net::Coding;
using net::Encoder;
using net::RequestReader;
using Step = RequestReader::Step;

/// Feeds `bytes` in pieces of `step`, and lists what comes out.
std::vector<std::string> read_all(std::string_view bytes, std::size_t step,
                                  std::uint64_t body_bytes_max = 1 << 20) {
    RequestReader reader(body_bytes_max, true);
    std::vector<std::string> results;
    while (true) {
        switch (reader.next()) {
            case Step::request: {
                core::Request& request = reader.request();
                std::string text(core::method_name(request.method));
                text.append(" ").append(request.path).append("?").append(request.query);
                text.append(" ").append(reader.host());
                for (const core::Header& header : request.headers) {
                    text.append(" ").append(header.name).append("=").append(header.value);
                }
                results.push_back(text.append(" [").append(request.body).append("]"));
                break;
            }
            case Step::head:
                // Reported once, without effect on the request itself.
                EXPECT_TRUE(reader.head().body.empty());
                EXPECT_EQ(reader.phase(), RequestReader::Phase::body);
                break;
            case Step::refused:
                results.emplace_back("refused: ");
                results.back() += reader.refusal().text;
                return results;
            case Step::need_bytes:
            case Step::expects_continue: {
                if (bytes.empty()) {
                    return results;
                }
                const std::span<char> room = reader.room();
                const std::size_t count = std::min({step, bytes.size(), room.size()});
                bytes.copy(room.data(), count);
                bytes.remove_prefix(count);
                reader.filled(count);
                break;
            }
        }
    }
}

TEST(RequestReader, TakesOneTransferCodingOnceAndNoneOfBefore) {
    const std::string coding = "Transfer-Encoding: chunked\r\n";
    const std::string end = "\r\n0\r\n\r\n";
    EXPECT_EQ(read_all("POST /c HTTP/1.1\r\nHost: y\r\n" + coding + coding + end, 1000),
              std::vector<std::string>{"refused: the only supported transfer coding is chunked"});
    EXPECT_EQ(read_all("POST /c HTTP/1.0\r\nHost: y\r\n" + coding + end, 1000),
              std::vector<std::string>{"refused: Transfer-Encoding is not allowed here"});
}

TEST(RequestReader, GivesTheSameForEveryWayOfArriving) {
    std::string bytes = "GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n";
    bytes += "POST /c HTTP/1.1\r\nHost: y:80\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 1; i < 30; ++i) {
        bytes += "a\r\n0123456789\r\n";
    }
    bytes += "0\r\nTrailer: z\r\n\r\n\r\n\r\n";
    bytes += "PUT /d HTTP/1.1\r\nHost: z\r\nContent-Length: 9000\r\n\r\n" + std::string(9000, 'q');
    bytes += "GET /last HTTP/1.1\r\nHost: z\r\n\r\nGET /bad HTTP/1.1\r\nHost : z\r\n\r\n";
    const std::vector<std::string> whole = read_all(bytes, bytes.size());
    ASSERT_EQ(whole.size(), 5U);
    EXPECT_EQ(whole[0], "GET /a?b x Host=x []");
    EXPECT_EQ(whole[4], "refused: a header line is malformed");
    for (std::size_t step = 1; step < 100; ++step) {
        EXPECT_EQ(read_all(bytes, step), whole) << step;
    }
}

TEST(RequestReader, TakesNoLineFeedAloneForTheEndOfAChunkedBody) {
    const std::string head =
        "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n";
    const std::string next = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n";
    const std::vector<std::string> refused{"refused: the chunked body is malformed"};
    for (const char* const trailers : {"", "A: b\r\n"}) {
        for (std::size_t step = 1; step < 120; ++step) {
            EXPECT_EQ(read_all(head + trailers + "\r\n" + next, step).size(), 2U) << step;
            EXPECT_EQ(read_all(head + trailers + "\n" + next, step), refused) << step;
        }
    }
}

TEST(RequestReader, ResolvesWhatIsEscapedInAPathAndDoesNotPartIt) {
    const auto first = [](const std::string& target) {
        return read_all("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n", 7).at(0);
    };
    EXPECT_EQ(first("/fhir/Patient/%61/%24meta?a=%41"),
              "GET /fhir/Patient/a/$meta?a=%41 x Host=x []");
    EXPECT_EQ(first("/a%2Fb%3fc%23%25%00%20%ff%zz%4"),
              "GET /a%2Fb%3fc%23%25%00%20%ff%zz%4? x Host=x []");
    EXPECT_EQ(read_all("GET /%61 HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n", 1),
              (std::vector<std::string>{"GET /a? x Host=x []", "GET /b? x Host=x []"}));
}

TEST(RequestReader, KeepsTheHeadWhileTheBodyGrows) {
    const std::string body(3'000'000, 'b');
    const std::vector<std::string> results =
        read_all("PUT /long?way HTTP/1.1\r\nHost: z\r\nContent-Length: 3000000\r\n\r\n" + body,
                 60'000, 4'000'000);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(results[0].starts_with("PUT /long?way z Host=z"));
    EXPECT_TRUE(results[0].ends_with(body + "]"));
}

TEST(RequestReader, GivesBackWhatALargeRequestTookBeforeTheNextOne) {
    RequestReader reader(4'000'000);
    const std::string body(3'000'000, 'b');
    const auto put = [&](std::string_view head, std::string_view sent) {
        const std::string request = "PUT / HTTP/1.1\r\nHost: z\r\n" + std::string(head) +
                                    "Content-Length: " + std::to_string(sent.size()) + "\r\n\r\n" +
                                    std::string(sent);
        std::string_view rest = request;
        while (!rest.empty()) {
            const std::span<char> room = reader.room();
            const std::size_t count = rest.copy(room.data(), room.size());
            reader.filled(count);
            rest.remove_prefix(count);
            EXPECT_EQ(reader.next(), rest.empty() ? Step::request : Step::need_bytes);
        }
        EXPECT_EQ(reader.request().body.size(), body.size());
        // Like a connection, which may already have further requests.
        EXPECT_EQ(reader.next(), Step::need_bytes);
    };
    put("", body);
    EXPECT_GE(reader.memory(), body.size());
    static_cast<void>(reader.room());
    EXPECT_LE(reader.memory(), 64U << 10);
    std::string encoded;
    net::take_encoder(Coding::zstd)->add(body, Encoder::Then::end, encoded);
    put("Content-Encoding: zstd\r\n", encoded);
    EXPECT_GE(reader.memory(), body.size());
    static_cast<void>(reader.room());
    EXPECT_LE(reader.memory(), 64U << 10);
}

TEST(RequestReader, SaysHowFarTheRequestHasCome) {
    RequestReader reader(100);
    const auto feed = [&](std::string_view bytes) {
        bytes.copy(reader.room().data(), bytes.size());
        reader.filled(bytes.size());
        return reader.next();
    };
    EXPECT_EQ(reader.phase(), RequestReader::Phase::idle);
    EXPECT_EQ(feed("\r\n"), Step::need_bytes);
    EXPECT_EQ(reader.phase(), RequestReader::Phase::idle);
    EXPECT_EQ(feed("PO"), Step::need_bytes);
    EXPECT_EQ(reader.phase(), RequestReader::Phase::head);
    EXPECT_EQ(feed("ST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"),
              Step::expects_continue);
    EXPECT_EQ(reader.phase(), RequestReader::Phase::body);
    EXPECT_EQ(feed("a"), Step::need_bytes);
    EXPECT_EQ(feed("b"), Step::request);
    EXPECT_EQ(reader.request().body, "ab");
    EXPECT_EQ(reader.phase(), RequestReader::Phase::idle);
}

/// A request whose body is `bytes` blanks, compressed to next to nothing.
std::string bomb(std::size_t bytes) {
    std::string body;
    const net::EncoderPointer encoder = net::take_encoder(Coding::zstd);
    encoder->add(std::string(bytes, ' '), Encoder::Then::end, body);
    return "POST /c HTTP/1.1\r\nHost: y\r\nContent-Encoding: zstd\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
}

void feed(RequestReader& reader, std::string_view bytes) {
    const std::span<char> room = reader.room();
    ASSERT_LE(bytes.size(), room.size());
    bytes.copy(room.data(), bytes.size());
    reader.filled(bytes.size());
}

TEST(RequestReader, DecodesNothingBeforeItsHeadWasLookedAt) {
    RequestReader reader(16 << 20, true);
    feed(reader, bomb(8 << 20));
    ASSERT_EQ(reader.next(), Step::head);
    EXPECT_EQ(reader.head().path, "/c");
    EXPECT_LT(reader.memory(), 1U << 20);
    ASSERT_EQ(reader.next(), Step::request);
    EXPECT_EQ(reader.request().body.size(), 8U << 20);
    feed(reader, "GET /next HTTP/1.1\r\nHost: y\r\n\r\n");
    ASSERT_EQ(reader.next(), Step::request);
    EXPECT_EQ(reader.request().path, "/next");
}

TEST(RequestReader, DecodesNoMoreThanThereIsMemoryFor) {
    RequestReader reader(16 << 20);
    feed(reader, bomb(8 << 20));
    reader.set_decoded_bytes_max(100'000);
    ASSERT_EQ(reader.next(), Step::refused);
    EXPECT_EQ(reader.refusal().code, Errc::overloaded);
    reader.give_up();
    EXPECT_LT(reader.memory(), 64U << 10);
}

TEST(RequestReader, TakesABodyOfTheLimitAndNoMore) {
    const std::string head = "PUT / HTTP/1.1\r\nHost: a\r\n";
    EXPECT_EQ(read_all(head + "Content-Length: 4\r\n\r\nabcd", 100, 4).front().back(), ']');
    EXPECT_TRUE(
        read_all(head + "Content-Length: 5\r\n\r\nabcde", 100, 4).front().starts_with("refused"));
    const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(read_all(chunked + "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n", 100, 4).front().back(), ']');
    EXPECT_TRUE(read_all(chunked + "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", 3, 4)
                    .front()
                    .starts_with("refused"));
}

TEST(RequestReader, TakesNoCodedBodyAboveTheLimitThatDecodesToLess) {
    // A skippable frame of zstd (RFC 8878 section 3.1.2), which is nothing when decoded.
    std::string frame("\x50\x2a\x4d\x18\xff\xff\x00\x00", 8);
    frame.resize(2000);
    std::string bytes =
        "PUT / HTTP/1.1\r\nHost: a\r\nContent-Encoding: zstd\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < frame.size(); at += 500) {
        bytes += "1f4\r\n" + frame.substr(at, 500) + "\r\n";
    }
    EXPECT_EQ(
        read_all(bytes, 100, 1000),
        std::vector<std::string>{"refused: the request's body is larger than limits.max_body"});
    EXPECT_TRUE(read_all(bytes, 100, 4000).empty()) << "its end has not come";
}

TEST(RequestReader, KeepsOfAChunkedBodyItsOwnBytesOnly) {
    RequestReader reader(1 << 20);
    feed(reader, "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(reader.next(), Step::need_bytes);
    for (int i = 0; i < 50'000; ++i) {
        feed(reader, "1\r\nx\r\n");
        ASSERT_EQ(reader.next(), Step::need_bytes);
    }
    EXPECT_LE(reader.memory(), 128U << 10);
}

TEST(RequestReader, EndsAHeadThatDoesNotEnd) {
    RequestReader reader(100);
    feed(reader, "GET / HTTP/1.1\r\nHost: a\r\n");
    std::size_t bytes = 0;
    Step step = reader.next();
    while (step == Step::need_bytes && bytes < 10 * kHeaderBytesMax) {
        const std::string line = "X: " + std::string(500, 'x') + "\r\n";
        feed(reader, line);
        bytes += line.size();
        step = reader.next();
    }
    ASSERT_EQ(step, Step::refused);
    EXPECT_EQ(reader.refusal().code, Errc::headers_too_large);
    EXPECT_LE(bytes, kHeaderBytesMax + 1000);
}

TEST(RequestReader, MarksABundleThatIsLargerThanABodyMayBe) {
    RequestReader reader(4);
    const auto is_oversized = [&](std::string_view body) {
        feed(reader, "POST /fhir HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                         std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
        EXPECT_EQ(reader.next(), Step::request);
        return reader.request().oversized;
    };
    EXPECT_FALSE(is_oversized("abcd"));
    EXPECT_TRUE(is_oversized("abcde"));
}

TEST(RequestReader, TellsAnUnknownMethodFromWhatIsNone) {
    const auto refusal_of = [](std::string_view bytes) {
        RequestReader reader(100);
        feed(reader, bytes);
        EXPECT_EQ(reader.next(), Step::refused);
        return reader.refusal().code;
    };
    const std::string rest = " /a HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(refusal_of(std::string(32, 'M') + rest), Errc::method_not_allowed);
    EXPECT_EQ(refusal_of(std::string(33, 'M') + rest), Errc::invalid);
    EXPECT_EQ(refusal_of("M(" + rest), Errc::invalid);
    EXPECT_EQ(refusal_of("METHOD a HTTP/1.1\r\n\r\n"), Errc::invalid);
    EXPECT_EQ(refusal_of("METHOD /a HTTP/2.0\r\n\r\n"), Errc::invalid);
}

TEST(RequestReader, AsksForABodyOnce) {
    RequestReader reader(100);
    feed(reader, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(reader.next(), Step::expects_continue);
    EXPECT_EQ(reader.next(), Step::need_bytes);

    RequestReader begun(100);
    feed(begun, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\na");
    EXPECT_EQ(begun.next(), Step::need_bytes) << "it comes unasked";
}

TEST(RequestReader, JoinsTheCodingsOfOneRequestAlone) {
    RequestReader reader(100);
    const auto codings_of = [&](std::string_view lines) {
        feed(reader, "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n");
        EXPECT_EQ(reader.next(), Step::request);
        return std::string(reader.accept_encoding());
    };
    EXPECT_EQ(codings_of("Accept-Encoding: gzip\r\nAccept-Encoding: zstd\r\n"), "gzip,zstd,");
    EXPECT_EQ(codings_of("Accept-Encoding: br\r\nAccept-Encoding: x\r\n"), "br,x,");
    EXPECT_EQ(codings_of("Accept-Encoding: gzip\r\n"), "gzip");
    EXPECT_EQ(codings_of(""), "");
}

TEST(RequestReader, SaysThatACodedBodyEndedEarly) {
    std::string body;
    net::take_encoder(Coding::zstd)->add("text", Encoder::Then::end, body);
    body.resize(body.size() - 1);
    RequestReader reader(100);
    feed(reader, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Encoding: zstd\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body);
    ASSERT_EQ(reader.next(), Step::refused);
    EXPECT_EQ(reader.refusal().code, Errc::invalid);
    EXPECT_EQ(reader.refusal().text, "the body ends before its content coding does");
}

}  // namespace
}  // namespace annals::test
