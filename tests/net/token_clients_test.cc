// The basis of the token endpoint: its clients' file, the scopes it grants, and the assertions that it has seen.

#include "core/config/token_clients.h"

#include "core/base/digest.h"
#include "net/auth/assertion.h"
#include "net/auth/clients.h"
#include "net/auth/granted_scopes.h"
#include "net/auth/replays.h"
#include "net/auth/token_signer.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

namespace annals::test {
namespace {

using net::auth::Assertion;
using net::auth::granted_scopes;
using net::auth::Replays;
using testing::HasSubstr;

TEST(GrantedScopes, AreWhatBothSidesPermit) {
    EXPECT_EQ(granted_scopes("system/*.cruds", "system/*.rs"), "system/*.rs");
    EXPECT_EQ(granted_scopes("system/Patient.rs", "system/*.cruds"), "system/Patient.rs");
    EXPECT_EQ(granted_scopes("system/*.rs", "system/Patient.cu system/Group.cr"), "system/Group.r");
    EXPECT_EQ(granted_scopes("system/Patient.read", "system/*.rs"), "system/Patient.read");
    EXPECT_EQ(granted_scopes("system/Patient.*", "system/Patient.read"), "system/Patient.rs");
    EXPECT_EQ(granted_scopes("system/Patient.write", "system/*.read"), "");
    EXPECT_EQ(granted_scopes("system/Patient.rs", "user/*.cruds"), "");
    EXPECT_EQ(granted_scopes("a  openid b", "openid c"), "openid");
    EXPECT_EQ(granted_scopes("system/*.rs system/*.rs", "system/*.rs"), "system/*.rs");
}

TEST(GrantedScopes, KeepConditions) {
    const std::string narrow = "system/Observation.rs?category=laboratory";
    EXPECT_EQ(granted_scopes("system/Observation.rs", narrow), narrow);
    EXPECT_EQ(granted_scopes("system/*.r", narrow), "system/Observation.r?category=laboratory");
    EXPECT_EQ(granted_scopes(narrow, "system/*.cruds"), narrow);
    EXPECT_EQ(granted_scopes("system/Observation.r?category=laboratory", narrow),
              "system/Observation.r?category=laboratory");
    EXPECT_EQ(granted_scopes(narrow, "system/Observation.rs?category=vital-signs"), "");
}

TEST(GrantedScopes, OfALimitThatPermitsNothingAreNone) {
    for (const char* limit : {"system/Observation.rs?", "system/Observation.read?category=a",
                              "everybody/Observation.rs", "system/Observation.rs.rs"}) {
        EXPECT_EQ(granted_scopes("system/*.cruds", limit), "") << limit;
        EXPECT_EQ(granted_scopes("system/Observation.rs", limit), "") << limit;
    }
}

TEST(GrantedScopes, TakeNoNonsense) {
    for (const char* scope : {"", " ", "system", "system/", "system/Patient", "system/Patient.",
                              "system/Patient.sr", "system/Patient.x", "/.", "?", "*"}) {
        EXPECT_EQ(granted_scopes(scope, "system/*.cruds"), "") << scope;
    }
}

TEST(GrantedScopes, AreNoMoreThanAreReadOfEither) {
    constexpr std::size_t kMax = net::auth::kGrantedScopesMax;
    const auto scopes = [](std::string_view type, std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            text += fmt::format("system/{}.r?identifier={} ", type, i);
        }
        return text;
    };
    const auto count = [](const std::string& granted) {
        return static_cast<std::size_t>(std::ranges::count(granted, '/'));
    };
    EXPECT_EQ(count(granted_scopes(scopes("Patient", 1000), "system/*.cruds")), kMax);
    EXPECT_EQ(count(granted_scopes("system/*.cruds", scopes("Patient", 1000))), kMax);
    const std::string last = "system/Task.r";
    EXPECT_EQ(granted_scopes(scopes("Patient", kMax - 1) + last, last), last);
    EXPECT_EQ(granted_scopes(scopes("Patient", kMax) + last, last), "");
    EXPECT_EQ(granted_scopes(last, scopes("Patient", kMax - 1) + last), last);
    EXPECT_EQ(granted_scopes(last, scopes("Patient", kMax) + last), "");
    // Few of either may give many together.
    EXPECT_EQ(count(granted_scopes("system/Patient.r system/Task.r", scopes("*", kMax))), kMax);
}

TEST(Replays, AreRefusedUntilTheyExpireAndForgottenThen) {
    Replays replays;
    const Instant begin{1'000'000'000};
    const Assertion one{"one", {begin.us + 300'000'000}};
    EXPECT_TRUE(replays.take("a", one, begin));
    EXPECT_EQ(replays.take("a", one, begin).error().code, Errc::bad_credentials);
    EXPECT_TRUE(replays.take("b", one, begin));
    EXPECT_EQ(replays.take("a", one, {one.expires.us - 1}).error().code, Errc::bad_credentials);
    EXPECT_TRUE(replays.take("a", {"one", {one.expires.us + 1}}, one.expires));
}

TEST(Replays, OfOneClientLeaveRoomForOthers) {
    Replays replays;
    const Instant begin{1'000'000'000};
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
    static constexpr std::chrono::minutes kLifeMax{7};
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
}

TEST_F(KeptReplays, OfAFileThatIsNotTheirsMayBeAny) {
    files.set_content("/data/assertions", "something else\n");
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    const auto beside = Replays::without_memory(kLifeMax, kBegin);
    EXPECT_EQ(fault(*beside, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*beside, "a", {"one", {kBegin.us + 420'000'000}}), kTaken);
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
        text += std::to_string(kEnd.us) + ' ' + std::to_string(i) + " c\n";
    }
    files.set_content("/data/assertions", text);
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"two", kEnd}), Errc::overloaded);
    EXPECT_EQ(fault(*replays, "a", {"two", {kEnd.us * 2}}, kEnd), kTaken);
}

