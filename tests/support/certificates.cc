#include "tests/support/certificates.h"

#include "core/base/check.h"
#include "core/base/owned.h"
#include "tests/support/temporary_directory.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>

namespace annals::test {

namespace {

void add_extension(X509* certificate, int nid, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
    ANNALS_CHECK(extension != nullptr);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

}  // namespace

Certificate::Certificate(const std::string& common_name, const Certificate* issuer,
                         const char* curve)
    : key_(EVP_EC_gen(curve), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    X509* const x509 = certificate_.get();
    X509_set_version(x509, X509_VERSION_3);
    std::uint32_t serial = 0;
    RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 24L * 3600);
    X509_set_pubkey(x509, key_.get());
    X509_NAME* const name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                               0);
    X509_set_issuer_name(x509,
                         issuer == nullptr ? name : X509_get_subject_name(issuer->certificate()));
    add_extension(x509, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(x509, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    ANNALS_CHECK(X509_sign(x509, issuer == nullptr ? key_.get() : issuer->key(), EVP_sha256()) > 0);
}

void Certificate::write(const std::string& certificate_file, const std::string& key_file) const {
    std::FILE* file = std::fopen(certificate_file.c_str(), "w");
    ANNALS_CHECK(file != nullptr && PEM_write_X509(file, certificate_.get()) == 1);
    std::fclose(file);
    file = std::fopen(key_file.c_str(), "w");
    ANNALS_CHECK(file != nullptr && PEM_write_PrivateKey(file, key_.get(), nullptr, nullptr, 0,
                                                         nullptr, nullptr) == 1);
    std::fclose(file);
}

void append_revocations(const std::string& file, const Certificate& issuer,
                        const Certificate* revoked, long seconds) {
    const Owned<X509_CRL, X509_CRL_free> list(X509_CRL_new());
    const Owned<ASN1_TIME, ASN1_TIME_free> time(X509_gmtime_adj(nullptr, -3600));
    X509_CRL_set_version(list.get(), X509_CRL_VERSION_2);
    X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(issuer.certificate()));
    X509_CRL_set1_lastUpdate(list.get(), time.get());
    if (revoked != nullptr) {
        X509_REVOKED* const entry = X509_REVOKED_new();
        X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(revoked->certificate()));
        X509_REVOKED_set_revocationDate(entry, time.get());
        X509_CRL_add0_revoked(list.get(), entry);
    }
    X509_gmtime_adj(time.get(), seconds);
    X509_CRL_set1_nextUpdate(list.get(), time.get());
    ANNALS_CHECK(X509_CRL_sign(list.get(), issuer.key(), EVP_sha256()) > 0);
    std::FILE* const out = std::fopen(file.c_str(), "a");
    ANNALS_CHECK(out != nullptr && PEM_write_X509_CRL(out, list.get()) == 1);
    std::fclose(out);
}

const Certificate& trusted_certificate() {
    static const Certificate certificate("trusted");
    static const TemporaryDirectory directory;
    [[maybe_unused]] static const int set = [] {
        const std::string file = directory / "cert.pem";
        certificate.write(file, directory / "key.pem");
        return ::setenv("SSL_CERT_FILE", file.c_str(), 1);
    }();
    return certificate;
}

}  // namespace annals::test
