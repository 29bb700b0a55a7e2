// Tokens: which are accepted, and every way in which one may be false.

#include "net/auth/jwt.h"

#include "core/base/base64.h"
#include "net/auth/key_set.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace annals::net::auth {
namespace {

using test::jwk_set;
using test::sign_hs256;
using test::SigningKey;

constexpr Instant kNow{1'800'000'000'000'000};
const std::string kClaims =
    R"({"iss":"https://issuer","aud":"https://server/fhir","sub":"lab","exp":1800000300,"scope":"system/*.rs"})";
const TokenRules kRules{"https://issuer", "https://server/fhir", std::chrono::seconds(60), ""};

KeySet keys(std::initializer_list<std::string> jwks) {
    auto set = KeySet::read(jwk_set(jwks));
    EXPECT_TRUE(set) << set.error().detail;
    return *std::move(set);
}

std::string fault(const std::string& token, const KeySet& set, const TokenRules& rules = kRules,
                  Errc code = Errc::bad_credentials) {
    const auto claims = verify_token(token, set, rules, kNow);
    if (claims) {
        return "it was taken";
    }
    EXPECT_EQ(claims.error().code, code) << claims.error().detail;
    return claims.error().detail;
}

std::string claims_with(const std::string& what) {
    return R"({"iss":"https://issuer","aud":"https://server/fhir","exp":1800000300)" + what + "}";
}

class EveryAlgorithm : public testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, VerifiesItsOwnSignaturesAndNoOthers) {
    const SigningKey key(GetParam());
    const SigningKey other(GetParam());
    const KeySet set = keys({key.jwk()});
    const auto claims = verify_token(key.sign(kClaims), set, kRules, kNow);
    ASSERT_TRUE(claims) << claims.error().detail;
    EXPECT_EQ(claims->name, "lab");
    EXPECT_EQ(claims->scopes, "system/*.rs");
    EXPECT_EQ(claims->expires.us, 1'800'000'360'000'000);

    EXPECT_EQ(fault(other.sign(kClaims), set), "The token's signature is wrong");
    const std::string token = key.sign(kClaims);
    const std::string forged = token.substr(0, token.find('.') + 1) +
                               test::base64url(claims_with(R"(,"scope":"system/*.cruds")")) +
                               token.substr(token.rfind('.'));
    EXPECT_EQ(fault(forged, set), "The token's signature is wrong");
}

INSTANTIATE_TEST_SUITE_P(Jwt, EveryAlgorithm,
                         testing::Values("RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
                                         "ES256", "ES384", "ES512", "EdDSA"),
                         [](const auto& info) { return info.param; });

TEST(Jwt, KnowsBothEdwardsCurves) {
    const SigningKey key("EdDSA", "k", 0, "ED448");
    EXPECT_TRUE(verify_token(key.sign(kClaims), keys({key.jwk()}), kRules, kNow));
}

TEST(Jwt, TakesTheKeyWhoseIdItNames) {
    const SigningKey first("ES256", "first");
    const SigningKey second("ES256", "second");
    const KeySet set = keys({first.jwk(), second.jwk()});
    EXPECT_TRUE(verify_token(second.sign(kClaims), set, kRules, kNow));
    EXPECT_TRUE(verify_token(second.sign(R"({"alg":"ES256"})", kClaims), set, kRules, kNow));
    EXPECT_EQ(fault(second.sign(R"({"alg":"ES256","kid":"first"})", kClaims), set),
              "The token's signature is wrong");
    EXPECT_EQ(fault(second.sign(R"({"alg":"ES256","kid":"third"})", kClaims), set, kRules,
                    Errc::not_found),
              "The token is signed with an unknown key");
    EXPECT_EQ(fault(second.sign(R"({"alg":"ES256","kid":7})", kClaims), set),
              "The token's kid is not a string");
}

TEST(Jwt, IsComparedWithFewOfTheKeysThatFit) {
    std::string others = SigningKey("EdDSA", "other").jwk();
    for (std::size_t i = 0; i + 1 < kKeysTriedMax; ++i) {
        others += "," + SigningKey("ES256", fmt::format("k{}", i)).jwk();
    }
    const SigningKey last("ES256", "last");
    const SigningKey beyond("ES256", "beyond");
    const std::string unnamed = R"({"alg":"ES256"})";
    const KeySet few = keys({others, last.jwk()});
    EXPECT_TRUE(verify_token(last.sign(unnamed, kClaims), few, kRules, kNow));
    EXPECT_EQ(fault(beyond.sign(unnamed, kClaims), few), "The token's signature is wrong");
    const KeySet many = keys({others, last.jwk(), beyond.jwk()});
    EXPECT_TRUE(verify_token(last.sign(unnamed, kClaims), many, kRules, kNow));
    EXPECT_EQ(fault(beyond.sign(unnamed, kClaims), many),
              "The token does not say which of many keys it is signed with");
    EXPECT_TRUE(verify_token(beyond.sign(kClaims), many, kRules, kNow)) << "it names its key";
}

TEST(Jwt, RefusesTokensWithoutASignature) {
    const SigningKey key("RS256");
    const KeySet set = keys({key.jwk()});
    for (const char* alg : {"none", "None", "NONE", "nOnE", ""}) {
        const std::string token = test::base64url(std::string(R"({"alg":")") + alg + "\"}") + '.' +
                                  test::base64url(kClaims) + '.';
        EXPECT_EQ(fault(token, set), "The token's alg is not accepted");
    }
    const std::string token = key.sign(kClaims);
    EXPECT_EQ(fault(token.substr(0, token.rfind('.') + 1), set), "The token's signature is wrong");
}

TEST(Jwt, NeverTakesAPublicKeyForASharedSecret) {
    const SigningKey key("RS256", "k1");
    const KeySet set = keys({key.jwk()});
    // What an attacker has: the published key in any form, or no secret at all.
    for (const std::string& secret : {key.jwk(), jwk_set({key.jwk()}), std::string()}) {
        EXPECT_EQ(fault(sign_hs256(secret, kClaims), set), "The token's signature is wrong");
    }
    TokenRules rules = kRules;
    rules.secret = "0123456789abcdef0123456789abcdef";
    EXPECT_TRUE(verify_token(sign_hs256(rules.secret, kClaims), set, rules, kNow));
    EXPECT_EQ(fault(sign_hs256("another secret of thirty-two byte", kClaims), set, rules),
              "The token's signature is wrong");
}

TEST(Jwt, HoldsASignatureToItsLength) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    TokenRules rules = kRules;
    rules.secret = "0123456789abcdef0123456789abcdef";
    for (const std::string& good : {key.sign(kClaims), sign_hs256(rules.secret, kClaims)}) {
        ASSERT_TRUE(verify_token(good, set, rules, kNow));
        const std::size_t at = good.rfind('.') + 1;
        const std::string signature = *decode_base64url(good.substr(at));
        for (const std::string& other :
             {std::string(), signature.substr(1), signature.substr(0, signature.size() - 1),
              signature + signature.front(), signature + signature}) {
            EXPECT_EQ(fault(good.substr(0, at) + test::base64url(other), set, rules),
                      "The token's signature is wrong")
                << other.size();
        }
    }
}

TEST(Jwt, HoldsAKeyToItsAlgorithm) {
    const SigningKey key("RS256");
    EXPECT_EQ(fault(key.sign(R"({"alg":"RS512"})", kClaims), keys({key.jwk()})),
              "The token's signature is wrong");
    EXPECT_EQ(fault(key.sign(R"({"alg":"ES256"})", kClaims), keys({key.jwk()})),
              "The token's signature is wrong");
    // Other algorithms it could be used with; keys that declare none, as many don't, are bound by their type.
    const auto declared = [&](std::string_view as) {
        const std::string_view said = R"("alg":"RS256",)";
        std::string jwk = key.jwk();
        return keys({jwk.replace(jwk.find(said), said.size(), as)});
    };
    EXPECT_EQ(fault(key.sign(kClaims), declared(R"("alg":"RS512",)")),
              "The token's signature is wrong");
    EXPECT_EQ(fault(key.sign(kClaims), declared("")), "it was taken");
    EXPECT_EQ(fault(key.sign(R"({"alg":"EdDSA"})", kClaims), declared("")),
              "The token's signature is wrong");
}

TEST(Jwt, RefusesHeadersThatBringKeysOrAskForMore) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    for (const char* member : {"jku", "x5u", "x5c", "jwk", "crit"}) {
        const std::string header =
            std::string(R"({"alg":"ES256","kid":"k1",")") + member + R"(":["x"]})";
        EXPECT_THAT(fault(key.sign(header, kClaims), set), testing::HasSubstr(member));
    }
}

TEST(Jwt, MayNameTheKnownUrlOfItsKeysAndNoOther) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto is_taken = [&](const char* member, const char* url) {
        const std::string header =
            std::string(R"({"alg":"ES256","kid":"k1",")") + member + R"(":")" + url + R"("})";
        return verify_signature(key.sign(header, kClaims), set, kRules, "https://known")
            .has_value();
    };
    EXPECT_TRUE(is_taken("jku", "https://known"));
    EXPECT_FALSE(is_taken("jku", "https://known/"));
    EXPECT_FALSE(is_taken("x5u", "https://known"));
}

TEST(Jwt, RefusesWhatIsNoToken) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const std::string good = key.sign(kClaims);
    for (const std::string& token :
         {std::string(), std::string("a"), std::string("a.b"), std::string("a.b.c"),
          std::string("..."), good + '=', good + '\n', ' ' + good, good + ".x", '!' + good,
          test::base64url("[]") + ".e30.AA",
          test::base64url(R"({"alg":"ES256","alg":"none"})") + ".e30.AA", key.sign("not JSON"),
          key.sign("[1]"), std::string(kTokenBytesMax + 1, 'a')}) {
        EXPECT_NE(fault(token, set), "it was taken") << token.substr(0, 100);
    }
    EXPECT_EQ(fault(good + std::string(kTokenBytesMax, 'A'), set), "The token is too long");
}

TEST(Jwt, ChecksTimesWithTheLeewayAllowed) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto taken = [&](const std::string& claims) {
        return verify_token(key.sign(claims), set, {"", "", std::chrono::seconds(60), ""}, kNow)
            .has_value();
    };
    EXPECT_TRUE(taken(R"({"exp":1799999941})"));
    EXPECT_FALSE(taken(R"({"exp":1799999940})"));
    EXPECT_TRUE(taken(R"({"exp":1800000001.5})"));
    EXPECT_TRUE(taken(R"({"exp":1800000001,"nbf":1800000060,"iat":1800000060})"));
    EXPECT_FALSE(taken(R"({"exp":1800000001,"nbf":1800000061})"));
    EXPECT_FALSE(taken(R"({"exp":1800000001,"iat":1800000061})"));
    // Not a date, however far in the future it would be.
    for (const char* date : {"1e300", "1e400", "-1", "\"1800000000\"", "null"}) {
        for (const char* name : {"nbf", "iat"}) {
            EXPECT_FALSE(taken(fmt::format(R"({{"exp":1800000001,"{}":{}}})", name, date)))
                << name << date;
        }
    }
    EXPECT_EQ(fault(key.sign(R"({"scope":"x"})"), set, {}), "The token has no exp");
    EXPECT_FALSE(taken(R"({"exp":"1800000001"})"));
    EXPECT_FALSE(taken(R"({"exp":1e300})"));
    EXPECT_FALSE(taken(R"({"exp":-1})"));
    EXPECT_EQ(fault(key.sign(R"({"exp":1700000000})"), set, {}, Errc::credentials_expired), "");
}

TEST(Jwt, ChecksIssuerAndAudience) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto fault_of = [&](const std::string& claims) { return fault(key.sign(claims), set); };
    EXPECT_EQ(fault_of(R"({"exp":1800000300,"aud":"https://server/fhir"})"),
              "The token was issued by a different issuer");
    EXPECT_EQ(fault_of(R"({"exp":1800000300,"iss":"https://issuer/","aud":"https://server/fhir"})"),
              "The token was issued by a different issuer");
    EXPECT_EQ(fault_of(R"({"exp":1800000300,"iss":"https://issuer"})"),
              "The token is for a different audience");
    EXPECT_EQ(fault_of(R"({"exp":1800000300,"iss":"https://issuer","aud":["x","https://server"]})"),
              "The token is for a different audience");
    EXPECT_EQ(
        fault_of(R"({"exp":1800000300,"iss":"https://issuer","aud":["x","https://server/fhir"]})"),
        "it was taken");
}

TEST(Jwt, TellsItselfFromOtherTokens) {
    const SigningKey key("ES256");
    EXPECT_TRUE(is_jwt(key.sign(kClaims)));
    for (const std::string& token :
         {std::string(), std::string("2YotnFZFEjr1zCsicMWpAA"), std::string("v2.local.c29tZQ"),
          std::string(".."), "x." + key.sign(kClaims),
          // An encrypted token: five parts.
          key.sign(kClaims) + ".a.b", std::string(kTokenBytesMax + 1, '.')}) {
        EXPECT_FALSE(is_jwt(token)) << token;
    }
}

TEST(Jwt, SaysWhoseItClaimsToBe) {
    const SigningKey key("ES256");
    EXPECT_EQ(*unverified_issuer(key.sign(kClaims)), "https://issuer");
    EXPECT_EQ(*unverified_issuer(key.sign(R"({"iss":["https://issuer"]})")), "");
    EXPECT_EQ(*unverified_issuer(key.sign("[1]")), "");
    EXPECT_FALSE(unverified_issuer(key.sign("not JSON")));
    EXPECT_FALSE(unverified_issuer("a.b"));
}

TEST(Jwt, ReadsScopesAsTextOrList) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto scopes = [&](const std::string& more) {
        return verify_token(key.sign(claims_with(more)), set, kRules, kNow)->scopes;
    };
    EXPECT_EQ(scopes(R"(,"scope":"a b")"), "a b");
    EXPECT_EQ(scopes(R"(,"scope":["a","b"])"), "a b ");
    EXPECT_EQ(scopes(R"(,"scp":["a"])"), "a ");
    EXPECT_EQ(scopes(""), "");
}

TEST(Jwt, SaysWhoseItIs) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto name = [&](const std::string& more) {
        return verify_token(key.sign(claims_with(more)), set, kRules, kNow)->name;
    };
    EXPECT_EQ(name(R"(,"azp":"c","client_id":"b","sub":"a")"), "a");
    EXPECT_EQ(name(R"(,"azp":"c","client_id":"b","sub":7)"), "b");
    EXPECT_EQ(name(R"(,"azp":"c","client_id":["b"])"), "c");
    EXPECT_EQ(name(R"(,"azp":null)"), "");
}

TEST(Jwt, KeepsLongSubjectsApart) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto name = [&](const std::string& sub) {
        const auto claims =
            verify_token(key.sign(claims_with(R"(,"sub":")" + sub + "\"")), set, kRules, kNow);
        return claims ? claims->name : claims.error().detail;
    };
    const std::string whole(256, 'x');
    EXPECT_EQ(name(whole), whole);
    EXPECT_THAT(name(whole + "1"), testing::StartsWith(std::string(200, 'x') + '~'));
    EXPECT_GT(name(whole + "1").size(), whole.size());
    EXPECT_NE(name(whole + "1"), name(whole + "2"));
    // No partial character is left.
    const std::string before(199, 'x');
    EXPECT_THAT(name(before + "\u00e9" + whole), testing::StartsWith(before + '~'));
}

TEST(Jwt, SaysWhichPatientItIsFor) {
    const SigningKey key("ES256");
    const KeySet set = keys({key.jwk()});
    const auto patient = [&](const std::string& more) {
        return verify_token(key.sign(claims_with(more)), set, kRules, kNow)->patient;
    };
    EXPECT_EQ(patient(R"(,"patient":"a-1")"), "a-1");
    EXPECT_EQ(patient(R"(,"patient":"Patient/a-1")"), "a-1");
    for (const char* more :
         {"", R"(,"patient":"")", R"(,"patient":1)", R"(,"patient":["a"])", R"(,"patient":"a/b")",
          R"(,"patient":"Group/a")", R"(,"patient":"a b")"}) {
        EXPECT_EQ(patient(more), "") << more;
    }
}

TEST(KeySet, PassesOverKeysOfNoUseHere) {
    const SigningKey weak("RS256", "weak", 1024);
    const SigningKey good("RS256", "good");
    // With this exponent anybody could sign: a signature to the power of one is what it signs.
    const auto with_exponent = [&](const char* exponent) {
        std::string jwk = good.jwk();
        return jwk.replace(jwk.find("AQAB"), 4, exponent);
    };
    const KeySet set =
        keys({weak.jwk(), good.jwk(), good.jwk(R"(,"use":"enc")"), with_exponent("AQ"),
              // An even exponent, and one that takes long.
              with_exponent("AQAA"), with_exponent("AQAAAAE"), R"({"kty":"oct","k":"c2VjcmV0"})",
              R"({"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"})",
              // A key with values that aren't padded, and one without its numbers.
              R"({"kty":"EC","crv":"P-256","x":"AA","y":"AA"})", R"({"kty":"RSA"})"});
    EXPECT_EQ(set.keys().size(), 1U);
    EXPECT_TRUE(set.has("good"));
    EXPECT_FALSE(set.has("weak"));
    // Keys that only have other curves or are too large are not taken for broken ones, either.
    const std::string large = std::string(1366, '_') + '8';  // 8,200 bits
    const KeySet others = keys({R"({"kty":"RSA","e":"AQAB","n":")" + large + "\"}",
                                R"({"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"})",
                                R"({"kty":"OKP","crv":"X25519","x":"AA"})"});
    EXPECT_TRUE(others.keys().empty());
}

TEST(KeySet, RefusesWhatIsNoKeySet) {
    std::string many = R"({"keys":[{})";
    for (std::size_t i = 0; i < kKeysMax; ++i) {
        many += ",{}";
    }
    const std::string zeros(43, 'A');
    for (const std::string& text :
         {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"keys":1})"),
          many + "]}", std::string(R"({"keys":[{"kty":"RSA","n":"","e":"AQAB"}]})"),
          std::string(R"({"keys":[{"kty":"RSA","n":"!","e":"AQAB"}]})"),
          // A point off the curve.
          R"({"keys":[{"kty":"EC","crv":"P-256","x":")" + zeros + R"(","y":")" + zeros + "\"}]}",
          std::string(R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]})")}) {
        EXPECT_FALSE(KeySet::read(text)) << text.substr(0, 100);
    }
}

}  // namespace
}  // namespace annals::net::auth
