// KeySet: the public keys that tokens are signed with, read from a JWK Set.
//
// Layer:   net/auth.
// Spec:    RFC 7517 (JWK), RFC 7518 section 6, RFC 8037 (OKP).
// Threads: immutable once read.

#pragma once

#include "core/base/result.h"

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annals::net::auth {

/// Which signatures a key can make.
enum class KeyKind : std::uint8_t { rsa, p256, p384, p521, ed25519, ed448 };

struct Key {
    std::string id;         ///< kid; may be empty
    std::string algorithm;  ///< alg; empty: any that fits its kind
    KeyKind kind = KeyKind::rsa;
    std::shared_ptr<EVP_PKEY> key;
};

inline constexpr std::size_t kKeysMax = 100;
inline constexpr int kRsaBitsMin = 2048;
// Others publish such keys, and every key of a set may be tried: what one costs is bounded.
inline constexpr int kRsaBitsMax = 8192;
inline constexpr int kRsaExponentBitsMax = 32;

class KeySet {
  public:
    /// Reads `{"keys":[...]}`. Keys that can't verify signatures here are passed over: other types and curves, for
    /// encryption, symmetric, RSA below kRsaBitsMin or above kRsaBitsMax, and beside others such whose numbers make no key;
    /// `passed_over` counts them.
    /// Errors: invalid (no JWK Set; more than kKeysMax keys; nothing but keys that are none).
    static Result<KeySet> read(std::string_view text);

    const std::vector<Key>& keys() const noexcept { return keys_; }

    std::size_t passed_over() const noexcept { return passed_over_; }

    /// Whether any key has this id.
    bool has(std::string_view id) const noexcept;

  private:
    std::vector<Key> keys_;
    std::size_t passed_over_ = 0;
};

}  // namespace annals::net::auth
