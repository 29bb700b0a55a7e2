// The assertions that the token endpoint has seen, and what of them the next process knows.

#include "net/auth/replays.h"

#include "core/base/digest.h"
#include "net/auth/assertion.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace annals::test {
namespace {

using net::auth::Assertion;
using net::auth::Replays;

constexpr std::chrono::minutes kLifeMax{7};

TEST(Replays, AreRefusedUntilTheyExpireAndForgottenThen) {
    const Instant begin{1'000'000'000};
    Replays replays(kLifeMax, begin);
    const Assertion one{"one", {begin.us + 300'000'000}};
    EXPECT_TRUE(replays.take("a", one, begin));
    EXPECT_EQ(replays.take("a", one, begin).error().code, Errc::bad_credentials);
    EXPECT_TRUE(replays.take("b", one, begin));
    EXPECT_EQ(replays.take("a", one, {one.expires.us - 1}).error().code, Errc::bad_credentials);
    EXPECT_TRUE(replays.take("a", {"one", {one.expires.us + 1}}, one.expires));
}

TEST(Replays, OfOneClientLeaveRoomForOthers) {
    const Instant begin{1'000'000'000};
    Replays replays(kLifeMax, begin);
    const Instant end{begin.us + 300'000'000};
    for (std::size_t i = 0; i < Replays::kOfOneClientMax; ++i) {
        ASSERT_TRUE(replays.take("a", {std::to_string(i), end}, begin));
    }
    EXPECT_EQ(replays.take("a", {"more", end}, begin).error().code, Errc::overloaded);
    EXPECT_TRUE(replays.take("b", {"more", end}, begin));
    EXPECT_TRUE(replays.take("a", {"more", {end.us * 2}}, end));
}

class KeptReplays : public testing::Test {
  protected:
    static constexpr Instant kBegin{1'000'000'000};
    static constexpr Instant kEnd{kBegin.us + 300'000'000};

    KeptReplays() { EXPECT_TRUE(files.make_directory("/data")); }

    static std::unique_ptr<Replays> open(SimFileSystem& files, Instant now = kBegin,
                                         std::chrono::microseconds machine_age = kLifeMax) {
        auto replays =
            Replays::open(files, "/data/assertions", {now.us - machine_age.count()}, kLifeMax, now);
        EXPECT_TRUE(replays) << replays.error().detail;
        return replays ? *std::move(replays) : nullptr;
    }

    static Errc fault(Replays& replays, const std::string& client, const Assertion& assertion,
                      Instant now = kBegin) {
        const auto taken = replays.take(client, assertion, now);
        return taken ? Errc::not_found : taken.error().code;
    }

    static constexpr Errc kTaken = Errc::not_found;  ///< returned by fault() if there is none

    SimFileSystem files;
};

TEST_F(KeptReplays, AreRefusedByTheNextProcess) {
    {
        const auto replays = open(files);
        EXPECT_EQ(fault(*replays, "a client", {"one", kEnd}), kTaken);
        EXPECT_EQ(fault(*replays, "b", {"short", {kBegin.us + 10}}), kTaken);
    }
    {
        // The process ended in order, so it doesn't matter that the machine has restarted since.
        const auto replays = open(files, kBegin, std::chrono::seconds(1));
        EXPECT_EQ(fault(*replays, "a client", {"one", kEnd}), Errc::bad_credentials);
        EXPECT_EQ(fault(*replays, "b", {"one", kEnd}), kTaken);
    }
    EXPECT_EQ(fault(*open(files, kEnd), "a client", {"one", {kEnd.us + 1}}, kEnd), kTaken);
}

TEST_F(KeptReplays, AreRefusedAfterAProcessThatWasKilledAtAnyMoment) {
    const auto killed = open(files);  // not closed before the next ones
    for (const char* id : {"one", "two"}) {
        EXPECT_EQ(fault(*killed, "a", {id, kEnd}), kTaken);
        const auto after = files.after_power_cut(1);  // everything that was written is there
        const auto replays = open(*after);
        EXPECT_EQ(fault(*replays, "a", {id, kEnd}), Errc::bad_credentials);
        EXPECT_EQ(fault(*replays, "a", {"three", kEnd}), kTaken);
        EXPECT_EQ(fault(*replays, "b", {"four", kEnd}), kTaken);
        // What it took follows what it found, and the next process knows both.
        const auto later = after->after_power_cut(1);
        const auto next = open(*later);
        for (const auto& [client, id_taken] : {std::pair("a", id), {"a", "three"}, {"b", "four"}}) {
            EXPECT_EQ(fault(*next, client, {id_taken, kEnd}), Errc::bad_credentials) << id_taken;
        }
    }
    // A line that was not written completely.
    std::string text = files.content("/data/assertions");
    SimFileSystem torn;
    ASSERT_TRUE(torn.make_directory("/data"));
    torn.set_content("/data/assertions", text + "13000");
    const auto replays = open(torn);
    EXPECT_EQ(fault(*replays, "a", {"two", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*replays, "a", {"three", kEnd}), kTaken);
    // A partial line, whose client's name is the beginning of another's.
    SimFileSystem cut;
    ASSERT_TRUE(cut.make_directory("/data"));
    cut.set_content("/data/assertions",
                    fmt::format("{}{} {} a", text, kEnd.us, sha256_hex("of another")));
    EXPECT_EQ(fault(*open(cut), "a", {"of another", kEnd}), kTaken);
}

TEST_F(KeptReplays, MayBeAllThatCouldHaveBeenTakenBeforeTheMachineEnded) {
    const auto lost = open(files);
    EXPECT_EQ(fault(*lost, "a", {"one", kEnd}), kTaken);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto after = files.after_power_cut(seed);
        const auto replays = open(*after, kBegin, std::chrono::seconds(1));
        EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials) << seed;
        EXPECT_EQ(fault(*replays, "a", {"two", {kEnd.us + 100'000'000}}), Errc::bad_credentials);
        const Instant beyond{kBegin.us + 420'000'000};
        EXPECT_EQ(fault(*replays, "a", {"three", beyond}), kTaken) << seed;
    }
    // Also for the process after the one that found this out, although that one lost nothing.
    const auto after = files.after_power_cut(0);
    EXPECT_EQ(fault(*open(*after, kBegin, std::chrono::seconds(1)), "a", {"two", kEnd}),
              Errc::bad_credentials);
    EXPECT_EQ(fault(*open(*after, kBegin, std::chrono::seconds(1)), "a", {"one", kEnd}),
              Errc::bad_credentials);
}

TEST_F(KeptReplays, OfAFileThatIsNotTheirsMayBeAny) {
    files.set_content("/data/assertions", "something else\n");
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    const auto beside = Replays::without_memory(kLifeMax, kBegin);
    EXPECT_EQ(fault(*beside, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*beside, "a", {"one", {kBegin.us + 420'000'000}}), kTaken);
    // The next process finds a file of theirs, but what was lost is still not known.
    EXPECT_EQ(fault(*open(*files.after_power_cut(1)), "a", {"one", kEnd}), Errc::bad_credentials);
    for (const char* from : {"?", "1x", "99999999999999999999"}) {
        files.set_content("/data/assertions", fmt::format("annals-assertions 1 whole {}\n", from));
        EXPECT_EQ(fault(*open(files), "a", {"one", kEnd}), Errc::bad_credentials) << from;
    }
}

TEST_F(KeptReplays, MayBeAnyIfALineIsDamaged) {
    constexpr Instant kLatest{kBegin.us + 420'000'000};  // the life of an assertion
    const std::string one = sha256_hex("one");
    const std::string kept = fmt::format("{} {} a\n", kLatest.us, sha256_hex("kept"));
    const auto open_with = [&](const std::string& line) {
        files.set_content("/data/assertions",
                          fmt::format("annals-assertions 1 whole 0\n{}\n{}", line, kept));
        return open(files);
    };
    EXPECT_EQ(fault(*open_with(fmt::format("{} {} a", kBegin.us, one)), "a", {"one", kEnd}), kTaken)
        << "expired";
    for (const std::string& line :
         {std::string(), std::string(80, '\0'), fmt::format("{} {}", kEnd.us, one),
          fmt::format("{}x {} a", kEnd.us, one), fmt::format("{} {}0 a", kEnd.us, one),
          fmt::format("{} {} a", kEnd.us, "g" + one.substr(1)),
          fmt::format("{} {} a", kEnd.us, one.substr(1))}) {
        const auto replays = open_with(line);
        EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials) << line;
        EXPECT_EQ(fault(*replays, "a", {"one", kLatest}), kTaken) << line;
        EXPECT_EQ(fault(*replays, "a", {"kept", kLatest}), Errc::bad_credentials) << line;
    }
}

TEST_F(KeptReplays, MayBeAnyIfThereWereMoreThanHaveRoom) {
    std::string text = "annals-assertions 1 whole\n";
    for (std::size_t i = 0; i < Replays::kAllMax; ++i) {
        text += fmt::format("{} {:064} c\n", kEnd.us, i);
    }
    files.set_content("/data/assertions",
                      fmt::format("{}{} {} a\n", text, kEnd.us + 1, sha256_hex("one")));
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", {kEnd.us + 1}}, kEnd), Errc::bad_credentials);
}

TEST_F(KeptReplays, AreNotTakenWhereTheyCannotBeWritten) {
    const auto replays = open(files);
    files.fail_next(SimFileSystem::Call::write, Errc::no_store);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::overloaded);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
}

TEST_F(KeptReplays, AreNotBegunAnewWhereTheirFileCannotBeReadOrWritten) {
    EXPECT_EQ(fault(*open(files), "a", {"one", kEnd}), kTaken);
    // As left by a process that was killed.
    std::string before = files.content("/data/assertions");
    before.replace(before.find("whole"), 5, "open");
    files.set_content("/data/assertions", before);
    for (const auto call : {SimFileSystem::Call::read, SimFileSystem::Call::write}) {
        files.fail_next(call, Errc::io);
        const auto replays = Replays::open(files, "/data/assertions", {}, kLifeMax, kBegin);
        ASSERT_FALSE(replays);
        EXPECT_EQ(replays.error().code, Errc::io);
        EXPECT_EQ(files.content("/data/assertions"), before);
    }
    EXPECT_EQ(fault(*open(files), "a", {"one", kEnd}), Errc::bad_credentials);
}

TEST_F(KeptReplays, OfAllClientsTogetherAreNotMoreThanSoMany) {
    std::string text = "annals-assertions 1 whole\n";
    for (std::size_t i = 1; i < Replays::kAllMax; ++i) {
        text += fmt::format("{} {:064} c\n", kEnd.us, i);
    }
    files.set_content("/data/assertions", text);
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"two", kEnd}), Errc::overloaded);
    EXPECT_EQ(fault(*replays, "a", {"two", {kEnd.us * 2}}, kEnd), kTaken);
}

