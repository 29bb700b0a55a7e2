// Answers to writes over a socket: they are prepared before their commit is durable, and sent once it is.

#include "net/server.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_exchange.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace annals::test {
namespace {

using std::chrono::milliseconds;

class EarlyAnswers : public ::testing::Test {
  protected:
    EarlyAnswers() { start({}); }

    void start(core::Config config) {
        server_.reset();
        service_.reset();
        store_.reset();
        config.listen = "127.0.0.1:0";
        config.threads = 1;
        storage::StoreOptions options;
        options.search = core::search_setup(config);
        auto store = storage::Store::open(disk_, "data", std::move(options));
        ANNALS_CHECK(store.has_value());
        store_ = *std::move(store);
        service_ = std::make_unique<core::Service>(config, *store_);
        auto server = net::Server::start(*service_);
        ANNALS_CHECK(server.has_value());
        server_ = *std::move(server);
    }

    static std::string request(std::string_view method, std::string_view target,
                               std::string_view body = {}, std::string_view headers = {}) {
        const std::string_view type = body.empty() ? "" : "Content-Type: application/fhir+json\r\n";
        return fmt::format("{} /fhir{} HTTP/1.1\r\nHost: a\r\n{}{}Content-Length: {}\r\n\r\n{}",
                           method, target, type, headers, body.size(), body);
    }

    static std::string patient(std::string_view id, std::string_view family) {
        return fmt::format(R"({{"resourceType":"Patient","id":"{}","name":[{{"family":"{}"}}]}})",
                           id, family);
    }

    /// The answer on `connection`, which must not arrive before the sync that is held back.
    std::optional<HttpResponse> receive_after_sync(Connection& connection) {
        disk_.await_held_sync();
        auto answer = std::async(std::launch::async, [&] { return connection.receive(); });
        EXPECT_EQ(answer.wait_for(milliseconds(50)), std::future_status::timeout);
        disk_.release_syncs();
        return answer.get();
    }

    SimFileSystem disk_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<net::Server> server_;
};

TEST_F(EarlyAnswers, AreSaidWhenTheyAreDurableAndAreWhatIsStored) {
    Connection connection(server_->port());
    for (const auto& [method, target, body] : {
             std::tuple("POST", "/Patient", patient("x", "Okafor")),
             std::tuple("PUT", "/Patient/1", patient("1", "Okafor")),
             std::tuple("PUT", "/Patient/1", patient("1", "Adeyemi")),
         }) {
        disk_.hold_syncs();
        connection.send(request(method, target, body));
        const auto written = receive_after_sync(connection);
        ASSERT_TRUE(written);
        EXPECT_LE(written->status, 201);
        const std::string place =
            written->header("Location").value_or(written->header("Content-Location").value_or(""));
        const std::size_t at = place.find("/Patient/");
        ASSERT_NE(at, std::string::npos) << place;
        connection.send(request("GET", place.substr(at)));
        const auto read = connection.receive();
        ASSERT_TRUE(read);
        EXPECT_EQ(read->status, 200);
        EXPECT_EQ(read->body, written->body);
        EXPECT_EQ(read->header("ETag"), written->header("ETag"));
        EXPECT_EQ(read->header("Last-Modified"), written->header("Last-Modified"));
        EXPECT_EQ(read->header("Content-Type"), written->header("Content-Type"));
    }
}

TEST_F(EarlyAnswers, HaveTheBodyThatPreferAsksFor) {
    Connection connection(server_->port());
    const auto put = [&](std::string_view headers) {
        disk_.hold_syncs();
        connection.send(request("PUT", "/Patient/1", patient("1", "Okafor"), headers));
        return receive_after_sync(connection);
    };
    const auto minimal = put("Prefer: return=minimal\r\n");
    ASSERT_TRUE(minimal);
    EXPECT_EQ(minimal->status, 201);
    EXPECT_EQ(minimal->body, "");
    const auto outcome = put("Prefer: return=OperationOutcome\r\n");
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->status, 200);
    EXPECT_NE(outcome->body.find("Patient/1 updated as version 2"), std::string::npos);
    const auto xml = put("Accept: application/fhir+xml\r\n");
    ASSERT_TRUE(xml);
    EXPECT_TRUE(xml->body.find("<versionId value=\"3\"/>") != std::string::npos) << xml->body;
}

TEST_F(EarlyAnswers, OfDeletionsWaitAsWell) {
    Connection connection(server_->port());
    connection.send(request("PUT", "/Patient/1", patient("1", "Okafor")));
    ASSERT_EQ(connection.receive()->status, 201);
    disk_.hold_syncs();
    connection.send(request("DELETE", "/Patient/1"));
    const auto deleted = receive_after_sync(connection);
    ASSERT_TRUE(deleted);
    EXPECT_EQ(deleted->status, 204);
    EXPECT_EQ(deleted->header("ETag"), "W/\"2\"");
}

