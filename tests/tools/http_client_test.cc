#include "tools/commands/http_client.h"

#include "net/coding.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/scripted_server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <netinet/tcp.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

namespace annals::tools {
namespace {

TEST(HttpClient, KeepsTheConnectionForTheNextRequest) {
    ScriptedServer server({{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: W/\"1\"\r\n\r\nab",
                            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    const auto first = client.send(get("/fhir/a"));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->status, 200);
    EXPECT_EQ(first->body, "ab");
    EXPECT_EQ(first->header("etag"), "W/\"1\"");
    const auto second = client.send(get("/fhir/b"));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->status, 404);
    EXPECT_TRUE(server.requests()[1].starts_with("GET /fhir/b HTTP/1.1\r\nHost: 127.0.0.1:"));
}

/// What the kernel says of the timer of a connection to `port`: its kind (2: keep-alive), and hundredths of a second until it ends.
std::optional<std::pair<int, unsigned long>> timer_of_connection_to(const std::string& port) {
    std::ifstream table("/proc/net/tcp");
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
        unsigned local = 0;
        unsigned remote = 0;
        unsigned state = 0;
        unsigned timer = 0;
        unsigned long left = 0;
        if (std::sscanf(line.c_str(), "%*d: %*8X:%X %*8X:%X %X %*8X:%*8X %X:%lX", &local, &remote,
                        &state, &timer, &left) == 5 &&
            remote == std::stoul(port) && state == TCP_ESTABLISHED) {
            return std::pair(static_cast<int>(timer), left);
        }
    }
    return std::nullopt;
}

TEST(HttpClient, HasTheKernelKeepAnIdleConnectionAlive) {
    ScriptedServer server({{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""}});
    HttpClient client(server.url());
    ASSERT_TRUE(client.send(get("/")));
    const auto timer = timer_of_connection_to(server.url().port);
    ASSERT_TRUE(timer);
    EXPECT_EQ(timer->first, 2);
    EXPECT_LE(timer->second, 3000U);
    client.close();
}

TEST(HttpClient, ReadsChunkedAnswersAndPassesOverInterimOnes) {
    ScriptedServer server(
        {{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
          "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"}});
    HttpClient client(server.url());
    const auto reply = client.send(get("/"));
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "abcde");
}

TEST(HttpClient, OpensAConnectionAgainThatTheServerHasClosed) {
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    ScriptedServer server({{ok}, {ok}});
    HttpClient client(server.url());
    ASSERT_TRUE(client.send(get("/")));
    const auto again = client.send(get("/"));
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_EQ(again->status, 200);
}

TEST(HttpClient, SaysWhenAnAnswerIsCutOff) {
    ScriptedServer server({{"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"}});
    HttpClient client(server.url());
    const auto reply = client.send(get("/"));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Errc::io);
}

TEST(HttpClient, TakesNoMoreThanItHasRoomFor) {
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
        lines += "X-Line-" + std::to_string(i) + ": abcdefghijklmnopqrstuvwxyz\r\n";
    }
    const std::string interim = "HTTP/1.1 103 Early Hints\r\n" + lines + "\r\n";
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    ScriptedServer server({{"HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n\r\n"},
                           {interim + interim},
                           {chunked + "1\r\nx\r\n0\r\n" + lines + "\r\n"},
                           {chunked + "4\r\nabcd\r\n4\r\nabcd\r\n0\r\n\r\n"},
                           {"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nabcdabcd"}});
    HttpClient client(server.url());
    HttpRequest request = get("/");
    for (const std::string_view part : {"header", "header", "header", "body"}) {
        request.reply_bytes_max = 7;
        const auto reply = client.send_patiently(request, {});
        ASSERT_FALSE(reply) << part;
        EXPECT_EQ(reply.error().code, Errc::body_too_large);
        EXPECT_NE(reply.error().detail.find("the response is too large: its " + std::string(part)),
                  std::string::npos)
            << reply.error().detail;
    }
    request.reply_bytes_max = 8;
    const auto reply = client.send(request);
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->body, "abcdabcd");
}

