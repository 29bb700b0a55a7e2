// How long answers about opaque tokens are believed, and how many tokens may be asked about.

#include "net/auth/introspector.h"

#include "net/auth/authenticator.h"
#include "net/auth/credentials.h"
#include "tests/net/authorization_server.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

void await(const net::auth::Settled& settled) {
    ASSERT_TRUE(settled);
    ASSERT_TRUE(eventually([&] { return settled->load(); }));
}

/// Asks about a token and waits for the result.
Result<net::auth::Claims> ask(net::auth::Introspector& introspector, const std::string& token,
                              std::string_view address) {
    net::auth::Settled later;
    auto claims = introspector.find_out(token, address, now(), &later);
    if (later) {
        await(later);
    }
    return later ? introspector.find_out(token, address, now(), nullptr) : claims;
}

TEST(Introspection, DoesNotHoldAnAnswerLongerThanTheTokenLives) {
    const std::int64_t exp = now().us / 1'000'000 + 100;
    AuthorizationServer issuer(R"({"active":true,"exp":)" + std::to_string(exp) + "}");
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.cache = std::chrono::hours(1);
    config.auth.jwt_leeway = std::chrono::milliseconds(0);
    net::auth::Introspector introspector(config.auth, "secret");
    net::auth::Settled later;
    EXPECT_EQ(introspector.find_out("token", "a", now(), &later).error().code, Errc::not_found);
    await(later);
    const Instant end{exp * 1'000'000};
    const auto claims = introspector.find_out("token", "a", Instant{end.us - 1}, nullptr);
    ASSERT_TRUE(claims);
    EXPECT_EQ(claims->expires.us, end.us);
    EXPECT_EQ(introspector.find_out("token", "a", end, nullptr).error().code, Errc::overloaded);
}

