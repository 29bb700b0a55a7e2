// The change feed over a socket: what waits, what goes on, and what ends it.

#include "net/server.h"
#include "storage/file_system.h"
#include "tests/support/commits.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/http_exchange.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

namespace annals::test {
namespace {

class ChangesOverHttp : public ::testing::Test {
  protected:
    void start(core::Config config = {}) {
        server_.reset();
        config.listen = "127.0.0.1:0";
        config.threads = 1;
        if (store_ == nullptr) {
            auto store =
                storage::Store::open(storage::posix_file_system(), directory_ / "data", {});
            ASSERT_TRUE(store) << store.error().detail;
            store_ = *std::move(store);
        }
        service_ = std::make_unique<core::Service>(config, *store_);
        auto server = net::Server::start(*service_);
        ASSERT_TRUE(server) << server.error().detail;
        server_ = *std::move(server);
    }

    void write(const std::string& id) { put(*store_, "Patient", id, R"({"id":"x"})"); }

    /// A stream of events that has begun.
    std::unique_ptr<Connection> listen(const std::string& more = {}) {
        auto connection = std::make_unique<Connection>(server_->port());
        connection->send("GET /fhir/_changes HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n" +
                         more + "\r\n");
        const std::string head = connection->read_through("retry: 1000\n\n");
        EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
        EXPECT_NE(head.find("Content-Type: text/event-stream; charset=utf-8\r\n"),
                  std::string::npos)
            << head;
        EXPECT_EQ(head.find("Content-Encoding"), std::string::npos) << head;
        return connection;
    }

