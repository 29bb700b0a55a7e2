// KeySet: the public keys that verify tokens, read from a JWK Set.
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

/// The kind of signatures that a key can verify.
enum class KeyKind : std::uint8_t { rsa, p256, p384, p521, ed25519, ed448 };

struct Key {
    std::string id;         ///< kid; may be empty
    std::string algorithm;  ///< alg; empty: any that fits its kind
    KeyKind kind = KeyKind::rsa;
    std::shared_ptr<EVP_PKEY> key;
};

inline constexpr std::size_t kKeysMax = 100;
inline constexpr int kRsaBitsMin = 2048;
// The keys come from others, and several of a set may be tried: this bounds the cost of each.
inline constexpr int kRsaBitsMax = 8192;
inline constexpr int kRsaExponentBitsMax = 32;

class KeySet {
  public:
    /// Reads `{"keys":[...]}`. Keys that can't verify signatures here are skipped: other types and curves, encryption
    /// keys, symmetric ones, RSA below kRsaBitsMin or above kRsaBitsMax, and, if there are others, those whose
    /// numbers are not a valid key.
    /// Errors: invalid (not a JWK Set; more than kKeysMax keys; no key that can be used, and an invalid one).
    static Result<KeySet> read(std::string_view text);

    const std::vector<Key>& keys() const noexcept { return keys_; }

    /// Whether some key has this id.
    bool has(std::string_view id) const noexcept;

  private:
    std::vector<Key> keys_;
};

/// Logs a warning if `keys`, which are those of `whose`, are none: then nobody's token can be verified.
void warn_of_no_keys(std::string_view whose, const KeySet& keys);

}  // namespace annals::net::auth