TEST(Introspection, GivesAnAnswerThatIsNotKeptToWhoeverWaitedForIt) {
    AuthorizationServer issuer(kActive);
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.cache = std::chrono::milliseconds(0);
    net::auth::Introspector introspector(config.auth, "secret");
    for (int asked = 1; asked <= 2; ++asked) {
        const Instant begin = now();
        net::auth::Settled later;
        EXPECT_FALSE(introspector.find_out("token", "a", begin, &later));
        await(later);
        EXPECT_TRUE(introspector.find_out("token", "a", Instant{begin.us + 999'000}, nullptr));
        EXPECT_EQ(issuer.requests(), asked);
    }
}

/// Expects as many answers of this server to be remembered as may be, and then all to be forgotten. `good`: it knows the
/// tokens.
void expect_bounded_answers(const std::string& url, bool good) {
    core::Config config;
    config.auth.introspection.url = url;
    config.auth.introspection.rate = 0;
    config.auth.introspection.cache = std::chrono::hours(1);
    net::auth::Introspector introspector(config.auth, "secret");
    const Instant time = now();
    const auto ask = [&](std::size_t number) {
        net::auth::Settled later;
        // One address may not ask for so many at a time.
        const auto claims = introspector.find_out("token" + std::to_string(number),
                                                  std::to_string(number % 200), time, &later);
        EXPECT_EQ(claims.has_value(), good && !later);
        return later;  // null: it is known
    };
    constexpr std::size_t kMost = net::auth::Introspector::kAnswersMax;
    constexpr std::size_t kAtATime = 200;
    for (std::size_t first = 0; first < kMost; first += kAtATime) {
        std::vector<net::auth::Settled> asked;
        for (std::size_t number = first; number < first + kAtATime; ++number) {
            asked.push_back(ask(number));
        }
        for (const net::auth::Settled& later : asked) {
            ASSERT_NO_FATAL_FAILURE(await(later));
        }
    }
    EXPECT_EQ(ask(0), nullptr);
    await(ask(kMost));
    EXPECT_EQ(ask(kMost), nullptr);
    EXPECT_NE(ask(0), nullptr);
}

TEST(Introspection, RemembersSoManyFailuresAndNoMore) {
    expect_bounded_answers("http://127.0.0.1:1/", false);
}

TEST(Introspection, RemembersSoManyGoodTokensAndNoMore) {
    const AuthorizationServer issuer(kActive);
    expect_bounded_answers(issuer.url(), true);
}

TEST(Introspection, AsksAgainWhereTheClockHasGoneBack) {
    AuthorizationServer issuer(kActive);
    core::Config config;
    config.auth.introspection.url = issuer.url();
    net::auth::Introspector introspector(config.auth, "secret");
    net::auth::Settled later;
    const Instant time = now();
    EXPECT_FALSE(introspector.find_out("token", "a", time, &later));
    await(later);
    EXPECT_TRUE(introspector.find_out("token", "a", time, nullptr));
    EXPECT_TRUE(introspector.find_out("token", "a", Instant{time.us - 500'000}, nullptr));
    EXPECT_FALSE(introspector.find_out("token", "a", Instant{time.us - 3'600'000'000}, nullptr));
    // Neither is a negative answer believed, which would last for that hour.
    issuer.reply(R"({"active":false})");
    const auto refusal = [&](Instant when) {
        return introspector.find_out("other", "a", when, &later).error().code;
    };
    EXPECT_EQ(refusal(time), Errc::not_found);
    await(later);
    EXPECT_EQ(refusal(time), Errc::bad_credentials);
    EXPECT_EQ(refusal(Instant{time.us - 3'600'000'000}), Errc::not_found);
}

TEST(Introspection, IsNotRepeatedForTenSecondsAfterANoAndForTwoAfterNothing) {
    for (const auto& [answer, seconds] : {std::pair{R"({"active":false})", 10}, {"no JSON", 2}}) {
        AuthorizationServer issuer(answer);
        core::Config config;
        config.auth.introspection.url = issuer.url();
        net::auth::Introspector introspector(config.auth, "secret");
        const Instant begin = now();
        net::auth::Settled later;
        EXPECT_FALSE(introspector.find_out("token", "a", begin, &later));
        await(later);
        net::auth::Settled again;
        const Instant within{begin.us + seconds * 1'000'000 - 1};
        EXPECT_FALSE(introspector.find_out("token", "a", within, &again));
        EXPECT_FALSE(again) << answer;
        const Instant beyond{now().us + seconds * 1'000'000};
        EXPECT_FALSE(introspector.find_out("token", "a", beyond, &again));
        EXPECT_TRUE(again) << answer;
    }
}

TEST(Introspection, IsNotBelievedByAnyThreadForLongerWhereTheClockHasGoneBack) {
    AuthorizationServer issuer(kActive);
    const TemporaryDirectory directory;
    write_whole_file(directory / "secret", "secret");
    core::Config config;
    config.auth.mode = "jwt";
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.client_secret_file = directory / "secret";
    const auto credentials = net::auth::Credentials::open(config, {});
    ASSERT_TRUE(credentials) << credentials.error().detail;
    net::auth::Authenticator authenticator(config.auth, **credentials);
    core::Request request;
    request.headers.push_back({"Authorization", "Bearer token"});
    net::auth::Authenticator::Memo memo;
    net::auth::Settled later;
    const Instant time = now();
    const auto taken = [&](Instant when, net::auth::Authenticator::Memo& of_connection) {
        const auto who = authenticator.authenticate(request, {"a"}, when, &later, of_connection);
        return who && *who != nullptr;
    };
    EXPECT_FALSE(taken(time, memo));
    await(later);
    net::auth::Authenticator::Memo other;
    EXPECT_TRUE(taken(time, memo));
    EXPECT_TRUE(taken(time, other));
    const Instant before{time.us - 3'600'000'000};
    EXPECT_FALSE(taken(before, memo));
    await(later);
    EXPECT_TRUE(taken(before, memo));
    EXPECT_EQ(issuer.requests(), 2);
}

TEST(Introspection, IsRefusedToAnAddressWhoseTokensAreNoGoodAndToNoOther) {
    AuthorizationServer issuer(R"({"active":false})");
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    net::auth::Introspector introspector(config.auth, "secret");
    const auto begin = std::chrono::steady_clock::now();
    std::size_t made_up = 0;
    while (ask(introspector, "made-up-" + std::to_string(made_up), "a").error().code !=
           Errc::throttled) {
        ASSERT_LT(++made_up, 1000U);
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin)
            .count();
    EXPECT_GE(made_up, net::auth::Introspector::kOfOneAddressMax);
    EXPECT_LE(made_up,
              net::auth::Introspector::kOfOneAddressMax + static_cast<std::size_t>(seconds) + 1);
    EXPECT_EQ(static_cast<std::size_t>(issuer.requests()), made_up);
    EXPECT_EQ(ask(introspector, "made-up", "b").error().code, Errc::bad_credentials);
}

TEST(Introspection, HoldsGoodTokensAgainstNobody) {
    AuthorizationServer issuer(kActive);
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    net::auth::Introspector introspector(config.auth, "secret");
    for (std::size_t i = 0; i < 2 * net::auth::Introspector::kOfOneAddressMax; ++i) {
        ASSERT_TRUE(ask(introspector, "good-" + std::to_string(i), "a")) << i;
    }
    // The same for tokens of which nothing could be found out.
    issuer.reply("no JSON");
    for (std::size_t i = 0; i < 2 * net::auth::Introspector::kOfOneAddressMax; ++i) {
        ASSERT_EQ(ask(introspector, "unknown-" + std::to_string(i), "a").error().code,
                  Errc::overloaded);
    }
}

TEST(Introspection, LetsNoMoreTokensWaitThanItMay) {
    using net::auth::Introspector;
    std::promise<void> released;
    AuthorizationServer issuer(says_active_once(released));
    core::Config config;
    config.auth.introspection.url = issuer.url();
    config.auth.introspection.rate = 100'000;
    config.auth.introspection.refused_rate = 1;
    Introspector introspector(config.auth, "secret");
    std::vector<net::auth::Settled> asked;
    const auto is_asked = [&](const std::string& token, const std::string& address) {
        net::auth::Settled later;
        EXPECT_FALSE(introspector.find_out(token, address, now(), &later));
        if (later) {
            asked.push_back(later);
        }
        return later != nullptr;
    };
    std::size_t count = 0;
    while (is_asked("token-" + std::to_string(count), "of-" + std::to_string(count / 32))) {
        ASSERT_LT(++count, 1000U);
    }
    EXPECT_GE(count, Introspector::kWaitingMax);
    // Tokens for which there was no room don't count against anybody.
    for (std::size_t i = 0; i < 2 * Introspector::kOfOneAddressMax; ++i) {
        static_cast<void>(is_asked("more-" + std::to_string(i), "a"));
    }
    released.set_value();
    for (const net::auth::Settled& one : asked) {
        await(one);
    }
    EXPECT_TRUE(ask(introspector, "later", "a"));
}

}  // namespace
}  // namespace annals::test
