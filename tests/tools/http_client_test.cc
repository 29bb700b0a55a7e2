#include "tools/commands/http_client.h"

#include "net/coding.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace annals::tools {
namespace {

/// Listens on 127.0.0.1 and plays one script a connection: reads until the end of a request's head (and body,
/// by Content-Length), writes the next text, closes after the last.
class ScriptedServer {
  public:
    explicit ScriptedServer(std::vector<std::vector<std::string>> connections)
        : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
        ::listen(listener_, 8);
        socklen_t size = sizeof address;
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this, scripts = std::move(connections)] { play(scripts); });
    }

    ~ScriptedServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }

    ServerUrl url() const { return {"127.0.0.1", std::to_string(port_), "/fhir"}; }

    /// Requests seen. Requires: the client has its answers.
    const std::vector<std::string>& requests() const { return requests_; }

  private:
    void play(const std::vector<std::vector<std::string>>& scripts) {
        for (const auto& script : scripts) {
            const int peer = ::accept(listener_, nullptr, nullptr);
            if (peer < 0) {
                return;
            }
            for (const std::string& answer : script) {
                read_request(peer);
                (void)::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
            }
            ::close(peer);
        }
    }

    void read_request(int peer) {
        std::string text;
        char byte = 0;
        while (text.find("\r\n\r\n") == std::string::npos && ::recv(peer, &byte, 1, 0) == 1) {
            text.push_back(byte);
        }
        const std::size_t at = text.find("Content-Length: ");
        const std::size_t length =
            at == std::string::npos ? 0 : std::strtoul(text.c_str() + at + 16, nullptr, 10);
        for (std::size_t i = 0; i < length && ::recv(peer, &byte, 1, 0) == 1; ++i) {
            text.push_back(byte);
        }
        requests_.push_back(text);
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::vector<std::string> requests_;
    std::thread thread_;
};

HttpRequest get(const std::string& target) {
    HttpRequest request;
    request.target = target;
    return request;
}

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
        EXPECT_NE(reply.error().detail.find("the answer is too large: its " + std::string(part)),
                  std::string::npos)
            << reply.error().detail;
    }
    request.reply_bytes_max = 8;
    const auto reply = client.send(request);
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->body, "abcdabcd");
}

