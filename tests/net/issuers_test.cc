// Several issuers of tokens: each signs for itself only, and none gets in another's way.

#include "codec/json/document.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/http_endpoint.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <future>
#include <sstream>

namespace annals::test {
namespace {

using testing::HasSubstr;

std::string claims_of(const std::string& issuer, const std::string& more = {}) {
    return R"({"iss":")" + issuer + R"(","sub":"lab","exp":4000000000,"scope":"system/*.cruds")" +
           more + "}";
}

/// Accepts tokens of https://own.example, https://a.example and https://b.example (audience "annals"), signed by these keys.
GuardedServer::Change with_issuers(const SigningKey& own, const SigningKey& a,
                                   const SigningKey& b) {
    return [&](core::Config& config, GuardedServer& server) {
        with_tokens(jwk_set({own.jwk()}))(config, server);
        config.auth.jwt_issuer = "https://own.example";
        config.auth.jwt_issuers = {{"https://a.example", "", server.file("a.json"), ""},
                                   {"https://b.example", "annals", server.file("b.json"), ""}};
        write_whole_file(server.file("a.json"), jwk_set({a.jwk()}));
        write_whole_file(server.file("b.json"), jwk_set({b.jwk()}));
    };
}

class Issuers : public testing::Test {
  protected:
    int status(const std::string& token) {
        return server_.get_with_token("/Patient/1", token).status;
    }

    // All keys have the same id, so only the issuer tells them apart.
    const SigningKey own_{"ES256"};
    const SigningKey a_{"ES256"};
    const SigningKey b_{"ES256"};
    GuardedServer server_{with_issuers(own_, a_, b_)};
};

TEST_F(Issuers, SignTheirOwnTokens) {
    EXPECT_EQ(status(own_.sign(claims_of("https://own.example"))), 404);
    EXPECT_EQ(status(a_.sign(claims_of("https://a.example"))), 404);
    EXPECT_EQ(status(b_.sign(claims_of("https://b.example", R"(,"aud":"annals")"))), 404);
}

TEST_F(Issuers, SignForNobodyElse) {
    for (const char* issuer : {"https://own.example", "https://b.example"}) {
        const HttpResponse refused =
            server_.get_with_token("/Patient/1", a_.sign(claims_of(issuer, R"(,"aud":"annals")")));
        EXPECT_EQ(refused.status, 401);
        EXPECT_THAT(refused.body, HasSubstr("signature is wrong"));
    }
    EXPECT_EQ(status(own_.sign(claims_of("https://a.example"))), 401);
}

TEST_F(Issuers, ThatAreUnknownAreRefusedWhoeverSigned) {
    for (const std::string& claims :
         {claims_of("https://c.example"), claims_of(""), claims_of("https://a.example/"),
          std::string(R"({"sub":"lab","exp":4000000000,"scope":"system/*.cruds"})"),
          std::string(R"({"iss":["https://a.example"],"exp":4000000000})")}) {
        const HttpResponse refused = server_.get_with_token("/Patient/1", a_.sign(claims));
        EXPECT_EQ(refused.status, 401);
        EXPECT_THAT(refused.body, HasSubstr("token's issuer is not known"));
    }
}

TEST_F(Issuers, HaveAudiencesOfTheirOwn) {
    EXPECT_EQ(status(b_.sign(claims_of("https://b.example"))), 401);
    EXPECT_EQ(status(b_.sign(claims_of("https://b.example", R"(,"aud":"other")"))), 401);
}

TEST_F(Issuers, DoNotShareTheSecretOfOne) {
    const std::string secret = "0123456789abcdef0123456789abcdef";
    GuardedServer server([&](core::Config& config, GuardedServer& self) {
        with_issuers(own_, a_, b_)(config, self);
        config.auth.jwt_hs256_secret_file = self.file("secret");
        write_whole_file(self.file("secret"), secret + "\n");
    });
    const auto status = [&](const std::string& issuer) {
        return server.get_with_token("/Patient/1", sign_hs256(secret, claims_of(issuer))).status;
    };
    EXPECT_EQ(status("https://own.example"), 404);
    EXPECT_EQ(status("https://a.example"), 401);
}

TEST_F(Issuers, TakeTheirTokensWithThemWhenTheirKeysGo) {
    const std::string old_token = a_.sign(claims_of("https://a.example"));
    EXPECT_EQ(status(old_token), 404);
    const SigningKey next("ES256");
    write_whole_file(server_.file("a.json"), jwk_set({next.jwk()}));
    const std::string token = next.sign(claims_of("https://a.example"));
    for (int i = 0; i < 100 && status(token) != 404; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(status(token), 404);
    EXPECT_EQ(status(old_token), 401);
    EXPECT_EQ(status(own_.sign(claims_of("https://own.example"))), 404);
}

TEST(Issuer, ThatIsAwayOrSilentDoesNotDelayTheOthers) {
    const SigningKey first("ES256", "first");
    const SigningKey second("ES256", "second");
    std::promise<void> released;
    const std::shared_future<void> release = released.get_future().share();
    // It accepts connections and never answers.
    HttpEndpoint silent([&](const std::string&) {
        release.wait();
        return HttpEndpoint::Answer();
    });
    KeyEndpoint good(jwk_set({first.jwk()}));
    {
        GuardedServer server([&](core::Config& config, GuardedServer&) {
            config.auth.mode = "jwt";
            config.auth.jwt_issuers = {{"https://silent.example", "", "", silent.url()},
                                       {"https://away.example", "", "", deserted_url()},
                                       {"https://good.example", "", "", good.url()}};
        });
        const auto status = [&](const SigningKey& key, const std::string& issuer) {
            return server.get_with_token("/Patient/1", key.sign(claims_of(issuer))).status;
        };
        EXPECT_EQ(status(first, "https://good.example"), 404);
        EXPECT_EQ(status(first, "https://away.example"), 401);
        // One issuer's keys change while the other's are still awaited.
        good.set(jwk_set({second.jwk()}));
        EXPECT_EQ(status(second, "https://good.example"), 404);
        EXPECT_EQ(status(first, "https://good.example"), 401);
        released.set_value();
    }
}

TEST(Issuer, IsAskedForNewKeysAtItsOwnPace) {
    const SigningKey key("ES256", "known");
    KeyEndpoint a(jwk_set({key.jwk()}));
    KeyEndpoint b(jwk_set({key.jwk()}));
    GuardedServer server([&](core::Config& config, GuardedServer&) {
        config.auth.mode = "jwt";
        config.auth.jwt_issuers = {{"https://a.example", "", "", a.url()},
                                   {"https://b.example", "", "", b.url()}};
    });
    const auto status = [&](const SigningKey& signer, const std::string& issuer) {
        return server.get_with_token("/Patient/1", signer.sign(claims_of(issuer))).status;
    };
    EXPECT_EQ(status(key, "https://a.example"), 404);
    EXPECT_EQ(status(key, "https://b.example"), 404);
    const int before = a.requests();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        const SigningKey unknown("EdDSA", "unknown" + std::to_string(i));
        EXPECT_EQ(status(unknown, "https://a.example"), 401);
    }
    const auto later = (std::chrono::steady_clock::now() - begin) / std::chrono::seconds(10);
    EXPECT_LE(a.requests(), before + 1 + later);
    // A flood for one doesn't keep the other from being asked.
    const SigningKey next("ES256", "next");
    b.set(jwk_set({next.jwk()}));
    EXPECT_EQ(status(next, "https://b.example"), 404);
}

TEST(Issuer, IsPartOfTheNameOfWhomItSpeaks) {
    const SigningKey own("ES256");
    const SigningKey a("ES256");
    const SigningKey b("ES256");
    const TemporaryDirectory folder;
    {
        GuardedServer server([&](core::Config& config, GuardedServer& self) {
            with_issuers(own, a, b)(config, self);
            config.audit.file = folder / "audit";
        });
        EXPECT_EQ(
            server.get_with_token("/Patient/1", a.sign(claims_of("https://a.example"))).status,
            404);
    }
    std::ostringstream lines;
    lines << std::ifstream(folder / "audit").rdbuf();
    EXPECT_THAT(lines.str(), HasSubstr("https://a.example|lab"));
}

TEST(Issuer, IsNoNameForWhoHasNone) {
    const SigningKey own("ES256");
    const SigningKey a("ES256");
    const SigningKey b("ES256");
    GuardedServer server(with_issuers(own, a, b));
    const auto nameless = [&](std::string_view scope) {
        return "Bearer " +
               a.sign(fmt::format(R"({{"iss":"https://a.example","exp":4000000000,"scope":"{}"}})",
                                  scope));
    };
    const HttpResponse begun = server.send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"Patient/1"}}]})",
        {{"Content-Type", "application/fhir+json"},
         {"Prefer", "respond-async"},
         {"Authorization", nameless("system/Patient.r")}});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string place = begun.header("Content-Location").value_or("");
    const std::size_t path = place.find("/_jobs/");
    ASSERT_NE(path, std::string::npos) << place;
    EXPECT_EQ(server.get(place.substr(path), {{"Authorization", nameless("system/Observation.r")}})
                  .status,
              404);
    const std::string all = a.sign(claims_of("https://a.example"));
    EXPECT_NE(server.get_with_token(place.substr(path), all).status, 404);
}

}  // namespace
}  // namespace annals::test
