// Keys fetched in the background: who asks for newer ones gets them, and the issuer is not asked in vain.

#include "net/auth/key_fetcher.h"

#include "net/auth/clients.h"
#include "tests/support/files.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/no_threads.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace annals::test {
namespace {

template <typename Condition>
void wait_until(Condition condition) {
    while (!condition()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

TEST(KeyFetcher, DoesNotAskForWhatHasComeSinceTheCallerLooked) {
    KeyEndpoint issuer(jwk_set({SigningKey("ES256").jwk()}));
    std::atomic<std::uint64_t> taken{0};
    net::auth::KeyFetcher fetcher("keys", issuer.url(), nullptr,
                                  [&](net::auth::KeySet, std::uint64_t n) { taken = n; });
    wait_until([&] { return taken == 1; });
    // The fetch ended after the caller had looked at the keys and before it asked: no matter how often, nothing is fetched.
    for (int i = 0; i < 3; ++i) {
        const net::auth::Settled come = fetcher.ask(0);
        ASSERT_TRUE(come);
        EXPECT_TRUE(come->load());
    }
    EXPECT_EQ(issuer.requests(), 1);

    // For those who have seen these keys, one more fetch within ten seconds is still possible.
    issuer.set(jwk_set({SigningKey("ES256", "next").jwk()}));
    const net::auth::Settled newer = fetcher.ask(1);
    ASSERT_TRUE(newer);
    wait_until([&] { return newer->load(); });
    // Once settled, the keys have been taken over.
    EXPECT_EQ(taken, 2U);
    EXPECT_EQ(issuer.requests(), 2);
    EXPECT_FALSE(fetcher.ask(2));
    EXPECT_TRUE(fetcher.ask(1)->load());
}

TEST(KeyFetcher, TakesOnlyKeysAndOnlyOthersThanItHas) {
    const std::string good = jwk_set({SigningKey("ES256").jwk()});
    for (const std::string& answer :
         {good, std::string("no keys"), good + std::string(2 << 20, ' ')}) {
        KeyEndpoint issuer(good);
        std::atomic<std::uint64_t> taken{0};
        net::auth::KeyFetcher fetcher("keys", issuer.url(), nullptr,
                                      [&](net::auth::KeySet, std::uint64_t n) { taken = n; });
        wait_until([&] { return taken == 1; });
        issuer.set(answer);
        const net::auth::Settled settled = fetcher.ask(1);
        ASSERT_TRUE(settled);
        wait_until([&] { return settled->load(); });
        EXPECT_EQ(taken, 1U);
        EXPECT_EQ(issuer.requests(), 2);
    }
}

TEST(KeyFetcher, AsksALoopbackAddressThroughNoProxy) {
    const HttpEndpoint proxy([](const std::string&) { return HttpEndpoint::Answer{502, ""}; });
    ::setenv("http_proxy", proxy.url().c_str(), 1);
    const KeyEndpoint issuer(jwk_set({SigningKey("ES256").jwk()}));
    std::atomic<std::uint64_t> taken{0};
    {
        const net::auth::KeyFetcher fetcher("keys", issuer.url(), nullptr,
                                            [&](net::auth::KeySet, std::uint64_t n) { taken = n; });
        wait_until([&] { return taken == 1 || proxy.requests() > 0; });
    }
    ::unsetenv("http_proxy");
    EXPECT_EQ(taken, 1U);
    EXPECT_EQ(proxy.requests(), 0);
}

TEST(TokenClients, StayAsTheyWereWhereThereIsNoThreadToFetchTheKeysOfNewOnes) {
    const TemporaryDirectory folder;
    const std::string file = folder / "clients.toml";
    const KeyEndpoint keys(jwk_set({SigningKey("ES256").jwk()}));
    const auto entry = [&](const std::string& id) {
        return fmt::format("[[client]]\nid = \"{}\"\nscopes = []\njwks_url = '{}'\n", id,
                           keys.url());
    };
    write_whole_file(file, entry("first"));
    const auto clients = net::auth::Clients::open(file);
    ASSERT_TRUE(clients) << clients.error().detail;
    // Waits, because the endpoint starts threads, too.
    wait_until([&] { return (*clients)->find("first")->fetched == 1; });
    const auto first = (*clients)->find("first");
    write_whole_file(file, entry("second") + entry("first"));
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    {
        const NoThreads none;
        (*clients)->reload_if_changed();
        EXPECT_EQ(net::auth::Clients::open(file).error().code, Errc::overloaded);
    }
    EXPECT_EQ((*clients)->find("second"), nullptr);
    EXPECT_EQ((*clients)->find("first")->fetcher, first->fetcher);
    // The same file is tried again.
    (*clients)->reload_if_changed();
    EXPECT_NE((*clients)->find("second"), nullptr);
    EXPECT_EQ((*clients)->find("first")->fetcher, first->fetcher);
}

}  // namespace
}  // namespace annals::test
