// $purge beside writes that are on their way to the log, and what is reported afterwards.

#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

namespace annals::test {
namespace {

using std::chrono::milliseconds;

class PurgeInFlight : public ServiceFixture {
  protected:
    PurgeInFlight() {
        restart_on(disk_);
        EXPECT_EQ(put_patient("p"), 201);
        EXPECT_EQ(put_observation(), 201);
    }

    int put_observation() {
        return send(
                   "PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},)"
                   R"("subject":{"reference":"Patient/p"}})")
            .status;
    }

    /// Purges while the sync of a write is held back, until the purge has decided.
    Answer purge_during(const std::string& target, const std::string& body) {
        disk_->hold_syncs();
        auto writing =
            std::async(std::launch::async, [&] { return send("PUT", target, body).status; });
        disk_->await_held_sync();
        auto purging =
            std::async(std::launch::async, [&] { return send("POST", "/Patient/p/$purge"); });
        EXPECT_EQ(purging.wait_for(milliseconds(30)), std::future_status::timeout);
        disk_->release_syncs();
        EXPECT_LE(writing.get(), 201);
        return purging.get();
    }

    std::shared_ptr<SimFileSystem> disk_ = std::make_shared<SimFileSystem>();
};

TEST_F(PurgeInFlight, TakesWhatNamesThePatientAndIsOnItsWay) {
    const Answer done = purge_during(
        "/Observation/new",
        R"({"resourceType":"Observation","id":"new","status":"final","code":{"text":"x"},)"
        R"("subject":{"reference":"Patient/p"}})");
    EXPECT_EQ(done.status, 200);
    EXPECT_TRUE(done.says("Observation/new")) << done.body;
    EXPECT_EQ(send("GET", "/Observation/new").status, 404);
}

TEST_F(PurgeInFlight, TakesTheVersionOfThePatientThatIsOnItsWay) {
    const Answer done =
        purge_during("/Patient/p", R"({"resourceType":"Patient","id":"p","gender":"female"})");
    EXPECT_EQ(done.status, 200);
    EXPECT_TRUE(done.says(R"({"name":"versions","valueInteger":3})")) << done.body;
    EXPECT_EQ(send("GET", "/Patient/p").status, 404);
}

TEST_F(PurgeInFlight, IsRefusedByAReferenceThatIsOnItsWay) {
    core::Config config;
    config.integrity_on_delete = true;
    restart(config);
    const Answer refused = purge_during(
        "/List/l", R"({"resourceType":"List","id":"l","status":"current","mode":"working",)"
                   R"("entry":[{"item":{"reference":"Observation/o"}}]})");
    EXPECT_EQ(refused.status, 409) << refused.body;
    EXPECT_EQ(send("GET", "/Observation/o").status, 200);
}

TEST_F(PurgeInFlight, SaysWhenAndOfEachVersionWhereItWas) {
    core::Config config;
    config.audit.file = "audit";
    restart(config);
    EXPECT_EQ(put_observation(), 200);
    const Answer second = send("GET", "/Observation/o");
    const std::string instant = format_instant(second.last_modified);
    const Answer would = send("POST", "/Patient/p/$purge?dryRun=true");
    EXPECT_TRUE(would.entries.empty());
    EXPECT_EQ(would.position, 0U);
    const Instant before = now();
    const Answer done = send("POST", "/Patient/p/$purge");
    ASSERT_EQ(done.status, 200);
    EXPECT_TRUE(done.says(R"({"name":"patient","valueString":"Patient/p"})")) << done.body;
    EXPECT_TRUE(done.says(fmt::format(
        R"({{"name":"versionId","valueString":"2"}},{{"name":"lastUpdated","valueInstant":"{}"}},)"
        R"({{"name":"position","valueDecimal":3}})",
        instant)))
        << done.body;
    const std::string when = R"("name":"when","valueInstant":")";
    const std::size_t at = done.body.find(when) + when.size();
    constexpr std::size_t kToTheSecond = 19;
    EXPECT_GE(done.body.substr(at, kToTheSecond), format_instant(before).substr(0, kToTheSecond))
        << done.body;
    EXPECT_EQ(done.position, 3U);
    ASSERT_EQ(done.entries.size(), 2U);
    EXPECT_EQ(done.entries[0].method, core::HttpMethod::delete_);
    EXPECT_EQ(done.entries[0].reference, "Patient/p");
    EXPECT_EQ(done.entries[1].reference, "Observation/o");
}

TEST_F(PurgeInFlight, CountsAllThatReferAndTellsOfAThousand) {
    std::string entries;
    for (int i = 0; i < 1001; ++i) {
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"List","status":"current","mode":"working","entry":[{{)"
            R"("item":{{"reference":"Observation/o"}}}}]}},"request":{{"method":"POST","url":"List"}}}})",
            i == 0 ? "" : ",");
    }
    ASSERT_EQ(
        send("POST", "/", R"({"resourceType":"Bundle","type":"batch","entry":[)" + entries + "]}")
            .status,
        200);
    const Answer would = send("POST", "/Patient/p/$purge?dryRun=true");
    EXPECT_TRUE(would.says(R"({"name":"referrers","valueInteger":1001})"));
    std::size_t told = 0;
    const std::string_view referrer = R"("name":"referrer",)";
    for (std::size_t at = 0; (at = would.body.find(referrer, at)) != std::string::npos; ++told) {
        at += referrer.size();
    }
    EXPECT_EQ(told, 1000U);
}

}  // namespace
}  // namespace annals::test
