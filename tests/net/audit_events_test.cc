// Accesses recorded as AuditEvent resources: which, in what form, and what becomes of those for which there is no room.

#include "net/audit_events.h"

#include "codec/json/document.h"
#include "tests/support/guarded_server.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A server that keeps its audit in the store, too, with validation of what is stored.
class ServerWithEvents {
  public:
    ServerWithEvents()
        : key_("ES256"), server_([this](core::Config& config, GuardedServer& self) {
              with_tokens(jwk_set({key_.jwk()}))(config, self);
              config.audit.file = self.file("audit.ndjson");
              config.audit.resources = true;
              config.validation = "full";
              config.allow_unknown_elements = false;
          }) {}

    HttpResponse send(const std::string& method, const std::string& target,
                      const std::string& body = {}, const std::string& prefer = "respond-sync") {
        return server_.send(method, target, body,
                            {{"Authorization", "Bearer " + key_.sign(kClaims)},
                             {"Content-Type", "application/fhir+json"},
                             {"Prefer", prefer}});
    }

    GuardedServer& server() { return server_; }

    std::uint64_t metric(const std::string& name) {
        const std::string page = exchange(server_.port(), "GET", "/metrics").body;
        const std::size_t at = page.find("\n" + name + " ");
        EXPECT_NE(at, std::string::npos) << name;
        return std::stoull(page.substr(at + name.size() + 2));
    }

    /// Waits until `count` have been written.
    void expect_written(std::uint64_t count) {
        for (int i = 0; i < 3000 && metric("annals_audit_resources_total") < count; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        EXPECT_EQ(metric("annals_audit_resources_total"), count);
        EXPECT_EQ(metric("annals_audit_resources_dropped_total"), 0U);
    }

    /// Searches AuditEvents, which is not recorded as a resource itself.
    std::string events(const std::string& query) { return send("GET", "/AuditEvent" + query).body; }

  private:
    SigningKey key_;
    GuardedServer server_;
};

TEST(AuditEvents, AreThereForEveryAccessAndValid) {
    ServerWithEvents server;
    const std::string patient = R"({"resourceType":"Patient","id":"p","active":true})";
    EXPECT_EQ(server.send("PUT", "/Patient/p", patient).status, 201);
    EXPECT_EQ(server.send("GET", "/Patient/p").status, 200);
    EXPECT_EQ(server.send("GET", "/Patient/none").status, 404);
    EXPECT_EQ(server.send("GET", "/Patient?family=Geheim").status, 200);
    EXPECT_EQ(server.send("GET", "/Patient/p/_history").status, 200);
    EXPECT_EQ(server.send("GET", "/Patient/p/$everything").status, 200);
    EXPECT_EQ(server.send("GET", "/metadata").status, 200);
    EXPECT_EQ(server.send("GET", "/no/such/path").status, 404);
    EXPECT_EQ(server
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"batch","entry":[)"
                        R"({"request":{"method":"GET","url":"Patient/p"}},)"
                        R"({"request":{"method":"DELETE","url":"Patient/none"}}]})")
                  .status,
              200);
    EXPECT_EQ(server.send("DELETE", "/Patient/p").status, 204);
    EXPECT_EQ(server.server().get("/Patient/p").status, 401);
    server.expect_written(11);

    const std::string all = server.events("?_count=100");
    EXPECT_THAT(all, HasSubstr(R"("total":11)"));
    EXPECT_THAT(all, HasSubstr(R"("who":{"identifier":{"value":"lab"}})"));
    EXPECT_THAT(all, Not(HasSubstr("Geheim")));
    // With the version that was read, made or deleted.
    EXPECT_THAT(server.events("?entity=Patient/p/_history/1&action=U"), HasSubstr(R"("total":1)"));
    EXPECT_THAT(server.events("?action=D"), HasSubstr(R"("reference":"Patient/p/_history/2")"));
    EXPECT_THAT(server.events("?outcome=4"), HasSubstr(R"("outcomeDesc":"401")"));
}

