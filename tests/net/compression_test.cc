// Content codings over a socket: answers that are encoded, requests that are decoded.

#include "net/compression.h"

#include "net/coding.h"
#include "tests/net/fake_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace annals::test {
namespace {

using net::Coding;

FakeServer& megabyte_server() {
    static FakeServer value([](core::Config& config) { config.limits.max_body = 1 << 20; });
    return value;
}

std::string encoded(Coding coding, std::string_view text) {
    std::string out;
    net::take_encoder(coding)->add(text, net::Encoder::Then::end, out);
    return out;
}

std::string decoded(Coding coding, std::string_view bytes) {
    const auto decoder = net::make_decoder(coding);
    std::string out;
    EXPECT_EQ(decoder->add(bytes, 1 << 30, out), net::Decoder::Step::taken);
    EXPECT_TRUE(decoder->complete());
    return out;
}

HttpResponse get_encoded(std::string_view target, std::string_view accept_encoding) {
    return exchange(megabyte_server().port(), "GET", target, {},
                    {{"Accept-Encoding", std::string(accept_encoding)}});
}

HttpResponse post_encoded(std::string_view content_encoding, std::string_view body) {
    return exchange(megabyte_server().port(), "POST", "/fhir/echo", body,
                    {{"Content-Encoding", std::string(content_encoding)}});
}

TEST(Compression, EncodesASmallAnswerWithItsLength) {
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        const HttpResponse response = get_encoded("/fhir/view?5000", net::coding_name(coding));
        EXPECT_EQ(response.header("Content-Encoding"), net::coding_name(coding));
        EXPECT_EQ(response.header("Content-Length"), std::to_string(response.body.size()));
        EXPECT_EQ(response.header("ETag"), "W/\"3\"");
        EXPECT_EQ(response.header("Vary"), "Accept, Accept-Encoding");
        EXPECT_LT(response.body.size(), 500U);
        EXPECT_EQ(decoded(coding, response.body), std::string(5000, 'x'));
    }
}

TEST(Compression, IsByAllLinesOfTheHeader) {
    const HttpResponse response =
        exchange(megabyte_server().port(), "GET", "/fhir/view?5000", {},
                 {{"Accept-Encoding", "identity;q=0.5"}, {"accept-encoding", "br, gzip"}});
    EXPECT_EQ(response.header("Content-Encoding"), "gzip");
    EXPECT_EQ(exchange(megabyte_server().port(), "GET", "/fhir/view?5000", {},
                       {{"Accept-Encoding", "zstd;q=0.1"}, {"Accept-Encoding", "identity"}})
                  .header("Content-Encoding"),
              std::nullopt);
}

TEST(Compression, EncodesALargeAnswerInSlices) {
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        for (const char* target : {"/fhir/view?3000000", "/fhir/pieces?3000"}) {
            const HttpResponse response = get_encoded(target, net::coding_name(coding));
            EXPECT_TRUE(response.chunked);
            EXPECT_EQ(decoded(coding, response.body), std::string(3'000'000, 'x'));
        }
    }
}

TEST(Compression, EncodesWhatIsStreamed) {
    const HttpResponse plain = exchange(megabyte_server().port(), "GET", "/fhir/slices?40");
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        const HttpResponse response = get_encoded("/fhir/slices?40", net::coding_name(coding));
        EXPECT_TRUE(response.chunked);
        EXPECT_EQ(decoded(coding, response.body), plain.body);
    }
}

TEST(Compression, LeavesTinyAnswersAndThoseThatDoNotAskAlone) {
    EXPECT_FALSE(get_encoded("/fhir/text", "gzip").header("Content-Encoding"));
    EXPECT_FALSE(get_encoded("/fhir/view?1023", "gzip").header("Content-Encoding"));
    EXPECT_FALSE(get_encoded("/fhir/status?304", "gzip").header("Content-Encoding"));
    EXPECT_FALSE(get_encoded("/fhir/view?5000", "identity, br").header("Content-Encoding"));
    const HttpResponse plain = exchange(megabyte_server().port(), "GET", "/fhir/view?5000");
    EXPECT_FALSE(plain.header("Content-Encoding"));
    EXPECT_EQ(plain.header("Vary"), "Accept, Accept-Encoding");
}

