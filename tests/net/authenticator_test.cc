// What one thread makes of credentials and the files they are checked against, without a server.

#include "net/auth/authenticator.h"

#include "net/auth/credentials.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>

namespace annals::test {
namespace {

using net::auth::Authenticator;
using testing::HasSubstr;

/// Tokens signed by `key_`, an API key of "lab", and tokens that are introspected, each if so configured.
class AuthenticatorTest : public testing::Test {
  protected:
    AuthenticatorTest() {
        write_whole_file(folder_ / "secret", "secret");
        write_whole_file(folder_ / "jwks.json", jwk_set({key_.jwk()}));
        write_whole_file(folder_ / "keys.toml", key_entry("lab", "the key", R"(["system/*.rs"])"));
    }

    void take_signed(const std::string& issuer) {
        config_.auth.mode = "jwt";
        config_.auth.jwt_issuer = issuer;
        config_.auth.jwt_jwks_file = folder_ / "jwks.json";
    }

    void take_opaque(const std::string& url) {
        config_.auth.mode = "jwt";
        config_.auth.introspection.url = url;
        config_.auth.introspection.client_secret_file = folder_ / "secret";
    }

    void take_keys(const std::string& mode) {
        config_.auth.mode = mode;
        config_.auth.api_keys_file = folder_ / "keys.toml";
    }

    void open() {
        authenticator_.reset();
        auto opened = net::auth::Credentials::open(config_, {});
        ASSERT_TRUE(opened) << opened.error().detail;
        credentials_ = *std::move(opened);
        authenticator_ = std::make_unique<Authenticator>(config_.auth, *credentials_);
    }

    /// The name of the caller with these credentials, or why they are refused.
    std::string show(const char* header, const std::string& value, Authenticator::Memo& memo) {
        core::Request request;
        request.headers.push_back({header, value});
        net::auth::Settled later;
        auto who = authenticator_->authenticate(request, {"a"}, now(), &later, memo);
        if (later) {
            EXPECT_TRUE(becomes_true([&] { return later->load(); }));
            who = authenticator_->authenticate(request, {"a"}, now(), nullptr, memo);
        }
        return who ? std::string((*who)->name()) : who.error().detail;
    }

    std::string show(const char* header, const std::string& value) {
        Authenticator::Memo memo;
        return show(header, value, memo);
    }

    std::string show_token(const std::string& token) {
        return show("Authorization", "Bearer " + token);
    }

    std::string signed_for(const std::string& name, const std::string& more = {}) const {
        return key_.sign(R"({"exp":4000000000,"sub":")" + name + '"' + more + "}");
    }

    const TemporaryDirectory folder_;
    const SigningKey key_{"ES256"};
    core::Config config_;
    std::unique_ptr<net::auth::Credentials> credentials_;
    std::unique_ptr<Authenticator> authenticator_;
};

constexpr const char* kLabIsActive = R"({"active":true,"sub":"lab"})";

TEST_F(AuthenticatorTest, TellsApartWhoAreCalledTheSameByATokenAKeyAndIntrospection) {
    const HttpEndpoint introspection([](const std::string& request) {
        const bool nameless = request.find("token=nameless") != std::string::npos;
        return HttpEndpoint::Answer{200, nameless ? R"({"active":true})" : kLabIsActive};
    });
    take_signed("");
    take_opaque(introspection.url());
    take_keys("jwt_or_api_key");
    open();
    std::set<std::string> names{show("X-API-Key", "the key"), show_token("opaque")};
    EXPECT_THAT(names, testing::UnorderedElementsAre(HasSubstr("|lab"), HasSubstr("|lab")));
    for (const std::string before :
         {"", "|", "key|", "introspection|", "|key|", "|introspection|", "||"}) {
        names.insert(show_token(signed_for(before + "lab")));
    }
    EXPECT_THAT(names, testing::SizeIs(9));
    EXPECT_THAT(names, testing::Contains("lab"));
    // A caller without a name has an empty one.
    EXPECT_EQ(show_token("nameless"), "");
    EXPECT_EQ(show_token(key_.sign(R"({"exp":4000000000})")), "");
}

TEST_F(AuthenticatorTest, TellsApartWhoAreCalledTheSameByATokenAndIntrospection) {
    const HttpEndpoint introspection(
        [](const std::string&) { return HttpEndpoint::Answer{200, kLabIsActive}; });
    take_signed("https://own.example");
    take_opaque(introspection.url());
    open();
    EXPECT_EQ(show_token("opaque"), "introspection|lab");
    EXPECT_EQ(show_token(signed_for("lab", R"(,"iss":"https://own.example")")),
              "https://own.example|lab");
}

TEST_F(AuthenticatorTest, TellsApartWhoAreCalledTheSameByATokenAndAKey) {
    take_signed("");
    take_keys("jwt_or_api_key");
    open();
    const std::set<std::string> names{show("X-API-Key", "the key"), show_token(signed_for("lab")),
                                      show_token(signed_for("key|lab")),
                                      show_token(signed_for("|key|lab"))};
    EXPECT_THAT(names, testing::SizeIs(4));
}

TEST_F(AuthenticatorTest, LeavesNamesAsTheyAreWhereOneAloneTellsThem) {
    take_signed("https://own.example");
    open();
    EXPECT_EQ(show_token(signed_for("lab", R"(,"iss":"https://own.example")")), "lab");
    EXPECT_EQ(show_token(signed_for("key|lab", R"(,"iss":"https://own.example")")), "key|lab");

    take_signed("");
    open();
    EXPECT_EQ(show_token(signed_for("lab", R"(,"iss":"https://whoever.example")")), "lab");

    config_ = {};
    take_keys("api_key");
    open();
    EXPECT_EQ(show("X-API-Key", "the key"), "lab");

    const HttpEndpoint introspection(
        [](const std::string&) { return HttpEndpoint::Answer{200, kLabIsActive}; });
    config_ = {};
    take_opaque(introspection.url());
    open();
    EXPECT_EQ(show_token("opaque"), "lab");
}

TEST_F(AuthenticatorTest, TakesNoTokensWhereKeysAloneAreTakenNorTheOtherWayRound) {
    take_keys("api_key");
    open();
    EXPECT_EQ(show_token(signed_for("lab")), "Bearer tokens are not accepted");
    take_signed("");
    open();
    EXPECT_EQ(show("X-API-Key", "the key"), "API keys are not accepted");
}

TEST_F(AuthenticatorTest, TakesNothingForWhatWasShownBeforeButThatItself) {
    take_signed("");
    take_keys("jwt_or_api_key");
    open();
    Authenticator::Memo memo;
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(show("X-API-Key", "the key", memo), "key|lab");
        EXPECT_EQ(show("X-API-Key", "the keys", memo), "The API key is not known");
        EXPECT_EQ(show("X-API-Key", "the ke", memo), "The API key is not known");
    }
    const std::string token = "Bearer " + signed_for("lab");
    EXPECT_EQ(show("Authorization", token, memo), "lab");
    EXPECT_NE(show("Authorization", token + "AAAA", memo), "lab");
}

TEST_F(AuthenticatorTest, BelievesTheNewAnswerAboutATokenThatWasKnown) {
    std::atomic<int> count = 0;
    const HttpEndpoint introspection([&](const std::string&) {
        return HttpEndpoint::Answer{
            200, R"({"active":true,"sub":"lab-)" + std::to_string(++count) + "\"}"};
    });
    take_opaque(introspection.url());
    config_.auth.introspection.cache = std::chrono::milliseconds(500);
    open();
    const auto ask_until_not = [&](const std::string& before) {
        std::string name;
        EXPECT_TRUE(becomes_true([&] {
            if (!name.starts_with("lab-") || name == before) {
                name = show_token("opaque");
            }
            return name.starts_with("lab-") && name != before;
        }));
        return name;
    };
    const std::string first = ask_until_not("");
    ask_until_not(first);
}

TEST_F(AuthenticatorTest, TakesTheAnswerThatItWaitedForHoweverSoonItMustAskAgain) {
    std::atomic<const char*> exp = "";
    const HttpEndpoint introspection([&](const std::string&) {
        return HttpEndpoint::Answer{
            200, std::string(R"({"active":true,"sub":"lab")") + exp.load() + "}"};
    });
    take_opaque(introspection.url());
    config_.auth.introspection.cache = std::chrono::milliseconds(1);
    for (const char* more : {"", R"(,"exp":4000000000)"}) {
        exp = more;
        open();
        core::Request request;
        request.headers.push_back({"Authorization", "Bearer opaque"});
        Authenticator::Memo memo;
        net::auth::Settled later;
        const Instant begin = now();
        EXPECT_FALSE(authenticator_->authenticate(request, {"a"}, begin, &later, memo));
        ASSERT_TRUE(later);
        EXPECT_TRUE(becomes_true([&] { return later->load(); }));
        const Instant soon{begin.us + 900'000};
        EXPECT_TRUE(authenticator_->authenticate(request, {"a"}, soon, nullptr, memo)) << more;
        const Instant next{now().us + 1'000'000};
        EXPECT_FALSE(authenticator_->authenticate(request, {"a"}, next, nullptr, memo));
        EXPECT_FALSE(authenticator_->authenticate(request, {"a"}, next, &later, memo));
    }
}

TEST_F(AuthenticatorTest, IsNotAskedForFilesOfWhatIsNotTaken) {
    take_keys("api_key");
    config_.auth.jwt_jwks_file = folder_ / "none";
    config_.auth.jwt_hs256_secret_file = folder_ / "none";
    config_.auth.introspection.url = "https://auth.example.org/ask";
    config_.auth.introspection.client_secret_file = folder_ / "none";
    EXPECT_TRUE(net::auth::Credentials::check(config_));
    config_ = {};
    take_signed("");
    config_.auth.api_keys_file = folder_ / "none";
    EXPECT_TRUE(net::auth::Credentials::check(config_));
}

TEST_F(AuthenticatorTest, ForgetsNothingWhereNoFileHasChanged) {
    take_keys("api_key");
    open();
    const std::uint64_t before = credentials_->number();
    credentials_->reload_if_changed();
    EXPECT_EQ(credentials_->number(), before);
    std::filesystem::last_write_time(
        folder_ / "keys.toml",
        std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    credentials_->reload_if_changed();
    EXPECT_NE(credentials_->number(), before);
    const std::uint64_t after = credentials_->number();
    credentials_->reload_if_changed();
    EXPECT_EQ(credentials_->number(), after);
}

TEST_F(AuthenticatorTest, TriesAgainWhereWhatWasWrongWithAFileLeavesNoTraceInItsTime) {
    take_keys("api_key");
    open();
    const auto change_to = [&](const std::string& text) {
        write_whole_file(folder_ / "keys.toml", text);
        std::filesystem::last_write_time(folder_ / "keys.toml",
                                         std::filesystem::file_time_type(std::chrono::hours(1)));
    };
    change_to("no keys");
    testing::internal::CaptureStderr();
    credentials_->reload_if_changed();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the credentials are unchanged"));
    EXPECT_EQ(show("X-API-Key", "the key"), "lab");
    testing::internal::CaptureStderr();
    credentials_->reload_if_changed();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

    // The time stays the same, as after a chmod, which tests run by root can't use.
    change_to(key_entry("ward", "another", "[]"));
    credentials_->reload_if_changed();
    EXPECT_EQ(show("X-API-Key", "another"), "ward");
    EXPECT_EQ(show("X-API-Key", "the key"), "The API key is not known");
}

TEST_F(AuthenticatorTest, HoldsATokenToTheCertificateThatItIsBoundToWhereOneIsAskedFor) {
    const HttpEndpoint introspection([](const std::string&) {
        return HttpEndpoint::Answer{200, R"({"active":true,"sub":"ward","cnf":{"x5t#S256":"b"}})"};
    });
    take_signed("");
    take_opaque(introspection.url());
    open();
    const auto shown = [&](const std::string& token, std::string_view certificate) {
        core::Request request;
        request.headers.push_back({"Authorization", token});
        Authenticator::Memo memo;
        net::auth::Settled later;
        auto who = authenticator_->authenticate(request, {"a", certificate}, now(), &later, memo);
        if (later) {
            EXPECT_TRUE(becomes_true([&] { return later->load(); }));
            who = authenticator_->authenticate(request, {"a", certificate}, now(), nullptr, memo);
        }
        return who ? std::string() : who.error().detail;
    };
    const std::string bound = "Bearer " + signed_for("lab", R"(,"cnf":{"x5t#S256":"a"})");
    const std::string refused = "The token is bound to a different client certificate";
    for (int i = 0; i < 2; ++i) {  // the second time, it is known
        EXPECT_EQ(shown(bound, "a"), "");
        EXPECT_EQ(shown(bound, "b"), refused);
        EXPECT_EQ(shown(bound, ""), "");
        EXPECT_EQ(shown("Bearer opaque", "a"), refused);
        EXPECT_EQ(shown("Bearer opaque", "b"), "");
    }
    // Other things that it may be bound to are passed over.
    EXPECT_EQ(shown("Bearer " + signed_for("lab", R"(,"cnf":{"jkt":"c"})"), "a"), "");
    for (const std::string cnf :
         {R"({"x5t#S256":1})", R"({"x5t#S256":""})", R"({"x5t#S256":null})"}) {
        EXPECT_EQ(shown("Bearer " + signed_for("lab", ",\"cnf\":" + cnf), "a"),
                  "The token's cnf is malformed");
    }
}

}  // namespace
}  // namespace annals::test
