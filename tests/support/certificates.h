// Generated certificates, for tests of TLS.

#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

namespace annals::test {

/// A key and the certificate for it, signed by another or by itself.
class Certificate {
  public:
    /// For the names "localhost" and 127.0.0.1; `common_name` distinguishes it. `issuer` null: self-signed.
    explicit Certificate(const std::string& common_name, const Certificate* issuer = nullptr,
                         const char* curve = "P-256");

    X509* certificate() const { return certificate_.get(); }

    EVP_PKEY* key() const { return key_.get(); }

    /// Writes PEM files.
    void write(const std::string& certificate_file, const std::string& key_file) const;

  private:
    std::shared_ptr<EVP_PKEY> key_;
    std::shared_ptr<X509> certificate_;
};

/// Appends to a PEM file the list of certificates that `issuer` has revoked: `revoked` alone, or none. It is out of date after
/// `seconds`.
void append_revocations(const std::string& file, const Certificate& issuer,
                        const Certificate* revoked, long seconds = 3600);

/// A certificate that tools::TlsClient trusts in this process, which loads the system's trusted ones only once. Tests that use
/// TlsClient must call this first, even if they use other certificates.
const Certificate& trusted_certificate();

}  // namespace annals::test