TEST_F(KeptReplays, AreRefusedIfAClockThatWasAheadHadThemForgotten) {
    constexpr Instant kAhead{kBegin.us + 1'000'000'000'000};
    auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"two", {kAhead.us + 1}}, kAhead), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*replays, "a", {"three", {kBegin.us + 420'000'000}}), kTaken) << "7 minutes";
    replays.reset();
    replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*replays, "a", {"four", {kBegin.us + 420'000'000}}), kTaken);
    // Not refused for longer because there are more restarts.
    replays.reset();
    constexpr Instant kLater{kBegin.us + 1'000'000};
    EXPECT_EQ(fault(*open(files, kLater), "a", {"five", {kBegin.us + 420'000'000}}, kLater),
              kTaken);
}

TEST_F(KeptReplays, AreRefusedIfTheClockThatHadThemForgottenIsSetBackBetweenTwoProcesses) {
    constexpr Instant kAhead{kBegin.us + 1'000'000'000'000};
    EXPECT_EQ(fault(*open(files), "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*open(files, kAhead), "a", {"two", {kAhead.us + 1}}, kAhead), kTaken);
    EXPECT_EQ(fault(*open(*files.after_power_cut(1)), "a", {"one", kEnd}), Errc::bad_credentials);
    const auto killed = open(files, kAhead);
    EXPECT_EQ(fault(*open(*files.after_power_cut(1)), "a", {"one", kEnd}), Errc::bad_credentials);
}

TEST_F(KeptReplays, AfterASmallCorrectionOfTheClockAreRefusedOnlyIfTheyExpireBeforeIt) {
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}, {kBegin.us - 1}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"two", kBegin}, {kBegin.us - 1}), Errc::bad_credentials);
}