TEST(HttpClient, AsksForNoCodingAndDecodesWhatIsCodedAllTheSame) {
    const std::string plain = R"({"a":")" + std::string(1000, 'x') + "\"}";
    const auto coded = [&](int status, net::Coding coding, std::string_view name) {
        std::string body;
        net::take_encoder(coding)->add("\xEF\xBB\xBF" + plain, net::Encoder::Then::end, body);
        return fmt::format("HTTP/1.1 {} -\r\nContent-Encoding: {}\r\nContent-Length: {}\r\n\r\n{}",
                           status, name, body.size(), body);
    };
    std::string damaged = coded(200, net::Coding::gzip, "gzip");
    damaged[damaged.size() - 5] ^= 1;
    ScriptedServer server(
        {{coded(200, net::Coding::gzip, "gzip"), coded(404, net::Coding::zstd, "ZSTD"),
          coded(404, net::Coding::gzip, "br")},
         {coded(200, net::Coding::gzip, "br")},
         {damaged}});
    HttpClient client(server.url());
    EXPECT_EQ(client.send(get("/"))->body, plain);
    EXPECT_NE(server.requests().at(0).find("\r\nAccept-Encoding: identity\r\n"), std::string::npos);
    EXPECT_EQ(client.send(get("/"))->body, plain);
    constexpr const char* kWhy = "the response is encoded (br), which was not requested";
    EXPECT_EQ(client.send(get("/"))->body, kWhy);
    client.close();
    const auto refused = client.send_patiently(get("/"), Patience());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::processing) << "which no patience helps";
    EXPECT_EQ(refused.error().detail, server.url().authority() + ": " + kWhy);
    const auto broken = client.send(get("/"));
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, Errc::io);
}

TEST(HttpClient, SendsLargeBodiesCompressedWhereItIsTold) {
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    ScriptedServer server({{ok, ok}});
    ServerUrl url = server.url();
    url.compression = std::make_shared<Compression>();
    HttpClient client(url);
    const std::string small(1023, 'x');
    const std::string large(1024, 'x');
    for (const std::string& body : {small, large}) {
        HttpRequest request;
        request.method = "POST";
        request.target = "/fhir";
        request.body = body;
        ASSERT_TRUE(client.send(request));
    }
    EXPECT_EQ(server.requests()[0].find("Content-Encoding"), std::string::npos);
    EXPECT_TRUE(server.requests()[0].ends_with("\r\n\r\n" + small));
    const std::string& sent = server.requests()[1];
    EXPECT_NE(sent.find("\r\nAccept-Encoding: zstd, gzip\r\n"), std::string::npos) << sent;
    EXPECT_NE(sent.find("\r\nContent-Encoding: zstd\r\n"), std::string::npos) << sent;
    const std::string packed = sent.substr(sent.find("\r\n\r\n") + 4);
    EXPECT_LT(packed.size(), 100U);
    std::string plain;
    net::make_decoder(net::Coding::zstd)->add(packed, 1 << 20, plain);
    EXPECT_EQ(plain, large);
}

TEST(HttpClient, SendsNothingCompressedAnyMoreWhereThatIsRefused) {
    ScriptedServer server({{whole_reply(415, ""), whole_reply(415, "no"), whole_reply(415, ""),
                            whole_reply(200, "a"), whole_reply(200, "b")},
                           {whole_reply(200, "c")}});
    ServerUrl url = server.url();
    url.compression = std::make_shared<Compression>();
    std::vector<std::string> said;
    Patience patience;
    patience.say = [&](const std::string& line) { said.push_back(line); };
    const std::string large(2000, 'x');
    HttpRequest request = unrepeatable_post();
    request.body = large;
    {
        HttpClient client(url);
        EXPECT_EQ(client.send_patiently(request, patience)->body, "no");
        EXPECT_EQ(said.size(), 0U) << "it may be about something else";
        EXPECT_EQ(client.send_patiently(request, patience)->body, "a");
        EXPECT_EQ(client.send_patiently(request, patience)->body, "b");
    }
    HttpClient other(url);
    EXPECT_EQ(other.send_patiently(request, patience)->body, "c");
    EXPECT_EQ(said,
              (std::vector<std::string>{server.url().authority() +
                                        ": status 415: compressed bodies are not "
                                        "accepted, so they are sent uncompressed from now on"}));
    ASSERT_EQ(server.requests().size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
        const std::string& sent = server.requests()[i];
        EXPECT_EQ(sent.find("\r\nContent-Encoding: zstd\r\n") == std::string::npos,
                  i != 0 && i != 2)
            << i;
        EXPECT_EQ(sent.ends_with(large), i != 0 && i != 2) << i;
    }
}

