#include "core/config/config.h"

#include "core/base/resource_types.h"
#include "core/config/api_keys.h"
#include "core/config/history_limits.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <thread>

namespace annals::core {
namespace {

using testing::HasSubstr;

std::string write_file(const test::TemporaryDirectory& directory, const std::string& text) {
    const std::string path = directory / "annals.toml";
    std::ofstream(path) << text;
    return path;
}

std::string fault_of(const ConfigSources& sources) {
    const Result<Config> config = load_config(sources);
    if (config) {
        return "";
    }
    EXPECT_EQ(config.error().code, Errc::usage);
    EXPECT_EQ(config.error().detail.find('\n'), std::string::npos) << config.error().detail;
    return config.error().detail;
}

ConfigSources sets(std::vector<std::string> texts) {
    ConfigSources sources;
    sources.sets = std::move(texts);
    return sources;
}

TEST(LoadConfig, HasTheDefaultsOfTheContract) {
    const Result<Config> config = load_config({});
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->listen, "127.0.0.1:8080");
    EXPECT_EQ(config->data, "annals-data");
    EXPECT_EQ(config->durability, "commit");
    EXPECT_FALSE(config->hard_delete);
    EXPECT_EQ(config->history_page_size, 100U);
    EXPECT_EQ(config->instance_history_page_size, 10U);
    EXPECT_EQ(config->max_page_size, 1000U);
    EXPECT_EQ(config->delete_absent, 404U);
    EXPECT_EQ(config->limits.max_body, 64U << 20);
    EXPECT_EQ(config->limits.request_timeout, std::chrono::seconds(60));
}

TEST(LoadConfig, LetsEnvironmentBeatFileAndSetBeatBoth) {
    const test::TemporaryDirectory directory;
    ConfigSources sources;
    sources.file = write_file(directory,
                              "data = \"file\"\nmax_page_size = 1\n"
                              "[limits]\nmax_body = \"1MiB\"\nidle_timeout = \"5s\"\n"
                              "[interactions.instance]\nvread = false\n");
    sources.environment = {{"ANNALS_DATA", "environment"},
                           {"ANNALS_LIMITS__MAX_BODY", "2MiB"},
                           {"ANNALS_INTERACTIONS__TYPE__HISTORY", "false"}};
    sources.sets = {"limits.max_body=3000", "data=set"};
    const Result<Config> config = load_config(sources);
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    EXPECT_EQ(config->data, "set");
    EXPECT_EQ(config->max_page_size, 1U);
    EXPECT_EQ(config->limits.max_body, 3000U);
    EXPECT_EQ(config->limits.idle_timeout, std::chrono::seconds(5));
    EXPECT_FALSE(config->interactions.instance_vread);
    EXPECT_FALSE(config->interactions.type_history);
    EXPECT_TRUE(config->interactions.system_history);
}

TEST(LoadConfig, TakesANumberOfTheEnvironmentAsTextWhereATextIsNeeded) {
    ConfigSources sources;
    sources.environment = {{"ANNALS_DATA", "2026"}, {"ANNALS_AUTH__JWT__AUDIENCE", "1.5"}};
    const Result<Config> config = load_config(sources);
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    EXPECT_EQ(config->data, "2026");
    EXPECT_EQ(config->auth.jwt_audience, "1.5");
}

TEST(LoadConfig, TakesWhatIsNoTomlValueAsText) {
    const Result<Config> config = load_config(
        sets({"validation=off", "data=/srv/annals", "listen=127.0.0.1:0", "shutdown_timeout=250ms",
              "limits.max_body=16 MiB", "base_url=\"https://example.org/fhir\"",
              "auth.public=[\"metadata\",\"read\"]"}));
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    EXPECT_EQ(config->validation, "off");
    EXPECT_EQ(config->data, "/srv/annals");
    EXPECT_EQ(config->shutdown_timeout, std::chrono::milliseconds(250));
    EXPECT_EQ(config->limits.max_body, 16U << 20);
    EXPECT_EQ(config->base_url, "https://example.org/fhir");
    EXPECT_EQ(config->auth.public_access, (std::vector<std::string>{"metadata", "read"}));
}

TEST(LoadConfig, TakesBlanksAroundTheEqualsSign) {
    const Result<Config> config = load_config(sets({"threads = 2", "validation  =\"off\""}));
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    EXPECT_EQ(config->threads, 2U);
    EXPECT_EQ(config->validation, "off");
}

TEST(LoadConfig, TakesABaseUrlWithAndWithoutAPort) {
    for (const std::string url : {"http://x:65535/fhir", "http://[::1]:80/fhir",
                                  "http://[::1]/fhir", "https://example.org/a:b/fhir"}) {
        const Result<Config> config = load_config(sets({"base_url=\"" + url + "\""}));
        ASSERT_TRUE(config.has_value()) << config.error().detail;
        EXPECT_EQ(config->base_url, url);
    }
}

TEST(LoadConfig, TakesOriginsAsBrowsersSendThem) {
    const std::vector<std::string> origins = {"https://app.example.org", "http://localhost:3000",
                                              "http://[::1]:80", "capacitor://localhost"};
    const Result<Config> config = load_config(
        sets({"cors.origins=[\"" + fmt::format("{}", fmt::join(origins, "\",\"")) + "\"]"}));
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    EXPECT_EQ(config->cors_origins, origins);
}

TEST(LoadConfig, TakesNoughtForASizeOrDurationOnlyWhereItMeansSomething) {
    EXPECT_EQ(fault_of(sets({"auth.jwt.leeway=0s"})), "");
    EXPECT_NE(fault_of(sets({"shutdown_timeout=0s"})).find("of at least 1 ms"), std::string::npos);
    EXPECT_EQ(fault_of(sets({"storage.written_memory=0"})), "");
    EXPECT_EQ(load_config(sets({"storage.written_memory=64MiB"}))->storage_written_memory,
              64U << 20);
    EXPECT_NE(fault_of(sets({"limits.max_body=0"})).find("a number of bytes, 1 or more"),
              std::string::npos);
    EXPECT_EQ(fault_of(sets({"storage.written_memory=-1"})).find("1 or more"), std::string::npos);
    EXPECT_NE(fault_of(sets({"storage.written_memory=-1"})), "");
}

TEST(LoadConfig, ReadsSizesAndDurationsInAllUnits) {
    struct Case {
        std::string text;
        std::uint64_t bytes;
    };

    for (const auto& [text, bytes] : std::vector<Case>{{"7", 7},
                                                       {"2kB", 2000},
                                                       {"2MB", 2'000'000},
                                                       {"2GB", 2'000'000'000},
                                                       {"2KiB", 2048},
                                                       {"2MiB", 2U << 20},
                                                       {"2GiB", 2ULL << 30}}) {
        const Result<Config> config = load_config(sets({"limits.max_body=" + text}));
        ASSERT_TRUE(config.has_value()) << text;
        EXPECT_EQ(config->limits.max_body, bytes) << text;
    }
    for (const auto& [text, ms] : std::vector<Case>{
             {"7ms", 7}, {"7s", 7000}, {"7m", 420'000}, {"7h", 25'200'000}, {"7d", 604'800'000}}) {
        const Result<Config> config = load_config(sets({"history_cleanup_interval=" + text}));
        ASSERT_TRUE(config.has_value()) << text;
        EXPECT_EQ(config->history_cleanup_interval.count(), static_cast<std::int64_t>(ms)) << text;
    }
}

TEST(LoadConfig, NamesTheKeyOfAWrongValue) {
    struct Case {
        std::string set;
        std::string said;
    };

    for (const auto& [set, said] : std::vector<Case>{
             {"hard_delete=1", "hard_delete must be true or false"},
             {"hard_delete=yes", "hard_delete must be true or false"},
             {"threads=-1", "threads must be an integer"},
             {"threads=many", "threads must be an integer"},
             {"threads=1.5", "threads must be an integer"},
             {"max_page_size=0", "max_page_size must be an integer"},
             {"limits.max_body=0", "limits.max_body must be a size"},
             {"limits.max_body=64Mib", "limits.max_body must be a size"},
             {"limits.max_body=99999999999GiB", "limits.max_body must be a size"},
             {"limits.idle_timeout=60", "limits.idle_timeout must be a duration"},
             {"limits.idle_timeout=1w", "limits.idle_timeout must be a duration"},
             {"durability=sometimes", "durability must be one of commit, interval, none"},
             {"delete_absent=403", "delete_absent must be 404 or 204"},
             {"delete_absent=204.0", "delete_absent must be"},
             {"auth.public=read", "auth.public must be a list of strings"},
             {"auth.public=[1]", "auth.public must be a list of strings"},
             {"auth.public=[\"all\"]", "auth.public"},
             {"listen=8080", "listen must be a string"},
             {"listen=x8080", "listen must be HOST:PORT"},
             {"base_url=5", "base_url must be a string"},
             {"data=2026-01-02", "data must be a string"},
             {"auth.jwt.audience=1.5", "auth.jwt.audience must be a string"},
             {"listen=localhost:99999", "listen must be HOST:PORT"},
             {"listen=::1:9221", "listen must be HOST:PORT"},
             {"base_url=http://x/r4", "base_url must"},
             {"base_url=http:///fhir", "base_url must"},
             {"base_url=http://fhir", "base_url must"},
             {"base_url=https://user:secret@x/fhir", "base_url must"},
             {"base_url=http://x/y?z=/fhir", "base_url must"},
             {"base_url=http://x/a b/fhir", "base_url must"},
             {"base_url=http://x/\xff/fhir", "base_url must"},
             {"base_url=http://x/\x7f/fhir", "base_url must"},
             {"base_url=http://m\u00fcnchen.example/fhir", "base_url must"},
             {"base_url=http://x:99999/fhir", "base_url must"},
             {"base_url=http://x:0/fhir", "base_url must"},
             {"base_url=http://[::1]:80800/fhir", "base_url must"},
             {"base_url=\"http://x\\r\\n/fhir\"", "base_url must"},
             {"nonsense=1", "unknown key 'nonsense'"},
             {"limits=1", "--set: limits must be a table of keys, such as limits."},
             {"=1", "expected KEY=VALUE"},
             {"data", "expected KEY=VALUE"},
             {"data=", "data must name a directory, not ''"},
             {"auth.mode=jwt", "needs auth.jwt.jwks_file"},
             {"auth.mode=api_key", "needs auth.api_keys_file"},
             {"auth.mode=jwt_or_api_key", "needs auth.jwt.jwks_file"},
             {"auth.jwt.jwks_url=http://issuer/jwks", "must begin with https://"},
             {"auth.jwt.jwks_url=ftp://issuer/jwks", "must begin with https://"},
             {"auth.jwt.jwks_url=http://localhost:1@issuer/jwks", "must begin with https://"},
             {"auth.jwt.jwks_url=https://user:word@issuer/jwks", "and contain no user"},
             {"auth.introspection.url=https://user:word@issuer/ask", "and contain no user"},
             {"auth.jwt.issuers=https://issuer", "auth.jwt.issuers must be a list of tables"},
             {"auth.jwt.issuers=[{issuer=\"a\",keys=\"b\"}]", "must be a list of tables"},
             {"auth.jwt.issuers=[{issuer=1}]", "must be a list of tables"},
             {"auth.jwt.issuers=[{jwks_file=\"a\"}]", "an entry has no issuer"},
             {"auth.jwt.issuers=[{issuer=\"a\"}]", "'a' needs either jwks_file or jwks_url"},
             {"auth.jwt.issuers=[{issuer=\"a\",jwks_url=\"http://b/\"}]",
              "must begin with https://"},
             {"auth.jwt.issuers=[{issuer=\"a\",jwks_file=\"b\"},{issuer=\"a\",jwks_file=\"c\"}]",
              "'a' appears twice"},
             {"auth.introspection.url=http://issuer/ask", "must begin with https://"},
             {"auth.introspection.url=https://issuer/ask",
              "client_secret_file or outgoing.cert_file"},
             {"auth.introspection.rate=0", "auth.introspection.rate must be an integer"},
             {"auth.token_endpoint.clients_file=x", "needs auth.mode = \"jwt\""},
             {"auth.token_endpoint.rate=0", "auth.token_endpoint.rate must be an integer"},
             {"audit.resources=true", "audit.resources needs audit.file"},
             {"tls.cert_file=x", "tls.cert_file and tls.key_file"},
             {"tls.key_file=x", "tls.cert_file and tls.key_file"},
             {"tls.client_ca_file=x", "tls.client_ca_file needs"},
             {"outgoing.cert_file=x", "outgoing.cert_file and outgoing.key_file"},
             {"outgoing.key_file=x", "outgoing.cert_file and outgoing.key_file"},
             {"cors.origins=[\"https://a.example.org/\"]", "cors.origins"},
             {"cors.origins=[\"https://A.example.org\"]", "cors.origins"},
             {"cors.origins=[\"https://*.example.org\"]", "cors.origins"},
             {"cors.origins=[\"null\"]", "cors.origins"},
             {"metadata.instantiates=[\"us-core-server\"]",
              "metadata.instantiates: 'us-core-server'"},
             {"metadata.instantiates=[\"http://a b\"]", "is not an absolute URL"},
             {"auth.smart.token_endpoint=auth.example.org/token",
              "auth.smart.token_endpoint: 'auth.example.org/token': it is not an http or https "
              "URL"},
             {"auth.smart.jwks_uri=/etc/annals/keys", "auth.smart.jwks_uri: '/etc/annals/keys'"},
             {"auth.smart.user_access_brand_bundle=\"https://a b\"", "not allowed in URLs"},
             {"search.time_zone=Europe/Atlantis", "search.time_zone: 'Europe/Atlantis'"},
             {"search.time_zone=\"\"", "search.time_zone: ''"},
             {"search.time_zone=/etc/passwd", "search.time_zone: '/etc/passwd'"},
             {"search.time_zone=11", "search.time_zone must be a string"},
             {"allow_damaged=true", "allow_damaged"}}) {
        EXPECT_NE(fault_of(sets({set})).find(said), std::string::npos)
            << set << ": " << fault_of(sets({set}));
    }
}

TEST(LoadConfig, HoldsTokensOfItsOwnToANameThatNobodyElseHas) {
    const auto fault = [](std::vector<std::string> more) {
        ConfigSources sources;
        sources.sets = {"auth.mode=jwt", "auth.token_endpoint.clients_file=clients.toml"};
        sources.sets.insert(sources.sets.end(), more.begin(), more.end());
        return fault_of(sources);
    };
    const std::string base = "base_url=https://annals.example.org/fhir";
    EXPECT_EQ(fault({base}), "");
    EXPECT_EQ(fault({"base_url=http://127.0.0.1:8080/fhir"}), "");
    EXPECT_NE(fault({}).find("needs a base_url"), std::string::npos);
    EXPECT_NE(fault({"base_url=http://annals.example.org/fhir"}).find("needs a base_url"),
              std::string::npos);
    EXPECT_NE(fault({base, "auth.smart.token_endpoint=https://a/token"})
                  .find("cannot be combined with the endpoints of auth.smart"),
              std::string::npos);
    EXPECT_NE(fault({base, "auth.jwt.jwks_file=a"}).find("needs auth.jwt.issuer"),
              std::string::npos);
    EXPECT_NE(
        fault({base, "auth.jwt.jwks_file=a", "auth.jwt.issuer=https://annals.example.org/fhir"})
            .find("no other issuer"),
        std::string::npos);
    EXPECT_EQ(fault({base, "auth.jwt.jwks_file=a", "auth.jwt.issuer=https://other"}), "");
}

TEST(LoadConfig, NeedsToKnowHowItSaysWhoItIsWhereItAsksAboutTokens) {
    const auto fault = [](std::vector<std::string> more) {
        ConfigSources sources;
        sources.sets = {"auth.mode=jwt", "auth.introspection.url=https://issuer/ask"};
        sources.sets.insert(sources.sets.end(), more.begin(), more.end());
        return fault_of(sources);
    };
    const std::string id = "auth.introspection.client_id=annals";
    const std::string secret = "auth.introspection.client_secret_file=secret";
    EXPECT_THAT(fault({id}), HasSubstr("auth.introspection.client_secret_file or"));
    EXPECT_THAT(fault({secret}), HasSubstr("needs auth.introspection.client_id"));
    EXPECT_EQ(fault({id, secret}), "");
    EXPECT_EQ(fault({id, "outgoing.cert_file=cert.pem", "outgoing.key_file=key.pem"}), "");
}

TEST(LoadConfig, TakesATimeZoneByItsName) {
    EXPECT_EQ(load_config(ConfigSources{})->search_time_zone, "UTC");
    EXPECT_EQ(load_config(sets({"search.time_zone=Europe/Berlin"}))->search_time_zone,
              "Europe/Berlin");
    EXPECT_EQ(fault_of(sets({"search.time_zone=America/Argentina/Buenos_Aires"})), "");
}

TEST(LoadConfig, HoldsTheSyncIntervalToWhatTheLogWriterCanCount) {
    EXPECT_NE(fault_of(sets({"sync_interval=31d"})).find("sync_interval"), std::string::npos);
    EXPECT_EQ(fault_of(sets({"sync_interval=30d"})), "");
}

TEST(LoadConfig, HoldsAuditResourcesToWhatTheyCanStand) {
    for (const auto& [set, said] : std::vector<std::pair<std::string, std::string>>{
             {"read_only=true", "read_only"},
             {"referential_integrity.on_delete=true", "referential_integrity"},
             {"referential_integrity.on_write=true", "referential_integrity"}}) {
        EXPECT_NE(fault_of(sets({"audit.file=a", "audit.resources=true", set})).find(said),
                  std::string::npos)
            << set;
    }
    EXPECT_EQ(fault_of(sets({"audit.file=a", "audit.resources=true"})), "");
}

TEST(LoadConfig, ReadsATableOfIssuers) {
    const test::TemporaryDirectory directory;
    ConfigSources sources;
    sources.file = write_file(directory,
                              "[auth]\nmode = \"jwt\"\n"
                              "[[auth.jwt.issuers]]\nissuer = \"https://a\"\naudience = \"b\"\n"
                              "jwks_url = \"https://a/jwks\"\n"
                              "[[auth.jwt.issuers]]\nissuer = \"https://c\"\njwks_file = \"d\"\n");
    const Result<Config> config = load_config(sources);
    ASSERT_TRUE(config.has_value()) << config.error().detail;
    ASSERT_EQ(config->auth.jwt_issuers.size(), 2U);
    EXPECT_EQ(config->auth.jwt_issuers[0].issuer, "https://a");
    EXPECT_EQ(config->auth.jwt_issuers[0].audience, "b");
    EXPECT_EQ(config->auth.jwt_issuers[0].jwks_url, "https://a/jwks");
    EXPECT_EQ(config->auth.jwt_issuers[1].jwks_file, "d");
    // Beside such a table, the issuer in auth.jwt.* must have a name, and a different one.
    sources.sets = {"auth.jwt.jwks_file=keys"};
    EXPECT_NE(fault_of(sources).find("needs auth.jwt.issuer"), std::string::npos);
    sources.sets = {"auth.jwt.jwks_file=keys", "auth.jwt.issuer=https://c"};
    EXPECT_NE(fault_of(sources).find("'https://c' appears twice"), std::string::npos);
    sources.sets = {"auth.jwt.jwks_file=keys", "auth.jwt.issuer=https://e"};
    EXPECT_EQ(fault_of(sources), "");
}

TEST(LoadConfig, FetchesKeysWithoutTlsFromThisMachineAlone) {
    for (const std::string host : {"localhost", "127.0.0.1:9", "[::1]", "[::1]:9"}) {
        EXPECT_EQ(fault_of(sets({"auth.jwt.jwks_url=http://" + host + "/jwks"})), "") << host;
    }
    for (const std::string host : {"[::2]", "[::1]@issuer", "[::1].issuer", "localhost.issuer"}) {
        EXPECT_NE(fault_of(sets({"auth.jwt.jwks_url=http://" + host + "/jwks"})), "") << host;
    }
}

TEST(LoadConfig, KeepsTheSameNumberOfVersionsOfEveryTypeThatIsNotNamed) {
    Config config;
    EXPECT_EQ(history_limits(config)->keep[find_resource_type("Task")->value], 0U);
    config.max_history_versions = 7;
    config.history_cleanup_types = {"Patient=5"};
    EXPECT_EQ(history_limits(config)->keep[find_resource_type("Task")->value], 7U);
    EXPECT_EQ(history_limits(config)->keep[find_resource_type("Patient")->value], 5U);
}

TEST(LoadConfig, TakesHistoryLimitsOfTypes) {
    EXPECT_EQ(fault_of(sets({"history_cleanup_types=[\"Patient=5\",\"Task=0\"]"})), "");
    EXPECT_NE(fault_of(sets({"history_cleanup_types=[\"Patient=5\",\"Patient=2\"]"}))
                  .find("Patient appears twice"),
              std::string::npos);
    for (const std::string entry : {"Patient", "Patient=", "Patient=x", "Patient=-1"}) {
        EXPECT_EQ(fault_of(sets({"history_cleanup_types=[\"" + entry + "\"]"})),
                  "history_cleanup_types: \"" + entry +
                      "\" is not of the form TYPE=NUMBER, such as Patient=5");
    }
    EXPECT_EQ(fault_of(sets({"history_cleanup_types=[\"Nobody=5\"]"})),
              "history_cleanup_types: \"Nobody=5\" does not name a resource type");
}

TEST(LoadConfig, AsksForAWordBeforeListeningToTheWorldUnprotected) {
    for (const std::string listen : {"127.0.0.1:0", "127.9.9.9:0", "localhost:0", "[::1]:0"}) {
        EXPECT_EQ(fault_of(sets({"listen=" + listen})), "") << listen;
    }
    for (const std::string listen : {"0.0.0.0:0", "[::]:0", "10.0.0.1:0", "127.example.org:0"}) {
        EXPECT_NE(fault_of(sets({"listen=" + listen})).find("allow_unauthenticated"),
                  std::string::npos)
            << listen;
        EXPECT_EQ(fault_of(sets({"listen=" + listen, "allow_unauthenticated=true"})), "") << listen;
    }
}

TEST(LoadConfig, NamesFileAndLineOfBrokenToml) {
    const test::TemporaryDirectory directory;
    ConfigSources sources;
    sources.file = write_file(directory, "data = \"x\"\nthreads = = 1\n");
    const std::string fault = fault_of(sources);
    EXPECT_NE(fault.find(sources.file), std::string::npos) << fault;
    EXPECT_NE(fault.find("line 2"), std::string::npos) << fault;
    sources.file = directory / "absent.toml";
    EXPECT_NE(fault_of(sources).find(sources.file + ": No such file"), std::string::npos);
    sources.file = directory.path();
    EXPECT_NE(fault_of(sources).find("a directory"), std::string::npos);
    sources.file = write_file(directory, "[limits]\nmax_bodies = 1\n");
    EXPECT_NE(fault_of(sources).find("unknown key 'limits.max_bodies'"), std::string::npos);
    sources.file = write_file(directory, "[limit]\nmax_body = 1\n");
    EXPECT_NE(fault_of(sources).find("unknown key 'limit'"), std::string::npos);
}

TEST(LoadConfig, ReadsAPipeToItsEnd) {
    const test::TemporaryDirectory directory;
    ConfigSources sources;
    sources.file = directory / "pipe";
    ASSERT_EQ(::mkfifo(sources.file.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream pipe(sources.file);
        pipe << "threads = 3\n#" << std::string(100'000, 'x') << "\n" << std::flush;
        pipe << "validation = \"off\"\n";
    });
    const Result<Config> config = load_config(sources);
    writer.join();
    ASSERT_TRUE(config) << config.error().detail;
    EXPECT_EQ(config->threads, 3U);
    EXPECT_EQ(config->validation, "off");
}

TEST(LoadConfig, SurvivesTomlThatItsParserHoldsForImpossible) {
    const test::TemporaryDirectory directory;
    ConfigSources sources;
    for (const std::string text : {"[{", "[a.{x = 1", "[[{"}) {
        sources.file = write_file(directory, text);
        EXPECT_NE(fault_of(sources).find(sources.file), std::string::npos) << text;
        EXPECT_FALSE(read_api_keys(sources.file));
    }
}

TEST(ReadEntries, SayWhatIsWrongInOneLine) {
    const test::TemporaryDirectory directory;
    for (const std::string text :
         {"[[key]]\nid = \"a\\nb\"\n", "[[key]]\nid = \"a\\nb\"\nscopes = []\n\"x\\ny\" = 1\n",
          "[[key]]\nid = \"a\\nb\"\nscopes = []\nsha256 = \"1\"\n"}) {
        const auto keys = read_api_keys(write_file(directory, text));
        ASSERT_FALSE(keys) << text;
        EXPECT_EQ(keys.error().detail.find('\n'), std::string::npos) << keys.error().detail;
    }
    EXPECT_EQ(fault_of(sets({"history_cleanup_types=[\"a\\nb\"]"})).find('\n'), std::string::npos);
}

TEST(ReadApiKeys, TakesDigestsInCapitalsAsWell) {
    const test::TemporaryDirectory directory;
    const auto keys = read_api_keys(write_file(
        directory,
        "[[key]]\nid = \"a\"\nscopes = [\"system/*.rs\"]\n"
        "sha256 = \"2C26B46B68FFC68FF99B453C1D30413413422D706483BFA0F98A5E886266E7AE\"\n"));
    ASSERT_TRUE(keys) << keys.error().detail;
    ASSERT_EQ(keys->size(), 1U);
    EXPECT_EQ(keys->front().sha256,
              "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae");
}

TEST(ReadApiKeys, RefusesTheDigestOfNoTextAtAll) {
    const test::TemporaryDirectory directory;
    const auto keys = read_api_keys(write_file(
        directory,
        "[[key]]\nid = \"a\"\nscopes = [\"system/*.rs\"]\n"
        "sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\n"));
    ASSERT_FALSE(keys);
    EXPECT_NE(keys.error().detail.find("the hash of an empty string"), std::string::npos);
}

TEST(LoadConfig, RefusesUnknownVariablesOfTheEnvironment) {
    ConfigSources sources;
    sources.environment = {{"ANNALS_HARD_DELET", "true"}};
    EXPECT_NE(fault_of(sources).find("ANNALS_HARD_DELET"), std::string::npos);
}

}  // namespace
}  // namespace annals::core