TEST_F(KeptReplays, AreRefusedIfAClockThatWasAheadHadThemForgotten) {
    constexpr Instant kAhead{kBegin.us + 1'000'000'000'000};
    const auto replays = open(files);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"two", {kAhead.us + 1}}, kAhead), kTaken);
    EXPECT_EQ(fault(*replays, "a", {"one", kEnd}), Errc::bad_credentials);
    EXPECT_EQ(fault(*replays, "a", {"three", {kBegin.us + 420'000'000}}), kTaken) << "7 minutes";
}

TEST_F(KeptReplays, AreNotRefusedIfTheyExpireLaterThanWhatASmallCorrectionOfTheClockRevives) {
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

TEST(TokenClients, AreThereOnceTheFileOfKeysThatTheyNameIs) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    const auto entry = [](const std::string& id, const std::string& keys) {
        return fmt::format("[[client]]\nid = \"{}\"\nscopes = []\n{}\n", id, keys);
    };
    const std::string set = jwk_set({SigningKey("ES256").jwk()});
    write_whole_file(file, entry("first", fmt::format("jwks = '{}'", set)));
    const auto clients = net::auth::Clients::open(file);
    ASSERT_TRUE(clients) << clients.error().detail;

    write_whole_file(file, entry("second", "jwks_file = '" + (folder / "second.json") + "'"));
    const auto later = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
    std::filesystem::last_write_time(file, later);
    (*clients)->reload_if_changed();
    EXPECT_NE((*clients)->find("first"), nullptr);
    write_whole_file(folder / "second.json", set);
    (*clients)->reload_if_changed();
    EXPECT_EQ((*clients)->find("first"), nullptr);
    EXPECT_NE((*clients)->find("second"), nullptr);
}

TEST(TokenClients, HaveTheKeysThatTheirFilesHaveNow) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    const auto set = [](const char* key) { return jwk_set({SigningKey("ES256", key).jwk()}); };
    int hours = 0;
    const auto write = [&](const std::string& to, const std::string& text) {
        write_whole_file(to, text);
        std::filesystem::last_write_time(
            to, std::filesystem::file_time_type::clock::now() + std::chrono::hours(++hours));
    };
    const auto say = [&](const char* key) {
        write(file, fmt::format("[[client]]\nid = \"inside\"\nscopes = []\njwks = '{}'\n"
                                "[[client]]\nid = \"beside\"\nscopes = []\njwks_file = '{}'\n",
                                set(key), folder / "keys.json"));
    };
    write(folder / "keys.json", set("one"));
    say("one");
    const auto clients = net::auth::Clients::open(file);
    ASSERT_TRUE(clients) << clients.error().detail;
    const auto has = [&](const char* id, const char* key) {
        return (*clients)->find(id)->keys.has(key);
    };
    EXPECT_TRUE(has("inside", "one") && has("beside", "one"));
    EXPECT_EQ((*clients)->find("inside")->fetcher, nullptr);
    const auto before = (*clients)->find("inside");
    (*clients)->reload_if_changed();
    EXPECT_EQ((*clients)->find("inside"), before);

    write(folder / "keys.json", set("two"));
    (*clients)->reload_if_changed();
    EXPECT_TRUE(has("inside", "one") && has("beside", "two"));
    say("two");
    (*clients)->reload_if_changed();
    EXPECT_TRUE(has("inside", "two") && has("beside", "two"));
    EXPECT_FALSE(has("inside", "one") || has("beside", "one"));
    const auto after = (*clients)->find("inside");
    (*clients)->reload_if_changed();
    EXPECT_EQ((*clients)->find("inside"), after);
}

