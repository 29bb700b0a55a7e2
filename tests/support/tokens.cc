#include "tests/support/tokens.h"

#include "core/base/base64.h"
#include "core/base/check.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

namespace annals::test {

namespace {

const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string number(EVP_PKEY* key, const char* name, int size = 0) {
    BIGNUM* value = nullptr;
    ANNALS_CHECK(EVP_PKEY_get_bn_param(key, name, &value) == 1);
    std::string out(static_cast<std::size_t>(size > 0 ? size : BN_num_bytes(value)), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size()));
    BN_free(value);
    return base64url(out);
}

const EVP_MD* digest_of(const std::string& algorithm) {
    if (algorithm == "EdDSA") {
        return nullptr;
    }
    const std::string bits = algorithm.substr(2);
    return bits == "256" ? EVP_sha256() : bits == "384" ? EVP_sha384() : EVP_sha512();
}

int field_bytes(const std::string& algorithm) {
    return algorithm == "ES256" ? 32 : algorithm == "ES384" ? 48 : 66;
}

}  // namespace

std::string base64url(std::string_view bytes) {
    return encode_base64url(bytes);
}

SigningKey::SigningKey(std::string algorithm, std::string id, unsigned bits, std::string curve)
    : algorithm_(std::move(algorithm)), id_(std::move(id)) {
    EVP_PKEY* key = nullptr;
    if (algorithm_ == "EdDSA") {
        key = EVP_PKEY_Q_keygen(nullptr, nullptr, curve.c_str());
    } else if (algorithm_.starts_with("ES")) {
        key = EVP_EC_gen(algorithm_ == "ES256"   ? "P-256"
                         : algorithm_ == "ES384" ? "P-384"
                                                 : "P-521");
    } else {
        key = EVP_RSA_gen(bits);
    }
    ANNALS_CHECK(key != nullptr);
    key_.reset(key, EVP_PKEY_free);
}

std::string SigningKey::jwk(const std::string& more) const {
    EVP_PKEY* const key = key_.get();
    std::string text = R"({"kid":")" + id_ + R"(","alg":")" + algorithm_ + '"';
    if (algorithm_ == "EdDSA") {
        std::size_t size = 100;
        std::string x(size, '\0');
        EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(x.data()), &size);
        text += std::string(R"(,"kty":"OKP","crv":")") + (size == 32 ? "Ed25519" : "Ed448") +
                R"(","x":")" + base64url(x.substr(0, size)) + '"';
    } else if (algorithm_.starts_with("ES")) {
        const int size = field_bytes(algorithm_);
        text += std::string(R"(,"kty":"EC","crv":"P-)") +
                (size == 66   ? "521"
                 : size == 48 ? "384"
                              : "256") +
                R"(","x":")" + number(key, OSSL_PKEY_PARAM_EC_PUB_X, size) + R"(","y":")" +
                number(key, OSSL_PKEY_PARAM_EC_PUB_Y, size) + '"';
    } else {
        text += R"(,"kty":"RSA","n":")" + number(key, OSSL_PKEY_PARAM_RSA_N) + R"(","e":")" +
                number(key, OSSL_PKEY_PARAM_RSA_E) + '"';
    }
    return text + more + '}';
}

std::string SigningKey::sign(const std::string& header, const std::string& claims) const {
    const std::string text = base64url(header) + '.' + base64url(claims);
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EVP_PKEY_CTX* options = nullptr;
    ANNALS_CHECK(
        EVP_DigestSignInit(context, &options, digest_of(algorithm_), nullptr, key_.get()) == 1);
    if (algorithm_.starts_with("PS")) {
        EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING);
        EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST);
    }
    std::size_t size = 4096;
    std::string signature(size, '\0');
    ANNALS_CHECK(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                                bytes(text), text.size()) == 1);
    EVP_MD_CTX_free(context);
    signature.resize(size);
    if (algorithm_.starts_with("ES")) {
        const unsigned char* der = bytes(signature);
        ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(size));
        const int field = field_bytes(algorithm_);
        std::string raw(static_cast<std::size_t>(field) * 2, '\0');
        BN_bn2binpad(ECDSA_SIG_get0_r(pair), reinterpret_cast<unsigned char*>(raw.data()), field);
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), reinterpret_cast<unsigned char*>(raw.data()) + field,
                     field);
        ECDSA_SIG_free(pair);
        signature = raw;
    }
    return text + '.' + base64url(signature);
}

std::string SigningKey::sign(const std::string& claims) const {
    return sign(R"({"typ":"JWT","alg":")" + algorithm_ + R"(","kid":")" + id_ + R"("})", claims);
}

std::string jwk_set(std::initializer_list<std::string> keys) {
    std::string text = R"({"keys":[)";
    for (const std::string& key : keys) {
        text += (text.ends_with('}') ? "," : "") + key;
    }
    return text + "]}";
}

std::string sign_hs256(const std::string& secret, const std::string& claims) {
    const std::string text = base64url(R"({"alg":"HS256"})") + '.' + base64url(claims);
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes(text), text.size(),
         mac, &size);
    return text + '.' + base64url({reinterpret_cast<const char*>(mac), size});
}

}  // namespace annals::test