TEST_F(KeptReplays, AreForgottenAlsoAfterTheClockWasAhead) {
    files.set_content("/data/assertions", "annals-assertions 1 open\n");
    const auto replays = open(files, {kBegin.us + 1'000'000'000'000}, {});
    for (std::size_t i = 0; i < Replays::kOfOneClientMax; ++i) {
        ASSERT_EQ(fault(*replays, "a", {std::to_string(i), {kBegin.us + 420'000'000}}), kTaken);
    }
    const Instant later{kBegin.us + 420'000'000};
    EXPECT_EQ(fault(*replays, "a", {"more", {later.us + 300'000'000}}, later), kTaken);
}

TEST_F(KeptReplays, OfAClockThatWasAheadAreKeptOnlyWhileThereIsRoom) {
    constexpr Instant kAhead{kBegin.us + 1'000'000'000'000};
    constexpr Instant kAheadEnd{kAhead.us + 300'000'000};
    constexpr Instant kSoon{kBegin.us + 420'000'000};
    const auto replays = open(files, kAhead);
    EXPECT_EQ(fault(*replays, "b", {"one", kAheadEnd}, kAhead), kTaken);
    for (std::size_t i = 0; i < Replays::kOfOneClientMax; ++i) {
        ASSERT_EQ(fault(*replays, "a", {std::to_string(i), kAheadEnd}, kAhead), kTaken);
    }
    const auto killed = files.after_power_cut(1);
    EXPECT_EQ(fault(*replays, "a", {"more", kSoon}), kTaken);
    EXPECT_EQ(fault(*replays, "b", {"one", kAheadEnd}, kAhead), Errc::bad_credentials);
    // The next process finds out when it looks for room.
    const auto next = open(*killed);
    constexpr Instant kLooks{kBegin.us + 30'000'000};
    EXPECT_EQ(fault(*next, "a", {"more", kSoon}, kLooks), kTaken);
    EXPECT_EQ(fault(*next, "b", {"one", kAheadEnd}, kAhead), Errc::bad_credentials);
}