TEST_F(EarlyAnswers, AreNotSaidWhereTheWriteWasDropped) {
    Connection connection(server_->port());
    disk_.fail_next(SimFileSystem::Call::sync, Errc::io);
    connection.send(request("PUT", "/Patient/1", patient("1", "Okafor")));
    const auto refused = connection.receive();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503);
    EXPECT_NE(refused->body.find("no-store"), std::string::npos);
    EXPECT_EQ(refused->body.find("Okafor"), std::string::npos);
    EXPECT_FALSE(refused->header("Location"));
    connection.send(request("GET", "/Patient/1"));
    EXPECT_EQ(connection.receive()->status, 404);
}

TEST_F(EarlyAnswers, KeepTheOrderOfPipelinedRequests) {
    Connection connection(server_->port());
    disk_.hold_syncs();
    connection.send(request("GET", "/Patient/1") +
                    request("PUT", "/Patient/1", patient("1", "Okafor")) +
                    request("GET", "/Patient/1") + request("DELETE", "/Patient/1") +
                    request("GET", "/Patient/1"));
    const auto before = connection.receive();
    ASSERT_TRUE(before);
    EXPECT_EQ(before->status, 404);
    disk_.await_held_sync();
    disk_.release_syncs();
    for (const int status : {201, 200, 204, 410}) {
        const auto answer = connection.receive();
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->status, status);
    }
}

TEST_F(EarlyAnswers, AreOfWritesThatKeepTheIdOfTheirRequestIfTheClientGaveIt) {
    Connection connection(server_->port());
    const auto send = [&](const std::string& bytes) {
        connection.send(bytes);
        return connection.receive().value_or(HttpResponse{});
    };
    // As long as the ids that the server makes.
    const HttpResponse given = send(
        request("PUT", "/Patient/1", patient("1", "Okafor"), "X-Request-Id: nightly-load-007\r\n"));
    const HttpResponse made = send(request("PUT", "/Patient/2", patient("2", "Okafor")));
    ASSERT_EQ(given.status, 201);
    ASSERT_EQ(made.status, 201);
    const auto undo = [&](const std::string& id) {
        return send(request("POST", "/$undo?dryRun=true&requestId=" + id));
    };
    const HttpResponse undone = undo("nightly-load-007");
    EXPECT_EQ(undone.status, 200);
    EXPECT_NE(undone.body.find("Patient/1"), std::string::npos) << undone.body;
    EXPECT_EQ(undone.body.find("Patient/2"), std::string::npos) << undone.body;
    EXPECT_EQ(undo(made.header("X-Request-Id").value_or("")).status, 404);
}

TEST_F(EarlyAnswers, ThatComeTooLateAreATimeout) {
    core::Config config;
    config.limits.request_timeout = milliseconds(100);
    start(config);
    Connection connection(server_->port());
    disk_.hold_syncs();
    connection.send(request("PUT", "/Patient/1", patient("1", "Okafor")));
    disk_.await_held_sync();
    const auto late = connection.receive();
    disk_.release_syncs();
    ASSERT_TRUE(late);
    EXPECT_EQ(late->status, 503);
    EXPECT_NE(late->body.find("timeout"), std::string::npos);
    EXPECT_TRUE(connection.closed_by_peer());
}

TEST_F(EarlyAnswers, ThatComeTooLateAreKeptByNoCache) {
    const TemporaryDirectory directory;
    core::Config config;
    config.limits.request_timeout = milliseconds(100);
    config.auth.mode = "api_key";
    config.auth.api_keys_file = directory / "keys.toml";
    write_whole_file(config.auth.api_keys_file, key_entry("a", "secret", R"(["system/*.cu"])"));
    start(config);
    Connection connection(server_->port());
    disk_.hold_syncs();
    connection.send(request("PUT", "/Patient/1", patient("1", "Okafor"), "X-API-Key: secret\r\n"));
    disk_.await_held_sync();
    const auto late = connection.receive();
    disk_.release_syncs();
    ASSERT_TRUE(late);
    EXPECT_EQ(late->status, 503);
    EXPECT_EQ(late->header("Cache-Control"), "private, no-cache");
}

TEST_F(EarlyAnswers, AreSaidToThoseWhoSendNoMore) {
    Connection connection(server_->port());
    disk_.hold_syncs();
    connection.send(request("PUT", "/Patient/1", patient("1", "Okafor")));
    connection.shut_down_sending();
    const auto answer = receive_after_sync(connection);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 201);
    EXPECT_TRUE(connection.closed_by_peer());
}

TEST_F(EarlyAnswers, AreDatedNoEarlierThanWhatTheyTellOf) {
    Connection connection(server_->port());
    const auto end =
        std::chrono::steady_clock::now() + milliseconds(1200);  // across the end of a second
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
        connection.send(request("PUT", "/Patient/1", patient("1", std::to_string(i))));
        const auto answer = connection.receive();
        ASSERT_TRUE(answer);
        const Result<Instant> date = parse_http_date(answer->header("Date").value_or(""));
        const Result<Instant> modified =
            parse_http_date(answer->header("Last-Modified").value_or(""));
        ASSERT_TRUE(date && modified);
        ASSERT_LE(*modified, *date) << answer->header("Last-Modified").value_or("");
        std::this_thread::sleep_for(milliseconds(2));
    }
}

}  // namespace
}  // namespace annals::test