TEST(HttpClient, TriesAgainWhileTheServerIsUnwell) {
    ScriptedServer server({{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"},
                           {},
                           {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    std::vector<std::string> said;
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.say = [&](const std::string& line) { said.push_back(line); };
    const auto reply = client.send_patiently(get("/"), patience);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_FALSE(said.empty());
}

TEST(HttpClient, SaysWhyItWaitsAsFarAsAnOutcomeTells) {
    const auto unwell = [](std::string_view body) {
        return fmt::format("HTTP/1.1 503 Service Unavailable\r\nContent-Length: {}\r\n\r\n{}",
                           body.size(), body);
    };
    ScriptedServer server(
        {{unwell(R"({"resourceType":"OperationOutcome","issue":[{"severity":"error",)"
                 R"("code":"no-store","diagnostics":"No space left on device"}]})"),
          unwell("<html><title>503</title></html>"), unwell(R"({"error":"busy"})"),
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    std::vector<std::string> said;
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.say = [&](const std::string& line) { said.push_back(line); };
    ASSERT_TRUE(client.send_patiently(get("/"), patience));
    const std::string status = server.url().authority() + ": status 503";
    EXPECT_EQ(said, (std::vector<std::string>{
                        status + ": No space left on device; trying again in 1 ms",
                        status + "; trying again in 2 ms", status + "; trying again in 4 ms"}));
}

TEST(HttpClient, ReadsAgainWhatWasErasedWhileItWasSent) {
    using namespace std::string_literals;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    ScriptedServer server({{head + "[\0\0]"s, head + "[11]"}});
    HttpClient client(server.url());
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    const auto reply = client.send_patiently(get("/"), patience);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "[11]");
}

TEST(HttpClient, DoesNotReadForEverWhatNeverParses) {
    using namespace std::string_literals;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    for (const std::string& body : {"[\0\0]"s, "[11["s}) {
        ScriptedServer server({std::vector<std::string>(12, head + body)});
        HttpClient client(server.url());
        Patience patience;
        patience.first_pause = patience.longest_pause = std::chrono::milliseconds(1);
        patience.give_up_after = std::chrono::milliseconds(-1);
        HttpRequest request = get("/");
        request.is_cut_off = [](const HttpReply& reply) { return reply.body.ends_with('['); };
        const auto reply = client.send_patiently(request, patience);
        ASSERT_TRUE(reply) << reply.error().detail;
        EXPECT_EQ(reply->body, body);
        EXPECT_EQ(server.requests().size(), 12u);
    }
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
    constexpr const char* kWhy = "the answer is encoded (br), though identity was asked for";
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

TEST(HttpClient, WaitsAsLongAsRetryAfterSaysWithinBounds) {
    ScriptedServer server(
        {{"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    std::string said;
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.longest_wait = std::chrono::milliseconds(30);
    patience.say = [&](const std::string& line) { said += line + "\n"; };
    const auto reply = client.send_patiently(get("/"), patience);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_NE(said.find("status 429; trying again in 30 ms"), std::string::npos) << said;
    EXPECT_NE(said.find("status 503; trying again in 30 ms"), std::string::npos) << said;
}

TEST(HttpClient, ReadsItsTokenAgainWhenItIsNoLongerTaken) {
    const std::string fine = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const std::string expired = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "token", "first");
    ScriptedServer server({{fine, expired, fine, expired, expired, fine}});
    ServerUrl url = server.url();
    url.credentials.token_file = directory / "token";
    HttpClient client(url);
    EXPECT_EQ(client.send(get("/"))->status, 200);
    test::write_whole_file(directory / "token", "second");
    EXPECT_EQ(client.send(get("/"))->status, 200);

    // The next token comes late.
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    patience.say = [&](const std::string&) {
        test::write_whole_file(directory / "token", "third");
    };
    const auto late = client.send_patiently(get("/"), patience);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->status, 200);
    ASSERT_EQ(server.requests().size(), 6U);
    const char* const sent[] = {"first", "first", "second", "second", "second", "third"};
    for (std::size_t i = 0; i < server.requests().size(); ++i) {
        EXPECT_NE(server.requests()[i].find(std::string("Authorization: Bearer ") + sent[i]),
                  std::string::npos)
            << i;
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
    EXPECT_EQ(reply->body, "it leads to https://host/fhir/");
}

TEST(HttpClient, DoesNotRepeatWhatIsRefusedFromTheStart) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "token", "wrong");
    ScriptedServer server({{"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"}});
    ServerUrl url = server.url();
    url.credentials.token_file = directory / "token";
    HttpClient client(url);
    EXPECT_EQ(client.send_patiently(get("/"), Patience())->status, 401);
    // Nor what was let in where nothing renews the credentials.
    ScriptedServer other({{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                           "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient fixed(other.url());
    EXPECT_EQ(fixed.send(get("/"))->status, 200);
    EXPECT_EQ(fixed.send_patiently(get("/"), Patience())->status, 401);
}

TEST(HttpClient, AsksAgainWhereARequestWithoutABodyCameTooLate) {
    const std::string late = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";
    ScriptedServer server({{late, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", late}});
    HttpClient client(server.url());
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    EXPECT_EQ(client.send_patiently(get("/"), patience)->status, 200);
    // A body may be too large for the time that there is.
    HttpRequest request = get("/fhir");
    request.method = "POST";
    request.body = "{}";
    EXPECT_EQ(client.send_patiently(request, patience)->status, 408);
}

HttpRequest unrepeatable_post() {
    HttpRequest request = get("/fhir");
    request.method = "POST";
    request.body = "{}";
    request.repeatable = false;
    return request;
}

TEST(HttpClient, DoesNotRepeatARequestWhoseAnswerWasLostUnlessThatDoesNoHarm) {
    ScriptedServer server({{""}, {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    HttpRequest request = unrepeatable_post();
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    EXPECT_FALSE(client.send_patiently(request, patience));
    request.repeatable = true;
    EXPECT_TRUE(client.send_patiently(request, patience));
}

TEST(HttpClient, DoesNotRepeatARequestThatTheServerMayStillCarryOutUnlessThatDoesNoHarm) {
    const std::string outcome =
        R"({"resourceType":"OperationOutcome","issue":[{"severity":"error","code":"timeout","diagnostics":"too long"}]})";
    const std::string given_up =
        fmt::format("HTTP/1.1 503 Service Unavailable\r\nContent-Length: {}\r\n\r\n{}",
                    outcome.size(), outcome);
    ScriptedServer server({{given_up, given_up, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}});
    HttpClient client(server.url());
    HttpRequest request = unrepeatable_post();
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    const auto given_up_reply = client.send_patiently(request, patience);
    ASSERT_FALSE(given_up_reply);
    EXPECT_EQ(given_up_reply.error().code, Errc::timeout);
    EXPECT_TRUE(client.sent());
    request.repeatable = true;
    const auto reply = client.send_patiently(request, patience);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
}

/// A reply that its Content-Length ends.
std::string reply_of(int status, const std::string& body) {
    return fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

TEST(HttpClient, RepeatsWhatWasCertainlyNotDoneAndNothingElseThatIsDoneOnce) {
    const std::string busy = R"({"issue":[{"code":"throttled"}]})";
    const std::string late = R"({"issue":[{"code":"timeout"}]})";
    ScriptedServer server(
        {{reply_of(503, busy), reply_of(503, "<html>"), reply_of(429, late), reply_of(500, late),
          reply_of(500, ""), reply_of(501, ""), reply_of(502, ""), reply_of(200, "")}});
    HttpClient client(server.url());
    Patience patience;
    patience.first_pause = std::chrono::milliseconds(1);
    HttpRequest request = unrepeatable_post();
    const auto status_of = [&] {
        const auto reply = client.send_patiently(request, patience);
        return reply ? reply->status : 0;
    };
    EXPECT_EQ(status_of(), 500) << "of other faults nobody knows";
    EXPECT_EQ(server.requests().size(), 4U);
    request.repeatable = true;
    EXPECT_EQ(status_of(), 501) << "that does not pass";
    EXPECT_EQ(status_of(), 200);
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

TEST(HttpClient, TakesNothingElseForCutOffOrErased) {
    using std::string_literals::operator""s;
    std::vector<std::string> script(13, reply_of(503, ""));  // one more than may not parse in a row
    script.push_back(reply_of(200, ""));
    script.push_back(reply_of(400, "[11["));
    script.push_back(reply_of(200, "\0"s));
    ScriptedServer server({script});
    HttpClient client(server.url());
    Patience patience;
    patience.first_pause = patience.longest_pause = std::chrono::milliseconds(1);
    HttpRequest request = get("/");
    request.is_cut_off = [](const HttpReply& reply) { return reply.body.ends_with('['); };
    EXPECT_EQ(client.send_patiently(request, patience)->status, 200);
    EXPECT_EQ(client.send_patiently(request, patience)->status, 400) << "that is an answer";
    EXPECT_EQ(client.send_patiently(unrepeatable_post(), patience)->body, "\0"s);
    EXPECT_EQ(server.requests().size(), 16U);
}

TEST(HttpClient, TakesAnAnswerThatTheEndOfTheConnectionEnds) {
    ScriptedServer server({{"HTTP/1.1 200 OK\r\n\r\nabc"}, {reply_of(200, "de")}});
    HttpClient client(server.url());
    const auto reply = client.send(get("/"));
    ASSERT_TRUE(reply) << reply.error().detail;
    EXPECT_EQ(reply->body, "abc");
    EXPECT_EQ(client.send(get("/"))->body, "de");
}

TEST(HttpClient, GoesOnWithItsCredentialsWhileTheirFileIsReplaced) {
    const test::TemporaryDirectory directory;
    ScriptedServer server({{reply_of(200, "")}, {reply_of(200, "")}});
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
