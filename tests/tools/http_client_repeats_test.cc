// Which requests HttpClient repeats, and which it must not.

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/scripted_server.h"
#include "tools/commands/http_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace annals::tools {
namespace {

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
                        status + ": No space left on device; retrying in 1 ms",
                        status + "; retrying in 2 ms", status + "; retrying in 4 ms"}));
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
    EXPECT_NE(said.find("status 429; retrying in 30 ms"), std::string::npos) << said;
    EXPECT_NE(said.find("status 503; retrying in 30 ms"), std::string::npos) << said;
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

TEST(HttpClient, RepeatsWhatWasCertainlyNotDoneAndNothingElseThatIsDoneOnce) {
    const std::string busy = R"({"issue":[{"code":"throttled"}]})";
    const std::string late = R"({"issue":[{"code":"timeout"}]})";
    ScriptedServer server({{whole_reply(503, busy), whole_reply(503, "<html>"),
                            whole_reply(429, late), whole_reply(500, late), whole_reply(500, ""),
                            whole_reply(501, ""), whole_reply(502, ""), whole_reply(200, "")}});
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

TEST(HttpClient, TakesNothingElseForCutOffOrErased) {
    using std::string_literals::operator""s;
    std::vector<std::string> script(13,
                                    whole_reply(503, ""));  // one more than may not parse in a row
    script.push_back(whole_reply(200, ""));
    script.push_back(whole_reply(400, "[11["));
    script.push_back(whole_reply(200, "\0"s));
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

}  // namespace
}  // namespace annals::tools