TEST(TokenClients, AreTriedAgainWhereWhatWasWrongWithAFileLeavesNoTraceInItsTime) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    const std::string entry = fmt::format("[[client]]\nid = \"lab\"\nscopes = []\njwks = '{}'\n",
                                          jwk_set({SigningKey("ES256").jwk()}));
    write_whole_file(file, entry);
    const auto clients = net::auth::Clients::open(file);
    ASSERT_TRUE(clients) << clients.error().detail;
    const auto reload_with = [&](const std::string& text) {
        write_whole_file(file, text);
        std::filesystem::last_write_time(file,
                                         std::filesystem::file_time_type(std::chrono::hours(1)));
        testing::internal::CaptureStderr();
        (*clients)->reload_if_changed();
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(reload_with("no clients"), HasSubstr("the clients are unchanged"));
    EXPECT_EQ(reload_with("no clients"), "");
    EXPECT_NE((*clients)->find("lab"), nullptr);
    // The time stays the same, as after a chmod, which tests run by root can't use.
    EXPECT_THAT(reload_with("[[client]]\nid = \"ward\"" + entry.substr(entry.find("\nscopes"))),
                HasSubstr("the clients were reloaded"));
    EXPECT_EQ((*clients)->find("lab"), nullptr);
    EXPECT_NE((*clients)->find("ward"), nullptr);
}

TEST(TokenClients, KeepWhatWasFetchedForAsLongAsTheyHaveItsUrl) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    KeyEndpoint one(jwk_set({SigningKey("ES256", "one").jwk()}));
    const KeyEndpoint other(jwk_set({SigningKey("ES256", "other").jwk()}));
    int hours = 0;
    const auto say = [&](const std::string& url, const std::string& scope) {
        write_whole_file(
            file, fmt::format("[[client]]\nid = \"lab\"\nscopes = ['{}']\njwks_url = '{}'\n", scope,
                              url));
        std::filesystem::last_write_time(
            file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(++hours));
    };
    say(one.url(), "system/*.r");
    const auto clients = net::auth::Clients::open(file);
    ASSERT_TRUE(clients) << clients.error().detail;
    const auto has = [&](const char* key) { return (*clients)->find("lab")->keys.has(key); };
    ASSERT_TRUE(becomes_true([&] { return has("one"); }));

    say(one.url(), "system/*.s");
    (*clients)->reload_if_changed();
    EXPECT_THAT((*clients)->find("lab")->said.scopes, HasSubstr("system/*.s"));
    EXPECT_TRUE(has("one"));
    EXPECT_EQ(one.requests(), 1);
    // Newer keys can still be fetched.
    one.set(jwk_set({SigningKey("ES256", "newer").jwk()}));
    const net::auth::Settled asked = net::auth::Clients::ask_for_keys(*(*clients)->find("lab"));
    ASSERT_TRUE(asked);
    EXPECT_TRUE(becomes_true([&] { return asked->load(); }));
    EXPECT_TRUE(has("newer"));

    // A key that is only at the old URL is no longer accepted.
    say(other.url(), "system/*.s");
    (*clients)->reload_if_changed();
    EXPECT_FALSE(has("newer"));
    EXPECT_TRUE(becomes_true([&] { return has("other"); }));
    EXPECT_FALSE(has("newer"));
}