TEST(AuditEvents, AreThereForWhatCannotBeReferredTo) {
    ServerWithEvents server;
    EXPECT_EQ(server.send("GET", "/Patient/b/_history/$").status, 404);
    EXPECT_EQ(server
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"batch","entry":[)"
                        R"({"request":{"method":"GET","url":"Patient/c/_history/$"}},)"
                        R"({"request":{"method":"GET","url":"Patient?active=true"}},)"
                        R"({"request":{"method":"GET","url":"Patient/none"}}]})")
                  .status,
              200);
    server.expect_written(2);
    EXPECT_THAT(server.events("?entity=Patient/b"), HasSubstr(R"("total":1)"));
    EXPECT_THAT(server.events("?entity=Patient/c"), HasSubstr(R"("total":1)"));
    // A URI other than Type/id is no reference.
    EXPECT_EQ(server
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"batch","entry":[)"
                        R"({"request":{"method":"GET","url":"/"}},)"
                        R"({"request":{"method":"GET","url":"metadata"}},)"
                        R"({"request":{"method":"GET","url":"#a"}},)"
                        R"({"request":{"method":"GET","url":"/Patient/a"}},)"
                        R"({"request":{"method":"GET","url":"Patient/a:b"}},)"
                        R"({"request":{"method":"GET","url":"$stats"}}]})")
                  .status,
              200);
    EXPECT_EQ(server.send("GET", "/$export", {}, "respond-async").status, 202);
    EXPECT_EQ(server.send("POST", "/$backup?to=b").status, 202);
    server.expect_written(5);
    const std::string all = server.events("");
    for (const char* none : {"/", "metadata", "#a", "$stats", "$backup", "_export-status/"}) {
        EXPECT_THAT(all, Not(HasSubstr(std::string(R"("reference":")") + none)));
    }
    EXPECT_THAT(all, HasSubstr(R"({"type":"job","valueString":")"));
}

TEST(AuditEvents, AreThereWhateverStandsInTheUrl) {
    ServerWithEvents server;
    EXPECT_EQ(server.send("GET", "/Patient?family=Geheim&<script>=1").status, 200);
    EXPECT_EQ(server.send("GET", "/Patient?family=Geheim&{\"a\"=1").status, 200);
    EXPECT_EQ(server.send("GET", "/Patient/$%3Cscript%3E").status, 400);
    EXPECT_EQ(server
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"batch","entry":[)"
                        R"({"request":{"method":"GET","url":"http://x/<script>/Patient/a"}}]})")
                  .status,
              200);
    server.expect_written(4);
    const std::string all = server.events("");
    EXPECT_THAT(all, Not(HasSubstr("<script")));
    EXPECT_THAT(all, HasSubstr(R"({"type":"parameter","valueString":"family"})"));
}

TEST(AuditEvents, DoNotGrowByBeingLookedAt) {
    ServerWithEvents server;
    EXPECT_EQ(server.send("GET", "/metadata").status, 200);
    server.expect_written(1);
    for (int i = 0; i < 2; ++i) {
        EXPECT_THAT(server.events(""), HasSubstr(R"("total":1)"));
    }
    server.events("/none");
    EXPECT_EQ(server.send("GET", "/metadata").status, 200);
    server.expect_written(2);
    EXPECT_THAT(server.events(""), HasSubstr(R"("total":2)"));
    // Reading them has its lines in the file; writing them has none.
    for (int i = 0; i < 3000 && server.metric("annals_audit_lines_total") < 6; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(server.metric("annals_audit_lines_total"), 6U);
}

TEST(AuditEvents, DoNotGrowByBeingFollowed) {
    ServerWithEvents server;
    EXPECT_EQ(server.send("GET", "/metadata").status, 200);
    server.expect_written(1);
    for (const char* target : {"/_changes?wait=0", "/_changes/?wait=0", "/_history?_count=0",
                               "/_history?_sort=_position"}) {
        EXPECT_EQ(server.send("GET", target).status, 200) << target;
    }
    EXPECT_EQ(server.send("GET", "/Patient/_history").status, 200);
    server.expect_written(2);
    EXPECT_THAT(server.events(""), HasSubstr(R"("total":2)"));
}

TEST(AuditEvents, AreThereForWhatAJobHasDone) {
    ServerWithEvents server;
    EXPECT_EQ(server
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"batch","entry":[)"
                        R"({"request":{"method":"GET","url":"Patient/none"}}]})",
                        "respond-async")
                  .status,
              202);
    // The kick-off and the job.
    server.expect_written(2);
    const std::string all = server.events("");
    EXPECT_THAT(all, HasSubstr(R"("description":"202")"));
    EXPECT_THAT(all, HasSubstr(R"("description":"404")"));
    EXPECT_THAT(all, HasSubstr(R"({"type":"job","valueString":")"));
    // Requests and cancellations of a job's status don't refer to it, as it is no resource.
    EXPECT_EQ(server.send("GET", "/_jobs/none").status, 404);
    EXPECT_EQ(server.send("DELETE", "/_jobs/none").status, 404);
    server.expect_written(4);
}

/// Over a store that never accepts anything: the queue is never emptied.
class AuditEventsTest : public ServiceFixture {
  protected:
    AuditEventsTest() {
        core::Config config;
        config.validation = "off";
        config.audit.file = data() + "/audit";  // not opened here
        store_options_.read_only = true;
        restart(config);
    }

    static std::string event(std::size_t bytes) {
        return fmt::format(R"({{"resourceType":"AuditEvent","outcomeDesc":"{}"}})",
                           std::string(bytes, 'a'));
    }
};

TEST_F(AuditEventsTest, ThatFindNoRoomAreCountedAndNobodyWaits) {
    net::AuditEvents events(service());
    constexpr std::uint64_t kMore = 100;
    for (std::uint64_t i = 0; i < net::AuditEvents::kWaitingMax + kMore; ++i) {
        events.add(event(1));
    }
    EXPECT_EQ(events.dropped(), kMore);
    EXPECT_EQ(events.written(), 0U);
}

TEST_F(AuditEventsTest, AreBoundedInBytes) {
    net::AuditEvents events(service());
    const std::string large = event(net::AuditEvents::kWaitingBytesMax / 4);
    for (int i = 0; i < 5; ++i) {
        events.add(large);
    }
    EXPECT_EQ(events.dropped(), 2U);
}

/// Over a store that accepts them.
class AuditEventsOfAStore : public ServiceFixture {
  protected:
    AuditEventsOfAStore() {
        restart_on(disk_);
        restart(settings());
    }

    static core::Config settings() {
        core::Config config;
        config.validation = "off";
        config.audit.file = "audit";  // not opened here
        return config;
    }

    static std::string event(std::string_view what) {
        return fmt::format(R"({{"resourceType":"AuditEvent","outcomeDesc":"{}"}})", what);
    }

    std::string stored() {
        return send("GET", "/AuditEvent?_count=1000&_elements=outcomeDesc").body;
    }

    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
};

TEST_F(AuditEventsOfAStore, ThatWaitAtTheEndAreWritten) {
    {
        net::AuditEvents events(service());
        for (int i = 0; i < 20; ++i) {
            events.add(event(fmt::format("event {};", i)));
        }
    }
    const std::string all = stored();
    for (int i = 0; i < 20; ++i) {
        EXPECT_THAT(all, HasSubstr(fmt::format("event {};", i)));
    }
}

TEST_F(AuditEventsOfAStore, AreNotLostWhenItIsFull) {
    net::AuditEvents events(service());
    disk_->fail_next(SimFileSystem::Call::write, Errc::no_store);
    events.add(event("one"));
    events.add(event("another"));
    EXPECT_TRUE(becomes_true([&] { return events.written() == 2; }));
    EXPECT_EQ(events.dropped(), 0U);
    EXPECT_THAT(stored(), HasSubstr(R"("total":2)"));
}

TEST_F(AuditEventsOfAStore, ThatItRefusesAreCountedAndHoldNoOtherUp) {
    net::AuditEvents events(service());
    events.add(event("one"));
    events.add(R"({"resourceType":"Patient"})");
    events.add(event("another"));
    EXPECT_TRUE(becomes_true([&] { return events.written() + events.dropped() == 3; }));
    EXPECT_EQ(events.dropped(), 1U);
}

TEST_F(AuditEventsOfAStore, AreNoMoreAtOnceThanABundleMayHave) {
    core::Config config = settings();
    config.limits.max_bundle_entries = 2;
    restart(config);
    net::AuditEvents events(service());
    for (int i = 0; i < 5; ++i) {
        events.add(event("a"));
    }
    EXPECT_TRUE(becomes_true([&] { return events.written() + events.dropped() == 5; }));
    EXPECT_EQ(events.dropped(), 0U);
}

TEST_F(AuditEventsOfAStore, LeaveTheirRoomToOthersOnceTheyAreWritten) {
    net::AuditEvents events(service());
    // More than fits in total, each larger than what is written at once.
    const std::string large = event(std::string(net::AuditEvents::kWaitingBytesMax / 5, 'a'));
    for (std::uint64_t added = 0; added < 6;) {
        for (int i = 0; i < 3; ++i) {
            events.add(large);
            ++added;
        }
        ASSERT_TRUE(becomes_true([&] { return events.written() + events.dropped() == added; }));
    }
    EXPECT_EQ(events.dropped(), 0U);
}

}  // namespace
}  // namespace annals::test