TEST_F(KeptReplays, OfAllClientsOfAClockThatWasAheadLeaveRoom) {
    constexpr Instant kAheadEnd{kBegin.us + 1'000'000'000'000};
    std::string text = "annals-assertions 1 whole\n";
    for (std::size_t i = 0; i < Replays::kAllMax; ++i) {
        text += fmt::format("{} {:064} c{}\n", kAheadEnd.us, i, i % 100);
    }
    files.set_content("/data/assertions", text);
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::overloaded);
    constexpr Instant kLooks{kBegin.us + 30'000'000};
    for (const char* id : {"one", "two"}) {
        EXPECT_EQ(fault(*replays, "a", {id, kEnd}, kLooks), kTaken);
    }
}

TEST_F(KeptReplays, OfAClockThatWasAheadLeaveRoomForTheRestOfTheirFile) {
    constexpr Instant kAheadEnd{kBegin.us + 1'000'000'000'000};
    std::string text = fmt::format("annals-assertions 1 whole {}\n", kBegin.us);
    for (std::size_t i = 0; i < Replays::kAllMax; ++i) {
        text += fmt::format("{} {:064} c{}\n", kAheadEnd.us, i, i % 100);
    }
    files.set_content("/data/assertions",
                      fmt::format("{}{} {} a\n", text, kEnd.us, sha256_hex("one")));
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*replays, "a", {"two", kEnd}), kTaken);
}

TEST_F(KeptReplays, AreNotDroppedForASmallCorrectionOfTheClock) {
    const auto replays = open(files);
    for (std::size_t i = 0; i < Replays::kOfOneClientMax; ++i) {
        ASSERT_EQ(fault(*replays, "a", {std::to_string(i), kEnd}), kTaken);
    }
    constexpr Instant kBack{kBegin.us - 180'000'000};
    EXPECT_EQ(fault(*replays, "a", {"more", kEnd}, kBack), Errc::overloaded);
    EXPECT_EQ(fault(*replays, "a", {"0", kEnd}, kBack), Errc::bad_credentials);
}

TEST_F(KeptReplays, TakeNoMoreOfTheDeviceThanTheyNeed) {
    const auto replays = open(files);
    Instant now = kBegin;
    std::size_t most = 0;
    for (int i = 0; i < 20'000; ++i) {
        now.us += 1'000'000;
        EXPECT_EQ(fault(*replays, "a", {std::to_string(i), {now.us + 300'000'000}}, now), kTaken);
        if (i % 50 == 0) {
            most = std::max(most, files.content("/data/assertions").size());
        }
    }
    EXPECT_LT(most, 400U << 10);
}

}  // namespace
}  // namespace annals::test