TEST(HttpClient, StopsCompressingWhereTheFirstCompressedBodyWasNotUnderstood) {
    const std::string large(2000, 'x');
    HttpRequest request = unrepeatable_post();
    request.body = large;
    // For each reply, whether it is one to a compressed body.
    using Replies = std::vector<std::pair<int, bool>>;
    for (const Replies& replies :
         {Replies{{400, true}, {200, false}, {200, false}},
          Replies{{400, true}, {400, false}, {200, true}, {400, true}, {200, true}},
          Replies{{400, true}, {503, false}, {400, true}, {422, false}, {200, false}},
          // The server did not look at the body, or never got all of it.
          Replies{{400, true}, {401, false}, {400, true}, {403, false}, {200, true}},
          Replies{{400, true}, {408, false}, {400, true}, {413, false}, {200, true}}}) {
        std::vector<std::string> script;
        for (const auto& [status, compressed] : replies) {
            script.push_back(whole_reply(status, ""));
        }
        ScriptedServer server({script});
        ServerUrl url = server.url();
        url.compression = std::make_shared<Compression>();
        HttpClient client(url);
        while (server.requests().size() < replies.size()) {
            ASSERT_TRUE(client.send(request));
        }
        for (std::size_t i = 0; i < replies.size(); ++i) {
            EXPECT_EQ(server.requests()[i].ends_with(large), !replies[i].second) << i;
        }
    }
}

TEST(HttpClient, WaitsForASilentServerNoLongerThanSomebodyWantsTo) {
    const test::HookReceiver silent(
        [](const auto&, std::size_t, const auto&) { return std::string(); });
    ServerUrl url = *parse_server_url(silent.url());
    test::trusted_certificate();
    for (const bool tls : {false, true}) {
        url.tls = tls;
        HttpClient client(url);
        const auto begun = std::chrono::steady_clock::now();
        const auto waited = [&] { return std::chrono::steady_clock::now() - begun; };
        Patience patience;
        patience.stop = [&] { return waited() > std::chrono::milliseconds(300); };
        EXPECT_FALSE(client.send_patiently(get("/fhir/_history"), patience));
        EXPECT_LT(waited(), std::chrono::seconds(20));
    }
}

TEST(HttpClient, TellsWhereARedirectLeads) {
    ScriptedServer server(
        {{"HTTP/1.1 301 Moved Permanently\r\nLocation: https://host/fhir/\r\n"
          "Content-Length: 6\r\n\r\n<html>"}});
    HttpClient client(server.url());
    const auto reply = client.send_patiently(get("/"), Patience());
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 301);
    EXPECT_EQ(reply->body, "redirect to https://host/fhir/");
}

TEST(HttpClient, SaysWhetherARequestWentOut) {
    HttpClient nobody({"127.0.0.1", "1", "/fhir"});  // where nobody listens
    EXPECT_FALSE(nobody.send(unrepeatable_post()));
    EXPECT_FALSE(nobody.sent());
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    int said = 0;
    patience.stop = [&] { return said > 0; };
    patience.say = [&](const std::string&) { ++said; };
    EXPECT_FALSE(nobody.send_patiently(unrepeatable_post(), patience));
    EXPECT_GT(said, 0) << "what did not go out may be repeated";
    ScriptedServer silent({{""}});
    HttpClient client(silent.url());
    EXPECT_FALSE(client.send(unrepeatable_post()));
    EXPECT_TRUE(client.sent());
}

TEST(HttpClient, TakesAnAnswerThatTheEndOfTheConnectionEnds) {
    ScriptedServer server({{"HTTP/1.1 200 OK\r\n\r\nabc"}, {whole_reply(200, "de")}});
    HttpClient client(server.url());
    const auto reply = client.send(get("/"));
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->body, "abc");
    EXPECT_EQ(client.send(get("/"))->body, "de");
}

TEST(HttpClient, GoesOnWithItsCredentialsWhileTheirFileIsReplaced) {
    const test::TemporaryDirectory directory;
    ScriptedServer server({{whole_reply(200, "")}, {whole_reply(200, "")}});
    ServerUrl url = server.url();
    url.credentials.token_file = directory / "token";
    HttpClient client(url);
    const auto refused = client.send_patiently(get("/"), Patience());
    ASSERT_FALSE(refused) << "it never had any";
    EXPECT_EQ(refused.error().code, Errc::usage);
    test::write_whole_file(directory / "token", "first");
    ASSERT_TRUE(client.send(get("/")));
    std::filesystem::remove(directory / "token");
    client.close();
    const auto reply = client.send(get("/"));
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_NE(server.requests().at(1).find("Authorization: Bearer first\r\n"), std::string::npos);
}

}  // namespace
}  // namespace annals::tools
