#include "net/auth/jwt.h"

#include "codec/json/document.h"
#include "core/base/base64.h"
#include "core/base/owned.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <array>
#include <optional>

namespace annals::net::auth {

namespace {

enum class Signature : std::uint8_t { pkcs1, pss, ecdsa, eddsa, hmac };

struct Algorithm {
    std::string_view name;
    Signature signature;
    const EVP_MD* (*digest)();  // null: part of the algorithm
    KeyKind kind;
    std::size_t field_bytes;  // for ECDSA
};

constexpr auto kAlgorithms = std::to_array<Algorithm>({
    {"RS256", Signature::pkcs1, EVP_sha256, KeyKind::rsa, 0},
    {"RS384", Signature::pkcs1, EVP_sha384, KeyKind::rsa, 0},
    {"RS512", Signature::pkcs1, EVP_sha512, KeyKind::rsa, 0},
    {"PS256", Signature::pss, EVP_sha256, KeyKind::rsa, 0},
    {"PS384", Signature::pss, EVP_sha384, KeyKind::rsa, 0},
    {"PS512", Signature::pss, EVP_sha512, KeyKind::rsa, 0},
    {"ES256", Signature::ecdsa, EVP_sha256, KeyKind::p256, 32},
    {"ES384", Signature::ecdsa, EVP_sha384, KeyKind::p384, 48},
    {"ES512", Signature::ecdsa, EVP_sha512, KeyKind::p521, 66},
    {"EdDSA", Signature::eddsa, nullptr, KeyKind::ed25519, 0},
    {"HS256", Signature::hmac, EVP_sha256, KeyKind::rsa, 0},
});

const unsigned char* bytes(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

const Algorithm* find_algorithm(std::string_view name) noexcept {
    for (const Algorithm& algorithm : kAlgorithms) {
        if (algorithm.name == name) {
            return &algorithm;
        }
    }
    return nullptr;
}

bool fits(const Algorithm& algorithm, const Key& key) noexcept {
    const bool kind = key.kind == algorithm.kind ||
                      (algorithm.signature == Signature::eddsa && key.kind == KeyKind::ed448);
    return kind && (key.algorithm.empty() || key.algorithm == algorithm.name);
}

// In tokens, ECDSA signatures are two numbers in a row; OpenSSL expects DER.
std::optional<std::string> der_of(std::string_view signature, std::size_t field_bytes) {
    if (signature.size() != field_bytes * 2) {
        return std::nullopt;
    }
    const int size = static_cast<int>(field_bytes);
    const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(ECDSA_SIG_new());
    ECDSA_SIG_set0(pair.get(), BN_bin2bn(bytes(signature), size, nullptr),
                   BN_bin2bn(bytes(signature.substr(field_bytes)), size, nullptr));
    unsigned char* der = nullptr;
    const int der_size = i2d_ECDSA_SIG(pair.get(), &der);
    if (der_size <= 0) {
        return std::nullopt;
    }
    std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(der_size));
    OPENSSL_free(der);
    return out;
}

bool is_signed_by(const Key& key, const Algorithm& algorithm, std::string_view text,
                  std::string_view signature) {
    std::optional<std::string> der;
    if (algorithm.signature == Signature::ecdsa) {
        der = der_of(signature, algorithm.field_bytes);
        if (!der) {
            return false;
        }
        signature = *der;
    }
    const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    EVP_PKEY_CTX* options = nullptr;  // belongs to the context
    bool good = EVP_DigestVerifyInit(context.get(), &options,
                                     algorithm.digest != nullptr ? algorithm.digest() : nullptr,
                                     nullptr, key.key.get()) == 1;
    if (good && algorithm.signature == Signature::pss) {
        good = EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1 &&
               EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1;
    }
    good = good && EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text),
                                    text.size()) == 1;
    ERR_clear_error();
    return good;
}

bool is_signed_with(const std::string& secret, std::string_view text, std::string_view signature) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> right;
    unsigned size = 0;
    return HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes(text),
                text.size(), right.data(), &size) != nullptr &&
           signature.size() == size && CRYPTO_memcmp(right.data(), signature.data(), size) == 0;
}

