// TokenSigner: the private key that signs this server's own tokens.
//
// Layer:   net/auth.
// Spec:    RFC 7515, 7517, 7518 (ES256, ES384), 7638 (the key's id).
// Threads: immutable; sign() from any thread.

#pragma once

#include "core/base/result.h"

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace annals::net::auth {

class TokenSigner {
  public:
    /// A new key on the curve P-256.
    static Result<TokenSigner> generate();

    /// The key in the text of a PEM file: P-256 or P-384, without a password. Errors: invalid,
    /// without quoting the text.
    static Result<TokenSigner> read(const std::string& pem);

    /// The public key as a JWK Set.
    const std::string& jwk_set() const noexcept { return jwk_set_; }

    /// A JSON Web Token with these claims, a JSON object. `type`: its typ. Errors: io (the library failed).
    Result<std::string> sign(std::string_view type, std::string_view claims) const;

  private:
    struct Curve;

    static Result<TokenSigner> of(std::shared_ptr<EVP_PKEY> key);

    std::shared_ptr<EVP_PKEY> key_;
    const Curve* curve_ = nullptr;
    std::string id_;
    std::string jwk_set_;
};

}  // namespace annals::net::auth
