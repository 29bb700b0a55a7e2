// Generated keys and tokens signed with them, for tests of authentication.

#pragma once

#include "core/base/instant.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace annals::test {

std::string base64url(std::string_view bytes);

/// A private key for signatures with one algorithm: "RS256", "PS384", "ES512", "EdDSA", ...
class SigningKey {
  public:
    /// `bits`: for RSA; `curve`: for EdDSA, "ED25519" or "ED448".
    explicit SigningKey(std::string algorithm, std::string id = "k1", unsigned bits = 2048,
                        std::string curve = "ED25519");

    /// The public key as a JWK; `more` is inserted as it is: `,"use":"sig"`.
    std::string jwk(const std::string& more = {}) const;

    /// A token with this header, which must include alg, and these claims.
    std::string sign(const std::string& header, const std::string& claims) const;

    /// The same with an ordinary header: alg and kid.
    std::string sign(const std::string& claims) const;

    const std::string& id() const { return id_; }

  private:
    std::string algorithm_;
    std::string id_;
    std::shared_ptr<EVP_PKEY> key_;
};

/// `{"keys":[...]}`.
std::string jwk_set(std::initializer_list<std::string> keys);

struct EndingToken {
    std::string text;
    std::int64_t end = 0;  ///< in seconds since 1970
};

/// A token that ends in one or two seconds, but has been accepted; on a machine that takes longer until then, it ends later.
template <typename IsAccepted>
EndingToken accepted_token_that_ends(const SigningKey& key, std::string_view scope,
                                     const IsAccepted& is_accepted) {
    EndingToken token;
    for (std::int64_t seconds = 2; seconds < 100; seconds *= 2) {
        token.end = now().us / 1'000'000 + seconds;
        token.text = key.sign(fmt::format(R"({{"exp":{},"scope":"{}"}})", token.end, scope));
        if (is_accepted(token.text)) {
            return token;
        }
    }
    ADD_FAILURE() << "no token is accepted";
    return token;
}

/// A token signed with HMAC-SHA-256.
std::string sign_hs256(const std::string& secret, const std::string& claims);

}  // namespace annals::test
