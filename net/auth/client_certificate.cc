#include "net/auth/client_certificate.h"

#include "core/base/log.h"
#include "core/base/owned.h"
#include "net/auth/files.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <string_view>
#include <utility>

namespace annals::net::auth {

namespace {

constexpr std::string_view kCertificate = "outgoing.cert_file";
constexpr std::string_view kKey = "outgoing.key_file";

/// There is nobody to type a passphrase.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

template <auto kRead>
auto read_pem(const std::string& text) {
    const Owned<BIO, BIO_free> in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    ERR_clear_error();
    auto* const found = in == nullptr ? nullptr : kRead(in.get(), nullptr, no_passphrase, nullptr);
    ERR_clear_error();
    return found;
}

Error unusable(std::string_view setting, const std::string& file, std::string_view why) {
    return {Errc::usage, fmt::format("{}: {}: {}", setting, file, why)};
}

}  // namespace

ClientCertificate::ClientCertificate(core::Config::Outgoing files) : files_(std::move(files)) {
    watch_.add(files_.cert_file);
    watch_.add(files_.key_file);
}

Result<std::unique_ptr<ClientCertificate>> ClientCertificate::open(
    const core::Config::Outgoing& files) {
    std::unique_ptr<ClientCertificate> certificate(new ClientCertificate(files));
    if (!files.cert_file.empty()) {
        ANNALS_TRY(certificate->current_, certificate->read());
    }
    return certificate;
}

Result<std::shared_ptr<const ClientCertificate::Pem>> ClientCertificate::read() const {
    auto pem = std::make_shared<Pem>();
    ANNALS_TRY(pem->chain, read_file(kCertificate, files_.cert_file));
    ANNALS_TRY(pem->key, read_file(kKey, files_.key_file));
    const Owned<X509, X509_free> certificate(read_pem<PEM_read_bio_X509>(pem->chain));
    if (certificate == nullptr) {
        return unusable(kCertificate, files_.cert_file, "it has no certificate");
    }
    const Owned<EVP_PKEY, EVP_PKEY_free> key(read_pem<PEM_read_bio_PrivateKey>(pem->key));
    if (key == nullptr) {
        return unusable(kKey, files_.key_file, "it has no key without a passphrase");
    }
    if (X509_check_private_key(certificate.get(), key.get()) != 1) {
        ERR_clear_error();
        return unusable(kKey, files_.key_file, "the key does not belong to the certificate");
    }
    return std::shared_ptr<const Pem>(std::move(pem));
}

std::shared_ptr<const ClientCertificate::Pem> ClientCertificate::current() const {
    const std::lock_guard lock(mutex_);
    return current_;
}

void ClientCertificate::reload_if_changed() {
    if (!watch_.must_read() || files_.cert_file.empty()) {
        return;
    }
    auto next = read();
    watch_.note(next, "the certificate for outgoing requests is unchanged");
    if (!next) {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        current_ = *std::move(next);
    }
    log_info("the certificate for outgoing requests was reloaded");
}

}  // namespace annals::net::auth