TEST(TokenClients, AreReadAgainIfTheirFileChangesWhileItIsRead) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    // Many clients read it, so that there is time for the change.
    const std::string keys = folder / "keys.json";
    write_whole_file(keys, jwk_set({SigningKey("ES256").jwk()}) + std::string(1'000'000, ' '));
    for (int delay = 1; delay <= 8; ++delay) {
        std::string many;
        for (int i = 0; i < 30; ++i) {
            many +=
                fmt::format("[[client]]\nid = \"{}\"\nscopes = []\njwks_file = '{}'\n", i, keys);
        }
        write_whole_file(file, many);
        std::thread writer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
            write_whole_file(folder / "new",
                             "[[client]]\nid = \"new\"\nscopes = []\njwks_file = '" + keys + "'\n");
            // File times may be the same for some milliseconds.
            std::filesystem::last_write_time(
                folder / "new",
                std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
            std::filesystem::rename(folder / "new", file);
        });
        const auto clients = net::auth::Clients::open(file);
        writer.join();
        ASSERT_TRUE(clients) << clients.error().detail;
        (*clients)->reload_if_changed();
        EXPECT_NE((*clients)->find("new"), nullptr) << delay;
    }
}

TEST(TokenClients, AreInFilesThatCanBeReadAgain) {
    const TemporaryDirectory folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const auto of_pipe = net::auth::Clients::check(pipe);
    ASSERT_FALSE(of_pipe);
    EXPECT_THAT(of_pipe.error().detail, HasSubstr("it is a pipe"));
    const std::string file = folder / "clients.toml";
    write_whole_file(
        file, "[[client]]\nid = \"lab\"\nscopes = [\"system/*.rs\"]\njwks_file = '" + pipe + "'\n");
    const auto of_keys = net::auth::Clients::check(file);
    ASSERT_FALSE(of_keys);
    EXPECT_THAT(of_keys.error().detail, HasSubstr("it is a pipe"));
}

TEST(TokenClients, AreInFilesThatHaveAnEnd) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    write_whole_file(
        file, "[[client]]\nid = \"lab\"\nscopes = [\"system/*.rs\"]\njwks_file = '/dev/zero'\n");
    const auto of_keys = net::auth::Clients::check(file);
    ASSERT_FALSE(of_keys);
    EXPECT_THAT(of_keys.error().detail, HasSubstr("it is larger than 1 MiB"));
}

TEST(TokenClients, SayWhichFileAndClientIsOfNoUse) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    const auto fault = [&](const std::string& text) {
        write_whole_file(file, text);
        const auto checked = net::auth::Clients::check(file);
        return checked ? std::string() : checked.error().detail;
    };
    const std::string head = "[[client]]\nid = \"lab\"\nscopes = [\"system/*.rs\"]\n";
    const std::string keys = fmt::format("jwks = '{}'\n", jwk_set({SigningKey("ES256").jwk()}));
    EXPECT_EQ(fault(head + keys), "");
    EXPECT_THAT(fault(""), HasSubstr("[[client]] entries"));
    EXPECT_THAT(fault("[[client]]\nscopes = []\n"), HasSubstr("a client has no id"));
    EXPECT_THAT(fault("[[client]]\nid = \"lab\"\n" + keys), HasSubstr("must be a list of strings"));
    EXPECT_THAT(fault(head), HasSubstr("'lab' needs one of jwks, jwks_file and jwks_url"));
    EXPECT_THAT(fault(head + keys + "jwks_url = 'https://a'\n"), HasSubstr("needs one of"));
    EXPECT_THAT(fault(head + "jwks_url = 'http://example.org/'\n"), HasSubstr("https://"));
    EXPECT_THAT(fault(head + "jwks_file = '" + (folder / "none") + "'\n"),
                HasSubstr("cannot be read"));
    EXPECT_THAT(fault(head + "jwks = '{}'\n"), HasSubstr("not a JWK Set"));
    EXPECT_THAT(fault(head + "jwks = 1\n"), HasSubstr("must be a string"));
    EXPECT_THAT(fault(head + keys + "secret = 'x'\n"), HasSubstr("unknown member 'secret'"));
    EXPECT_THAT(fault(head + keys + head + keys), HasSubstr("'lab' appears twice"));
    EXPECT_THAT(fault("[[client]]\nid = \"l\\u00e4b\"\nscopes = []\n" + keys), HasSubstr("ASCII"));
    std::string many;
    for (std::size_t i = 0; i <= core::kFetchedClientsMax; ++i) {
        many += fmt::format("[[client]]\nid = \"{}\"\nscopes = []\njwks_url = 'https://a'\n", i);
    }
    EXPECT_THAT(fault(many), HasSubstr("more than"));
}

TEST(TokenSigner, TakesNoKeyThatIsOfNoUse) {
    for (const char* text :
         {"", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
        EXPECT_FALSE(net::auth::TokenSigner::read(text)) << text;
    }
}

}  // namespace
}  // namespace annals::test
