// $restore of the system: a backup's contents come back into a running store; what is newer stays.

#include "core/base/digest.h"
#include "core/definitions.h"
#include "core/operations/restore_run.h"
#include "storage/backup_manifest.h"
#include "storage/file_system.h"
#include "tests/support/costly_rules.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <future>
#include <memory>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;

/// A server of its own, whose backups are where the others' are.
class Server : public test::ServiceFixture {
  public:
    explicit Server(const Config& config) { restart(config); }

    using ServiceFixture::data;
    using ServiceFixture::loop;
    using ServiceFixture::on_loop;
    using ServiceFixture::put_patient;
    using ServiceFixture::restart;
    using ServiceFixture::restart_on;
    using ServiceFixture::send;
    using ServiceFixture::service;
    using ServiceFixture::store;
    using ServiceFixture::store_options_;

    /// The answer once nothing is running any more.
    Answer finished(std::string_view operation) {
        while (true) {
            Answer answer = send("GET", operation);
            if (answer.status != 202) {
                return answer;
            }
            EXPECT_FALSE(answer.header("X-Progress").empty());
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }

    void back_up(std::string_view name) {
        EXPECT_EQ(send("POST", fmt::format("/$backup?to={}", name)).status, 202);
        EXPECT_EQ(finished("/$backup").status, 200);
    }

    Answer restore(std::string_view name) {
        const Answer begun = send("POST", fmt::format("/$restore?from={}", name));
        EXPECT_EQ(begun.status, 202) << begun.body;
        EXPECT_EQ(begun.content_location, "http://test/fhir/$restore");
        return finished("/$restore");
    }

  private:
    void TestBody() override {}
};

class RestoreOperationTest : public ::testing::Test {
  protected:
    RestoreOperationTest() : server_(config()) {}

    Config config() const {
        Config config;
        config.backup_dir = backups_.path();
        return config;
    }

    static std::string count(std::string_view name, std::uint64_t value) {
        return fmt::format(R"({{"name":"{}","valueDecimal":{}}})", name, value);
    }