struct Parts {
    std::string header;
    std::string claims;
    std::string signature;
    std::string_view signed_text;
};

Result<void> check_signature(const Parts& token, json::Value header, const Algorithm& algorithm,
                             const KeySet& keys, const TokenRules& rules) {
    if (algorithm.signature == Signature::hmac) {
        // Only with the secret: a public key is never used as one.
        if (rules.secret.empty() ||
            !is_signed_with(rules.secret, token.signed_text, token.signature)) {
            return bad_credentials("The token's signature is wrong");
        }
        return {};
    }
    const json::Value id = header["kid"];
    const std::string name = id.string();
    if (id && name.empty()) {
        return bad_credentials("The token's kid is not a string");
    }
    if (id && !keys.has(name)) {
        return Error{Errc::not_found, "The token is signed with an unknown key"};
    }
    std::size_t tried = 0;
    for (const Key& key : keys.keys()) {
        if ((id && key.id != name) || !fits(algorithm, key)) {
            continue;
        }
        if (tried++ == kKeysTriedMax) {
            return bad_credentials("The token does not say which of many keys it is signed with");
        }
        if (is_signed_by(key, algorithm, token.signed_text, token.signature)) {
            return {};
        }
    }
    return bad_credentials("The token's signature is wrong");
}

/// Lifetime: views point into `token`.
Result<Parts> split(std::string_view token) {
    if (token.size() > kTokenBytesMax) {
        return bad_credentials("The token is too long");
    }
    const std::size_t first = token.find('.');
    const std::size_t second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (second == std::string_view::npos) {
        return bad_credentials("The credentials are not a JSON Web Token");
    }
    auto header = decode_base64url(token.substr(0, first));
    auto claims = decode_base64url(token.substr(first + 1, second - first - 1));
    auto signature = decode_base64url(token.substr(second + 1));
    if (!header || !claims || !signature) {
        return bad_credentials("The token is not encoded in base64url");
    }
    return Parts{*std::move(header), *std::move(claims), *std::move(signature),
                 token.substr(0, second)};
}

}  // namespace

bool is_jwt(std::string_view token) {
    if (token.size() > kTokenBytesMax || std::count(token.begin(), token.end(), '.') != 2) {
        return false;
    }
    const auto header = decode_base64url(token.substr(0, token.find('.')));
    return header && header->starts_with('{');
}

Result<std::string> unverified_issuer(std::string_view token) {
    ANNALS_TRY(const Parts parts, split(token));
    json::Parser parser;
    const auto claims = parser.parse(parts.claims);
    if (!claims) {
        return bad_credentials("The token's claims are not valid JSON");
    }
    return claims->root()["iss"].string();
}

Result<std::string> verify_signature(std::string_view token, const KeySet& keys,
                                     const TokenRules& rules, std::string_view key_url) {
    ANNALS_TRY(Parts parts, split(token));
    json::Parser parser;
    const auto header = parser.parse(parts.header);
    if (!header || !header->root().is_object()) {
        return bad_credentials("The token's header is not a JSON object");
    }
    // A header that contains its own key, or says where to get it, is a known attack; crit requires
    // extensions that are not supported here.
    for (const char* member : {"jku", "x5u", "jwk", "x5c", "crit"}) {
        const json::Value value = header->root()[member];
        const bool known =
            member == std::string_view("jku") && !key_url.empty() && value.equals(key_url);
        if (value && !known) {
            return bad_credentials(
                fmt::format("A token with {} in its header is not accepted", member));
        }
    }
    const Algorithm* const algorithm = find_algorithm(header->root()["alg"].string());
    if (algorithm == nullptr) {
        return bad_credentials("The token's alg is not accepted");
    }
    ANNALS_TRY_VOID(check_signature(parts, header->root(), *algorithm, keys, rules));
    return std::move(parts.claims);
}

Result<Claims> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                            Instant now) {
    ANNALS_TRY(const std::string text, verify_signature(token, keys, rules));
    json::Parser parser;
    const auto claims = parser.parse(text);
    if (!claims) {
        return bad_credentials("The token's claims are not valid JSON");
    }
    return check_claims(claims->root(), rules, now);
}

}  // namespace annals::net::auth
