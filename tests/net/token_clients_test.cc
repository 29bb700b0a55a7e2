// The basis of the token endpoint: its clients' file, and the scopes it grants.

#include "core/config/token_clients.h"

#include "net/auth/clients.h"
#include "net/auth/granted_scopes.h"
#include "net/auth/token_signer.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
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

using net::auth::granted_scopes;
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