    test::TemporaryDirectory backups_;
    Server server_;
};

TEST_F(RestoreOperationTest, LeavesAloneWhatIsHereAndWhatIsNewer) {
    server_.put_patient("a", "One");
    server_.put_patient("a", "Two");
    server_.put_patient("b", "Kept");
    server_.back_up("nightly");
    server_.put_patient("b", "Newer");
    server_.put_patient("c", "Later");

    const Answer done = server_.restore("nightly");
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_TRUE(done.says(R"({"name":"from","valueString":"nightly"})"));
    EXPECT_TRUE(done.says(count("position", 3)));
    EXPECT_TRUE(done.says(count("restored", 0)));
    EXPECT_TRUE(done.says(count("ignored", 3)));
    EXPECT_TRUE(done.says(count("differing", 0)));
    EXPECT_TRUE(done.says(count("failed", 0)));
    EXPECT_EQ(server_.store().last_position(), Position{5});
    EXPECT_TRUE(server_.send("GET", "/Patient/b").says("Newer"));
}

TEST_F(RestoreOperationTest, MakesAnEmptyServerWhatWasBackedUp) {
    server_.put_patient("a", "One");
    server_.put_patient("b", "Doomed");
    server_.put_patient("a", "Two");
    EXPECT_EQ(server_.send("DELETE", "/Patient/b").status, 204);
    server_.back_up("nightly");

    Server other(config());
    EXPECT_EQ(other.send("GET", "/$restore").status, 404) << "none yet";
    const Answer done = other.restore("nightly");
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_TRUE(done.says(count("restored", 4))) << done.body;
    EXPECT_TRUE(done.says(count("ignored", 0)));
    EXPECT_EQ(other.send("GET", "/Patient/a").etag, 2U);
    EXPECT_EQ(other.send("GET", "/Patient/b").status, 410);
    EXPECT_TRUE(other.send("GET", "/Patient?family=Two").says(R"("total":1)")) << "it is found";
    for (std::uint64_t position = 1; position <= 4; ++position) {
        const auto here = server_.store().at({position});
        const auto there = other.store().at({position});
        ASSERT_TRUE(here && there) << position;
        EXPECT_EQ(there->version, here->version);
        EXPECT_EQ(there->instant, here->instant);
        EXPECT_EQ(there->deletion, here->deletion);
        EXPECT_EQ(other.store().load(*there)->body, server_.store().load(*here)->body);
    }
}

TEST_F(RestoreOperationTest, EndsBehindTheLastWholeCommitUpToAPositionOrInstant) {
    server_.put_patient("a", "One");
    EXPECT_EQ(server_
                  .send("POST", "/",
                        R"({"resourceType":"Bundle","type":"transaction","entry":[)"
                        R"({"resource":{"resourceType":"Patient","id":"b"},)"
                        R"("request":{"method":"PUT","url":"Patient/b"}},)"
                        R"({"resource":{"resourceType":"Patient","id":"c"},)"
                        R"("request":{"method":"PUT","url":"Patient/c"}}]})")
                  .status,
              200);
    server_.put_patient("a", "Two");
    server_.back_up("nightly");
    const Instant instant = server_.store().at({3})->instant;
    const std::uint64_t by_then = server_.store().at({4})->instant > instant ? 3 : 4;

    for (const auto& [bound, versions] : {std::pair<std::string, std::uint64_t>{"position=2", 1},
                                          {"position=3", 3},
                                          {"position=4", 4},
                                          {"position=2&instant=2999-01-01", 1},
                                          {"instant=" + format_instant(instant), by_then}}) {
        Server other(config());
        const Answer done = other.restore("nightly&" + bound);
        EXPECT_EQ(done.status, 200) << bound << done.body;
        EXPECT_TRUE(done.says(count("position", versions))) << bound << done.body;
        EXPECT_TRUE(done.says(count("restored", versions))) << bound << done.body;
        EXPECT_EQ(other.store().last_position(), Position{versions}) << bound;
    }
    EXPECT_EQ(server_.send("POST", "/$restore?from=nightly&position=5").status, 422);
    EXPECT_EQ(server_.send("POST", "/$restore?from=nightly&position=0").status, 400);
    EXPECT_EQ(server_.send("POST", "/$restore?from=nightly&instant=x").status, 400);
    EXPECT_EQ(server_.restore("nightly&instant=2001-01-01").status, 422);
}

TEST_F(RestoreOperationTest, AddsToALiveServerWhatItLacks) {
    server_.put_patient("a", "One");
    server_.put_patient("b", "Here");
    server_.back_up("nightly");

    Server other(config());
    other.put_patient("b", "Another");
    const Answer done = other.restore("nightly");
    EXPECT_TRUE(done.says(count("restored", 1))) << done.body;
    EXPECT_TRUE(done.says(count("ignored", 1)));
    EXPECT_TRUE(done.says(count("differing", 1)));
    EXPECT_TRUE(other.send("GET", "/Patient/b").says("Another"));
    EXPECT_EQ(other.send("GET", "/Patient/a").status, 200);
}

TEST_F(RestoreOperationTest, WhatWasErasedStaysGone) {
    server_.put_patient("a");
    server_.back_up("nightly");
    Config erasing = config();
    erasing.hard_delete = true;
    server_.restart(erasing);
    EXPECT_EQ(server_.send("DELETE", "/Patient/a").status, 204);
    EXPECT_TRUE(server_.restore("nightly").says(count("restored", 0)));
    EXPECT_NE(server_.send("GET", "/Patient/a").status, 200);
}

TEST_F(RestoreOperationTest, TakesBodiesAsDeepAsTheyMayBe) {
    Config config = this->config();
    config.validation = "off";
    server_.restart(config);
    const std::string deep = fmt::format(R"({{"resourceType":"Basic","id":"deep","x":{}{}}})",
                                         std::string(63, '['), std::string(63, ']'));
    EXPECT_EQ(server_.send("PUT", "/Basic/deep", deep).status, 201);
    server_.back_up("nightly");
    Server other(config);
    EXPECT_TRUE(other.restore("nightly").says(count("restored", 1)));
    EXPECT_EQ(other.send("GET", "/Basic/deep").status, 200);
}

TEST_F(RestoreOperationTest, WhatIsNotValidHereFailsAlone) {
    Config lax = config();
    lax.validation = "off";
    server_.restart(lax);
    EXPECT_EQ(
        server_.send("PUT", "/Patient/x", R"({"resourceType":"Patient","id":"x","gender":[1]})")
            .status,
        201);
    server_.put_patient("a");
    server_.back_up("nightly");
    Server other(config());
    const Answer done = other.restore("nightly");
    EXPECT_TRUE(done.says(count("restored", 1))) << done.body;
    EXPECT_TRUE(done.says(count("failed", 1)));
}

TEST_F(RestoreOperationTest, EndsWithTheServerAndIsDoneWhenItIsBegunAgain) {
    constexpr std::uint64_t kVersions = 2500;  // more than two bundles of them
    for (std::uint64_t i = 0; i < kVersions; i += 100) {
        std::string bundle = R"({"resourceType":"Bundle","type":"history","entry":[)";
        for (std::uint64_t j = i; j < i + 100; ++j) {
            bundle += fmt::format(
                R"({}{{"resource":{},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
                j == i ? "" : ",", test::patient(fmt::format("p{}", j)), j);
        }
        ASSERT_EQ(server_.send("POST", "/", bundle + "]}").status, 200);
    }
    server_.back_up("nightly");
    Server other(config());
    EXPECT_EQ(other.send("POST", "/$restore?from=nightly").status, 202);
    other.restart(config());
    const std::uint64_t before = other.store().last_position().value;
    const Answer done = other.restore("nightly");
    EXPECT_TRUE(done.says(count("restored", kVersions - before))) << done.body;
    EXPECT_TRUE(done.says(count("ignored", before)));
    EXPECT_EQ(other.store().last_position(), Position{kVersions});
}

TEST_F(RestoreOperationTest, EndsWhileWhatItRestoresWaitsToBeChecked) {
    server_.send("PUT", "/Patient/p", test::costly_patient("p"));
    server_.back_up("nightly");
    Config full = config();
    full.validation = "full";
    Server other(full);
    EXPECT_EQ(other.send("PUT", "/StructureDefinition/costly", test::costly_profile()).status, 201);
    terminology::Worker& worker = other.service().definitions().worker();
    std::promise<void> begun;
    std::promise<void> go_on;
    std::future<Result<void>> busy;
    const auto wait = [&] {
        begun.set_value();
        go_on.get_future().wait();
    };
    other.on_loop([&] {
        busy = asio::co_spawn(other.loop().context(), worker.run(other.loop(), wait),
                              asio::use_future);
    });
    begun.get_future().wait();
    auto run = std::make_unique<RestoreRun>(other.service());
    EXPECT_TRUE(run->start("nightly", {}));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (worker.waiting() == 0 && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(worker.waiting(), 1U);
    EXPECT_TRUE(run->status().running);
    const Result<std::uint64_t> second = run->start("nightly", {});
    EXPECT_FALSE(second);
    EXPECT_EQ(second ? Errc::internal : second.error().code, Errc::conflict);
    EXPECT_EQ(run->status().number, 1U);
    const auto ended = std::async(std::launch::async, [&] { run.reset(); });
    EXPECT_EQ(ended.wait_for(std::chrono::seconds(10)), std::future_status::ready);
    go_on.set_value();
    EXPECT_TRUE(busy.get());
}

TEST_F(RestoreOperationTest, RefusesWhatIsNoNameAndWhatIsNoBackup) {
    for (const char* query : {"", "?from=", "?from=..", "?from=.x", "?from=a%2Fb", "?to=a",
                              "?from=a&from=b", "?from=a&to=b"}) {
        EXPECT_EQ(server_.send("POST", fmt::format("/$restore{}", query)).status, 400) << query;
    }
    const Answer answer = server_.send("POST", "/$restore?from=none");
    EXPECT_EQ(answer.status, 404);
    EXPECT_FALSE(answer.says(backups_.path())) << "no paths for clients";
    EXPECT_FALSE(storage::posix_file_system().exists(backups_ / "none"));
}

TEST_F(RestoreOperationTest, RefusesABackupThatIsNotFinishedOrBeingWritten) {
    server_.put_patient("a");
    server_.back_up("nightly");
    auto& files = storage::posix_file_system();
    {
        const auto lock = files.lock(backups_ / "nightly");
        ASSERT_TRUE(lock);
        EXPECT_EQ(server_.send("POST", "/$restore?from=nightly").status, 409);
    }
    EXPECT_EQ(server_.restore("nightly").status, 200) << "the next one is not held back by it";
    ASSERT_TRUE(files.open(backups_ / "nightly/backup.partial", storage::FileSystem::Mode::create));
    EXPECT_EQ(server_.send("POST", "/$restore?from=nightly").status, 409);
}

TEST_F(RestoreOperationTest, BeginsWithTheNextWhereOneWasRefused) {
    server_.put_patient("a");
    server_.back_up("nightly");
    EXPECT_EQ(server_.send("POST", "/$restore?from=none").status, 404);
    EXPECT_EQ(server_.send("GET", "/$restore").status, 404);
    EXPECT_EQ(server_.restore("nightly").status, 200);
    for (int refused = 0; refused < 2; ++refused) {
        EXPECT_EQ(server_.send("POST", "/$restore?from=none").status, 404);
        const Answer last = server_.send("GET", "/$restore");
        EXPECT_EQ(last.status, 200) << "what was refused was none";
        EXPECT_TRUE(last.says("nightly")) << last.body;
    }
}

TEST_F(RestoreOperationTest, EndsAtDamage) {
    server_.put_patient("a", "Flipped");
    server_.back_up("nightly");
    const auto segments = storage::posix_file_system().list(backups_ / "nightly/segments");
    ASSERT_TRUE(segments);
    const std::string path = backups_ / ("nightly/segments/" + segments->front());
    std::string bytes;
    {
        std::ifstream in(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    const std::size_t at = bytes.find("Flipped");
    ASSERT_NE(at, std::string::npos);
    bytes[at] = 'f';
    std::ofstream(path, std::ios::binary) << bytes;

    Server other(config());
    const Answer answer = other.restore("nightly");
    EXPECT_EQ(answer.status, 500) << answer.body;
    EXPECT_FALSE(answer.says(backups_.path()));
    EXPECT_EQ(other.store().last_position(), Position{0});
}

TEST_F(RestoreOperationTest, RefusesSegmentsThatAreNotThoseOfTheBackup) {
    server_.put_patient("a");
    server_.back_up("nightly");
    auto& files = storage::posix_file_system();
    const std::string path = backups_ / "nightly";
    const auto manifest = storage::read_backup_manifest(files, path);
    ASSERT_TRUE(manifest && *manifest);
    storage::BackupManifest other_file = **manifest;
    other_file.parts.front().checksum ^= 1;
    storage::BackupManifest other_end = **manifest;
    ++other_end.position.value;
    for (const storage::BackupManifest& wrong : {other_file, other_end}) {
        std::ofstream(path + "/backup.manifest", std::ios::binary)
            << storage::write_backup_manifest(wrong);
        Server other(config());
        const Answer answer = other.restore("nightly");
        EXPECT_EQ(answer.status, 500) << answer.body;
        EXPECT_FALSE(answer.says(backups_.path()));
        EXPECT_EQ(other.store().last_position(), Position{0}) << "nothing of it is taken";
    }
}

TEST_F(RestoreOperationTest, SaysOfABackupOfANewerVersionOnlyThatItCannotBeRead) {
    server_.put_patient("a");
    server_.back_up("nightly");
    std::string manifest = "annals-backup 2\n";
    manifest += fmt::format("checksum {:016x}\n", hash64(manifest));
    std::ofstream(backups_ / "nightly/backup.manifest", std::ios::binary) << manifest;
    const Answer answer = server_.send("POST", "/$restore?from=nightly");
    EXPECT_EQ(answer.status, 409);
    EXPECT_TRUE(answer.says("'nightly' cannot be read by this server")) << answer.body;
}

TEST_F(RestoreOperationTest, EndsWhereTheDiskIsFullAndKeepsWhatItHas) {
    Server other(config());
    Config into = config();
    into.backup_dir = other.data() + "/backups";
    server_.restart(into);
    server_.send("PUT", "/Patient/a", test::patient("a", std::string(100'000, 'x')));
    server_.back_up("nightly");

    const auto disk = std::make_shared<test::SimFileSystem>();
    other.store_options_.segment_bytes = 1 << 16;
    other.store_options_.prepare_segments = false;
    other.restart_on(disk);
    std::uint64_t used = 0;
    for (const std::string& path : disk->paths()) {
        used += disk->content(path).size();
    }
    disk->set_space(used);
    const Answer full = other.restore("nightly");
    EXPECT_EQ(full.status, 503) << full.body;
    EXPECT_TRUE(full.says("no-store"));
    disk->set_space({});
    while (other.store().write_state() != storage::WriteState::ready) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(other.restore("nightly").says(count("restored", 1)));
    EXPECT_EQ(other.send("GET", "/Patient/a").status, 200);
}

TEST_F(RestoreOperationTest, IsNotForReadOnlyServers) {
    server_.put_patient("a");
    server_.back_up("nightly");
    Config config = this->config();
    config.read_only = true;
    server_.store_options_.read_only = true;
    server_.restart(config);
    EXPECT_EQ(server_.send("POST", "/$restore?from=nightly").status, 503);
}

}  // namespace
}  // namespace annals::core
