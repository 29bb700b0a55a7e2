#include "net/auth/key_set.h"

#include "codec/json/document.h"
#include "core/base/base64.h"
#include "core/base/log.h"
#include "core/base/owned.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <optional>

namespace annals::net::auth {

namespace {

constexpr std::size_t kNumberBytesMax = 2049;  // larger ones are skipped at once

using Number = Owned<BIGNUM, BN_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using Context = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;

std::optional<std::string> bytes_of(json::Value key, std::string_view member) {
    auto bytes = decode_base64url(key[member].string());
    if (!bytes || bytes->empty() || bytes->size() > kNumberBytesMax) {
        return std::nullopt;
    }
    return bytes;
}

Number number_of(const std::string& bytes) {
    return Number(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                            static_cast<int>(bytes.size()), nullptr));
}

std::shared_ptr<EVP_PKEY> make_key(const char* type, const Builder& builder) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(builder.get()));
    const Context context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (parameters != nullptr && context != nullptr && EVP_PKEY_fromdata_init(context.get()) == 1) {
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get());
    }
    return {key, EVP_PKEY_free};
}

/// With the exponent one, a signature is the message itself; an even one can't sign, and a large one is slow to verify.
bool is_exponent(const BIGNUM* number) {
    return BN_is_odd(number) == 1 && BN_is_one(number) == 0 &&
           BN_num_bits(number) <= kRsaExponentBitsMax;
}

std::shared_ptr<EVP_PKEY> rsa_key(json::Value jwk) {
    const auto modulus = bytes_of(jwk, "n");
    const auto exponent = bytes_of(jwk, "e");
    if (!modulus || !exponent) {
        return nullptr;
    }
    const Number n = number_of(*modulus);
    const Number e = number_of(*exponent);
    if (!is_exponent(e.get())) {
        return nullptr;
    }
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
    // Not EVP_PKEY_public_check(): it takes more than a second to check a modulus of 16,384 bits.
    return make_key("RSA", builder);
}

std::shared_ptr<EVP_PKEY> ec_key(json::Value jwk, const char* group, std::size_t field_bytes) {
    const auto x = bytes_of(jwk, "x");
    const auto y = bytes_of(jwk, "y");
    if (!x || !y || x->size() != field_bytes || y->size() != field_bytes) {
        return nullptr;
    }
    const std::string point = '\x04' + *x + *y;  // uncompressed
    const Builder builder(OSSL_PARAM_BLD_new());
    OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, group, 0);
    OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                     point.size());
    std::shared_ptr<EVP_PKEY> key = make_key("EC", builder);
    // A point off the curve is not a valid key.
    const Context check(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
    return check != nullptr && EVP_PKEY_public_check(check.get()) == 1 ? key : nullptr;
}

std::shared_ptr<EVP_PKEY> edwards_key(json::Value jwk, int type) {
    const auto x = bytes_of(jwk, "x");
    return x ? std::shared_ptr<EVP_PKEY>(
                   EVP_PKEY_new_raw_public_key(
                       type, nullptr, reinterpret_cast<const unsigned char*>(x->data()), x->size()),
                   EVP_PKEY_free)
             : nullptr;
}

/// A key of a supported kind, or nothing; `key.key` is null if it is invalid.
std::optional<Key> read_key(json::Value jwk) {
    Key key;
    key.id = jwk["kid"].string();
    key.algorithm = jwk["alg"].string();
    const std::string type = jwk["kty"].string();
    const std::string curve = jwk["crv"].string();
    if (const json::Value use = jwk["use"]; use && !use.equals("sig")) {
        return std::nullopt;
    }
    if (type == "RSA") {
        key.kind = KeyKind::rsa;
        key.key = rsa_key(jwk);
        const int bits = key.key == nullptr ? 0 : EVP_PKEY_get_bits(key.key.get());
        if (key.key != nullptr && (bits < kRsaBitsMin || bits > kRsaBitsMax)) {
            return std::nullopt;
        }
    } else if (type == "EC" && curve == "P-256") {
        key.kind = KeyKind::p256;
        key.key = ec_key(jwk, "P-256", 32);
    } else if (type == "EC" && curve == "P-384") {
        key.kind = KeyKind::p384;
        key.key = ec_key(jwk, "P-384", 48);
    } else if (type == "EC" && curve == "P-521") {
        key.kind = KeyKind::p521;
        key.key = ec_key(jwk, "P-521", 66);
    } else if (type == "OKP" && curve == "Ed25519") {
        key.kind = KeyKind::ed25519;
        key.key = edwards_key(jwk, EVP_PKEY_ED25519);
    } else if (type == "OKP" && curve == "Ed448") {
        key.kind = KeyKind::ed448;
        key.key = edwards_key(jwk, EVP_PKEY_ED448);
    } else {
        return std::nullopt;
    }
    return key;
}

}  // namespace

Result<KeySet> KeySet::read(std::string_view text) {
    json::Parser parser;
    const auto document = parser.parse(text);
    if (!document) {
        return Error{Errc::invalid, "not JSON: " + document.error().detail};
    }
    const json::Value list = document->root()["keys"];
    if (!list.is_array()) {
        return Error{Errc::invalid, "not a JWK Set: it has no array of keys"};
    }
    if (list.size() > kKeysMax) {
        return Error{Errc::invalid, fmt::format("more than {} keys", kKeysMax)};
    }
    KeySet set;
    std::optional<std::string> broken;
    for (const json::Value jwk : list.elements()) {
        std::optional<Key> key = read_key(jwk);
        if (key && key->key != nullptr) {
            set.keys_.push_back(*std::move(key));
            continue;
        }
        if (key) {
            ERR_clear_error();
            broken = std::move(key->id);
        }
    }
    // It must not prevent the others from being used (RFC 7517, section 5).
    if (set.keys_.empty() && broken) {
        return Error{Errc::invalid, fmt::format("the key '{}' is not valid", *broken)};
    }
    return set;
}

bool KeySet::has(std::string_view id) const noexcept {
    return std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) { return key.id == id; });
}

void warn_of_no_keys(std::string_view whose, const KeySet& keys) {
    if (keys.keys().empty()) {
        log_warning(fmt::format("{}: there is no key that can verify tokens", whose));
    }
}

}  // namespace annals::net::auth