TEST(Compression, OfWhatIsAskedForAgainIsDoneOnce) {
    const auto text = std::make_shared<const std::string>(std::string(300'000, 'x'));
    const auto other = std::make_shared<const std::string>(std::string(300'000, 'y'));
    const auto answer = [](const std::shared_ptr<const std::string>& body, Coding coding) {
        core::Response response;
        response.body.append_view(*body, body);
        net::compress(response, net::coding_name(coding), true);
        return response;
    };
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        core::Response abandoned = answer(text, coding);
        ASSERT_NE(abandoned.more, nullptr);
        core::Response first = answer(text, coding);
        ASSERT_NE(first.more, nullptr);
        std::string whole;
        for (bool more = true; more;) {
            core::Body slice;
            more = first.more->next(slice);
            whole += slice.str();
        }
        EXPECT_EQ(decoded(coding, whole), *text);
        const core::Response again = answer(text, coding);
        EXPECT_EQ(again.more, nullptr);
        EXPECT_EQ(again.body.str(), whole);
        EXPECT_NE(answer(other, coding).more, nullptr);
    }
    // Only as many are kept as a server has descriptions of itself.
    const auto kept = std::make_shared<const std::string>(std::string(300'000, 'z'));
    const auto make_whole = [&](const std::shared_ptr<const std::string>& body) {
        core::Response response = answer(body, Coding::gzip);
        for (core::Body slice; response.more->next(slice);) {
        }
    };
    make_whole(kept);
    EXPECT_GT(kept.use_count(), 1);
    for (int i = 0; i < 10; ++i) {
        make_whole(std::make_shared<const std::string>(std::string(300'000, 'z')));
    }
    EXPECT_EQ(kept.use_count(), 1);
    // The same bytes at another address don't count as known.
    EXPECT_NE(answer(std::make_shared<const std::string>(*text), Coding::gzip).more, nullptr);
}

/// A source whose next slice is on the device only.
class UnreadSource final : public core::BodySource {
  public:
    bool next(core::Body& slice) override {
        slice.append("x");
        return false;
    }

    std::vector<Position> unread() override { return {Position{7}}; }

    std::string_view unread_bytes() const noexcept override { return "mapped"; }
};

TEST(Compression, TellsWhatIsToBeFetchedBeforeIt) {
    core::Response response;
    response.more = std::make_unique<UnreadSource>();
    net::compress(response, "zstd");
    ASSERT_FALSE(response.headers.empty());
    EXPECT_EQ(response.more->unread(), std::vector{Position{7}});
    EXPECT_EQ(response.more->unread_bytes(), "mapped");
}

TEST(Compression, OfLargeAnswersIsBoundedByHowManyThereAre) {
    const auto answer = [](std::size_t bytes) {
        core::Response response;
        response.body = core::Body(std::string(bytes, 'x'));
        net::compress(response, "zstd");
        return response;
    };
    const auto is_encoded = [](const core::Response& response) {
        return !response.headers.empty();
    };
    std::vector<core::Response> under_way;  // whose clients don't read
    for (std::size_t i = 0; i < net::kEncodedSourcesMax; ++i) {
        under_way.push_back(answer(100'000));
        ASSERT_TRUE(is_encoded(under_way.back())) << i;
    }
    EXPECT_FALSE(is_encoded(answer(100'000)));
    EXPECT_TRUE(is_encoded(answer(5'000)));
    under_way.pop_back();
    EXPECT_TRUE(is_encoded(answer(100'000)));
}

TEST(Compression, TellsHeadWhatGetWouldSay) {
    Connection connection(megabyte_server().port());
    for (const char* target : {"/fhir/view?5000", "/fhir/view?500000", "/fhir/slices?3"}) {
        const HttpResponse got = get_encoded(target, "gzip");
        ASSERT_TRUE(connection.send(std::string("HEAD ") + target +
                                    " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"));
        const auto head = connection.receive(true);
        ASSERT_TRUE(head);
        for (const char* name : {"Content-Encoding", "Content-Length", "Transfer-Encoding", "ETag",
                                 "Vary", "Content-Type"}) {
            EXPECT_EQ(head->header(name), got.header(name)) << target << ' ' << name;
        }
    }
}

/// The Content-Encoding of `response` if gzip is accepted.
std::string coding_of(core::Response& response) {
    net::compress(response, "gzip");
    for (const auto& [name, value] : response.headers) {
        if (name == "Content-Encoding") {
            return value;
        }
    }
    return {};
}

TEST(Compression, IsOfTextsAlone) {
    const auto of_type = [](const char* media_type, int status = 200) {
        core::Response response;
        response.status = status;
        response.media_type = media_type;
        response.body = core::Body(std::string(5000, 'x'));
        return coding_of(response);
    };
    for (const char* text :
         {"", "text/csv", "application/fhir+xml; charset=utf-8", "application/fhir+ndjson"}) {
        EXPECT_EQ(of_type(text), "gzip") << text;
        EXPECT_EQ(of_type(text, 206), "") << text;
    }
    for (const char* other : {"image/png", "application/pdf", "application/zip"}) {
        EXPECT_EQ(of_type(other), "") << other;
    }
}

TEST(Compression, OfSeveralPiecesIsOfThemAllAndWeakensTheirTag) {
    const std::string pieces[] = {std::string(3000, 'a'), std::string(3000, 'b')};
    core::Response response;
    for (const std::string& piece : pieces) {
        response.body.append_view(piece, nullptr);
    }
    response.headers.emplace_back("ETag", "\"5-7\"");
    EXPECT_EQ(coding_of(response), "gzip");
    EXPECT_EQ(decoded(Coding::gzip, response.body.str()), pieces[0] + pieces[1]);
    EXPECT_EQ(response.headers[0].second, "W/\"5-7\"");
}

TEST(RequestDecoding, HandsOverTheDecodedBody) {
    std::string text;
    while (text.size() < 900'000) {
        text += std::to_string(text.size());
    }
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        const HttpResponse response = post_encoded(net::coding_name(coding), encoded(coding, text));
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.body, text);
    }
    EXPECT_EQ(post_encoded("identity", "as it is").body, "as it is");
    EXPECT_EQ(post_encoded("gzip", "").status, 200);
}

TEST(RequestDecoding, TakesChunksAndTheNextRequest) {
    const std::string body = encoded(Coding::gzip, "in chunks");
    std::string bytes =
        "POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";
    for (const char c : body) {
        bytes += "1\r\n";
        bytes += c;
        bytes += "\r\n";
    }
    bytes += "0\r\n\r\n";
    for (const std::string& next : {body, encoded(Coding::gzip, "the next one")}) {
        bytes +=
            "POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: " +
            std::to_string(next.size()) + "\r\n\r\n" + next;
    }
    bytes += "POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nplain";
    Connection connection(megabyte_server().port());
    ASSERT_TRUE(connection.send(bytes));
    for (const char* expected : {"in chunks", "in chunks", "the next one", "plain"}) {
        const auto response = connection.receive();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->body, expected);
    }
}

TEST(RequestDecoding, BoundsTheDecodedBody) {
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        EXPECT_EQ(post_encoded(net::coding_name(coding), encoded(coding, std::string(1 << 20, 'x')))
                      .status,
                  200);
        const HttpResponse response =
            post_encoded(net::coding_name(coding), encoded(coding, std::string(64 << 20, '\0')));
        EXPECT_EQ(response.status, 413);
        EXPECT_NE(response.body.find("too-long"), std::string::npos);
    }
}

TEST(RequestDecoding, RefusesWhatIsDamaged) {
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
        EXPECT_EQ(post_encoded(net::coding_name(coding), "{\"resourceType\":\"Patient\"}").status,
                  400);
        std::string cut = encoded(coding, "cut off in the middle");
        cut.resize(cut.size() - 3);
        EXPECT_EQ(post_encoded(net::coding_name(coding), cut).status, 400);
    }
}

TEST(RequestDecoding, SaysWhichCodingsItTakes) {
    for (const char* coding : {"br", "gzip, zstd", "compress"}) {
        const HttpResponse response = post_encoded(coding, "x");
        EXPECT_EQ(response.status, 415) << coding;
        EXPECT_EQ(response.header("Accept-Encoding"), "gzip, zstd");
    }
}

}  // namespace
}  // namespace annals::test
