#include "net/auth/token_signer.h"

#include "core/base/base64.h"
#include "core/base/owned.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <optional>

namespace annals::net::auth {

struct TokenSigner::Curve {
    std::string_view group;  ///< OpenSSL's name
    std::string_view name;   ///< crv
    std::string_view algorithm;
    const EVP_MD* (*digest)();
    int field_bytes;
};

namespace {

/// No password is ever asked for.
int no_password(char*, int, int, void*) {
    return -1;
}

std::string padded(const BIGNUM* number, int bytes) {
    std::string out(static_cast<std::size_t>(bytes), '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), bytes);
    return out;
}

/// A coordinate of the public point in base64url; none if the key has none.
std::optional<std::string> coordinate(const EVP_PKEY* key, const char* name, int bytes) {
    BIGNUM* value = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &value) != 1) {
        return std::nullopt;
    }
    const Owned<BIGNUM, BN_free> owner(value);
    return encode_base64url(padded(value, bytes));
}

/// Converts a signature from DER to the form in tokens: two numbers in a row.
std::optional<std::string> side_by_side(const std::string& der, int field_bytes) {
    const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
    const Owned<ECDSA_SIG, ECDSA_SIG_free> pair(
        d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(der.size())));
    if (pair == nullptr) {
        return std::nullopt;
    }
    return padded(ECDSA_SIG_get0_r(pair.get()), field_bytes) +
           padded(ECDSA_SIG_get0_s(pair.get()), field_bytes);
}

std::string digest_of(std::string_view text) {
    std::string out(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(out.data()), &size,
               EVP_sha256(), nullptr);
    out.resize(size);
    return out;
}

}  // namespace

Result<TokenSigner> TokenSigner::of(std::shared_ptr<EVP_PKEY> key) {
    static constexpr auto kCurves = std::to_array<Curve>({
        {"prime256v1", "P-256", "ES256", EVP_sha256, 32},
        {"secp384r1", "P-384", "ES384", EVP_sha384, 48},
    });
    std::array<char, 64> group{};
    std::size_t size = 0;
    TokenSigner signer;
    if (key != nullptr &&
        EVP_PKEY_get_group_name(key.get(), group.data(), group.size(), &size) == 1) {
        for (const Curve& curve : kCurves) {
            signer.curve_ =
                curve.group == std::string_view(group.data(), size) ? &curve : signer.curve_;
        }
    }
    ERR_clear_error();
    if (signer.curve_ == nullptr) {
        return Error{Errc::invalid, "it has no private key on the curve P-256 or P-384"};
    }
    const Curve& curve = *signer.curve_;
    const auto x = coordinate(key.get(), OSSL_PKEY_PARAM_EC_PUB_X, curve.field_bytes);
    const auto y = coordinate(key.get(), OSSL_PKEY_PARAM_EC_PUB_Y, curve.field_bytes);
    if (!x || !y) {
        return Error{Errc::invalid, "its key has no public part"};
    }
    // The members that RFC 7638 hashes, in its order.
    const std::string members =
        fmt::format(R"("crv":"{}","kty":"EC","x":"{}","y":"{}")", curve.name, *x, *y);
    signer.id_ = encode_base64url(digest_of("{" + members + "}"));
    signer.jwk_set_ = fmt::format(R"({{"keys":[{{"kid":"{}","alg":"{}","use":"sig",{}}}]}})",
                                  signer.id_, curve.algorithm, members);
    signer.key_ = std::move(key);
    return signer;
}

Result<TokenSigner> TokenSigner::generate() {
    return of({EVP_EC_gen("P-256"), EVP_PKEY_free});
}

Result<TokenSigner> TokenSigner::read(const std::string& pem) {
    const Owned<BIO, BIO_free> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
    return of({PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr), EVP_PKEY_free});
}

Result<std::string> TokenSigner::sign(std::string_view type, std::string_view claims) const {
    const std::string header =
        fmt::format(R"({{"typ":"{}","alg":"{}","kid":"{}"}})", type, curve_->algorithm, id_);
    std::string token = encode_base64url(header) + '.' + encode_base64url(claims);
    const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
    std::string der(256, '\0');
    std::size_t size = der.size();
    const bool signed_well =
        EVP_DigestSignInit(context.get(), nullptr, curve_->digest(), nullptr, key_.get()) == 1 &&
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(der.data()), &size,
                       reinterpret_cast<const unsigned char*>(token.data()), token.size()) == 1;
    ERR_clear_error();
    der.resize(signed_well ? size : 0);
    const auto signature = side_by_side(der, curve_->field_bytes);
    if (!signature) {
        return Error{Errc::io, "a token could not be signed"};
    }
    return token + '.' + encode_base64url(*signature);
}

}  // namespace annals::net::auth