    TemporaryDirectory directory_;
    std::unique_ptr<storage::Store> store_;
    std::unique_ptr<core::Service> service_;
    std::unique_ptr<net::Server> server_;
};

TEST_F(ChangesOverHttp, EventsThatAreOnTheDeviceOnlyKeepNobodyElseWaiting) {
    SimFileSystem disk;
    auto store = storage::Store::open(disk, "data", {});
    ASSERT_TRUE(store);
    store_ = *std::move(store);
    start();
    write("a");
    write("b");
    disk.forget_all();
    std::promise<void> reading;
    std::promise<void> go_on;
    std::atomic<bool> held = false;
    disk.on_will_read([&] {
        if (!held.exchange(true)) {
            reading.set_value();
            go_on.get_future().wait();
        }
    });
    const auto connection = listen();
    const bool waits =
        reading.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    EXPECT_TRUE(waits) << "on the network thread";
    Connection other(server_->port());
    other.send("GET /fhir/Patient/c HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NE(other.read_through("\r\n\r\n").find("404"), std::string::npos);
    go_on.set_value();
    EXPECT_NE(connection->read_through("id: 2\n\n").find(R"("position":1,"commit":1,)"),
              std::string::npos);
    server_.reset();  // before the disk goes
    service_.reset();
    store_.reset();
}

TEST_F(ChangesOverHttp, APageWithoutLinesHasTheirType) {
    start();
    const HttpResponse nothing = exchange(server_->port(), "GET", "/fhir/_changes?wait=0");
    EXPECT_EQ(nothing.status, 200);
    EXPECT_EQ(nothing.header("Content-Type"), "application/fhir+ndjson");
    EXPECT_EQ(nothing.header("Content-Length"), "0");
}

TEST_F(ChangesOverHttp, EventsComeAsTheyAreWritten) {
    start();
    write("a");
    const auto connection = listen("Accept-Encoding: gzip, zstd\r\n");
    EXPECT_NE(connection->read_through("id: 1\n\n").find(R"("position":1,"commit":1,)"),
              std::string::npos);
    for (int i = 2; i < 30; ++i) {
        write("p" + std::to_string(i));
        const std::string id = "id: " + std::to_string(i) + "\n\n";
        EXPECT_TRUE(connection->read_through(id).ends_with(id));
    }
}

TEST_F(ChangesOverHttp, AStreamGoesOnAfterItsLastEventId) {
    start();
    for (const char* id : {"a", "b", "c"}) {
        write(id);
    }
    const auto connection = listen("Last-Event-ID: 2\r\n");
    const std::string event = connection->read_through("id: 3\n\n");
    EXPECT_EQ(event.find(R"("position":2)"), std::string::npos) << event;
    EXPECT_NE(event.find(R"("position":3)"), std::string::npos) << event;
}

TEST_F(ChangesOverHttp, TimeoutsOfRequestsAreNotThoseOfAStream) {
    core::Config config;
    config.limits.request_timeout = std::chrono::milliseconds(1000);
    config.limits.idle_timeout = std::chrono::milliseconds(500);
    start(config);
    const auto connection = listen();
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    write("a");
    EXPECT_TRUE(connection->read_through("id: 1\n\n").ends_with("id: 1\n\n"));
    // A machine may pause for as long as the one ends before the other, but not each time.
    int status = 0;
    for (int i = 0; i < 10 && status != 200; ++i) {
        status = exchange(server_->port(), "GET", "/fhir/_changes?after=1&wait=60").status;
    }
    EXPECT_EQ(status, 200) << "a wait ends before the request's time does";
}

TEST_F(ChangesOverHttp, AStopEndsStreamsInOrder) {
    start();
    auto connection = listen();
    const auto begin = std::chrono::steady_clock::now();
    std::thread stop([this] { server_->stop(); });
    EXPECT_TRUE(connection->read_through("0\r\n\r\n").ends_with("0\r\n\r\n"));
    EXPECT_TRUE(connection->closed_by_peer());
    connection.reset();  // the server waits two seconds for that
    stop.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
}

TEST_F(ChangesOverHttp, AStopEndsAWaitInOrder) {
    start();
    std::optional<Connection> connection(server_->port());
    connection->send("GET /fhir/_changes?wait=60 HTTP/1.1\r\nHost: a\r\n\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::thread stop([this] { server_->stop(); });
    const auto answer = connection->receive();
    connection.reset();  // the server waits two seconds for that
    stop.join();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->header("X-Annals-Position"), "0");
}

TEST_F(ChangesOverHttp, WhoGoesAwayIsForgotten) {
    start();
    for (int i = 0; i < 20; ++i) {
        const auto connection = listen();
    }
    for (int i = 0; i < 20; ++i) {
        write("p" + std::to_string(i));
    }
    EXPECT_EQ(exchange(server_->port(), "GET", "/fhir/_changes?_count=20").status, 200);
}

TEST_F(ChangesOverHttp, WhoTakesNothingIsCutOff) {
    core::Config config;
    config.limits.idle_timeout = std::chrono::milliseconds(500);
    start(config);
    const auto connection = listen();
    // More than the kernel buffers for a client that doesn't read.
    const std::string text = R"({"x":")" + std::string(1 << 20, 'x') + R"("})";
    for (int i = 0; i < 24; ++i) {
        put(*store_, "Patient", "p" + std::to_string(i), text);
    }
    EXPECT_TRUE(eventually([&] {
        return exchange(server_->port(), "GET", "/metrics")
                   .body.find("\nannals_http_connections 1\n") != std::string::npos;
    })) << "it is still connected";
    const std::string all = connection->read_through("id: 24\n\n");
    EXPECT_FALSE(all.ends_with("id: 24\n\n")) << "it was still served";
}

TEST_F(ChangesOverHttp, MinPositionIsReadFromTheHeaders) {
    start();
    write("a");
    EXPECT_EQ(
        exchange(server_->port(), "GET", "/fhir/metadata", {}, {{"x-annals-min-POSITION", "1"}})
            .status,
        200);
    EXPECT_EQ(
        exchange(server_->port(), "GET", "/fhir/metadata", {}, {{"X-Annals-Min-Position", "one"}})
            .status,
        400);
    Connection connection(server_->port());
    connection.send("GET /fhir/metadata HTTP/1.1\r\nHost: a\r\nX-Annals-Min-Position: 2\r\n\r\n");
    write("b");
    const auto answer = connection.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    connection.send("GET /fhir/metadata HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_TRUE(connection.receive()) << "the next request asks for none";
}

}  // namespace
}  // namespace annals::test
