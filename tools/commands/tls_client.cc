#include "tools/commands/tls_client.h"

#include "core/base/owned.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <fcntl.h>

#include <cerrno>
#include <csignal>

namespace annals::tools {

namespace {

SSL_CTX* make_context() {
    // OpenSSL's writes to a closed socket raise a signal.
    std::signal(SIGPIPE, SIG_IGN);
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    if (context != nullptr) {
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
        SSL_CTX_set_default_verify_paths(context);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
        SSL_CTX_set_mode(context,
                         SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        // Called if the server requests a certificate and there is none.
        SSL_CTX_set_client_cert_cb(context, [](SSL* ssl, X509**, EVP_PKEY**) {
            *static_cast<bool*>(SSL_get_app_data(ssl)) = true;
            return 0;
        });
    }
    return context;
}

bool is_address(const std::string& host) {
    in6_addr address{};
    return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// Whether this is the error of a blocking socket that timed out or was interrupted by a signal.
bool is_timeout(int kind) {
    return kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE;
}

std::string reason_of(unsigned long error) {
    const char* const reason = ERR_reason_error_string(error);
    return reason != nullptr ? reason : "the connection was closed";
}

/// Whether `reason` is an alert that only a client's certificate, or the lack of one, causes.
bool is_about_clients(int reason) {
    switch (reason) {
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
            return true;
        default:
            return false;
    }
}

// ---- PEM ----

using Bio = Owned<BIO, BIO_free>;

Bio open_text(const std::string& text) {
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Error pem_error(const std::string& path, std::string_view what) {
    ERR_clear_error();
    return {Errc::usage, fmt::format("{}: {}", path, what)};
}

Result<std::vector<std::shared_ptr<X509>>> read_chain(const PemText& pem) {
    const Bio bio = open_text(pem.text);
    std::vector<std::shared_ptr<X509>> chain;
    ERR_clear_error();
    while (X509* const next = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
        chain.emplace_back(next, X509_free);
    }
    if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
        return pem_error(pem.path, "a certificate in it is damaged");
    }
    if (chain.empty()) {
        return pem_error(pem.path, "contains no certificate in PEM format");
    }
    ERR_clear_error();
    return chain;
}

Result<std::shared_ptr<EVP_PKEY>> read_key(const PemText& pem) {
    const Bio bio = open_text(pem.text);
    bool locked = false;
    // Nobody is there to enter a passphrase.
    const auto refuse = [](char*, int, int, void* asked) {
        *static_cast<bool*>(asked) = true;
        return -1;
    };
    std::shared_ptr<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, refuse, &locked),
                                  EVP_PKEY_free);
    if (locked) {
        return pem_error(pem.path,
                         "the key has a passphrase; remove it with openssl pkey -in FILE");
    }
    if (key == nullptr) {
        return pem_error(pem.path, "contains no private key in PEM format");
    }
    return key;
}

}  // namespace

// ---- TlsIdentity ----

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::make(const PemText& certificate,
                                                             const PemText& key) {
    const std::shared_ptr<TlsIdentity> identity(new TlsIdentity());
    ANNALS_TRY(identity->chain_, read_chain(certificate));
    ANNALS_TRY(identity->key_, read_key(key));
    if (X509_check_private_key(identity->chain_.front().get(), identity->key_.get()) != 1) {
        return pem_error(key.path, "the key does not belong to the certificate (the first) of " +
                                       certificate.path);
    }
    return std::shared_ptr<const TlsIdentity>(identity);
}

bool TlsIdentity::use_for(SSL* ssl) const {
    const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> others(
        sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
    for (std::size_t i = 1; i < chain_.size(); ++i) {
        sk_X509_push(others.get(), chain_[i].get());
    }
    return SSL_use_cert_and_key(ssl, chain_.front().get(), key_.get(), others.get(), 1) == 1;
}

// ---- TlsClient ----

void TlsClient::Free::operator()(SSL* ssl) const noexcept {
    SSL_free(ssl);
}

TlsClient::~TlsClient() {
    if (SSL_is_init_finished(ssl_.get()) == 1) {
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        ERR_clear_error();
    }
}

Result<std::unique_ptr<TlsClient>> TlsClient::connect(int fd, const std::string& host,
                                                      const std::function<bool()>& goes_on,
                                                      const TlsIdentity* identity) {
    static SSL_CTX* const context = make_context();
    SSL* const ssl = context == nullptr ? nullptr : SSL_new(context);
    if (ssl == nullptr) {
        return Error{Errc::io, "TLS cannot be set up"};
    }
    std::unique_ptr<TlsClient> client(new TlsClient(ssl));
    client->shows_ = identity != nullptr;
    if (client->shows_ && !identity->use_for(ssl)) {
        return Error{Errc::io, "TLS cannot be set up with this certificate"};
    }
    SSL_set_app_data(ssl, &client->asked_in_vain_);
    SSL_set_fd(ssl, fd);
    if (is_address(host)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
    } else {
        SSL_set_tlsext_host_name(ssl, host.c_str());
        SSL_set1_host(ssl, host.c_str());
    }
    int kind = SSL_ERROR_NONE;
    bool again = true;
    while (again) {
        ERR_clear_error();
        errno = 0;
        const int result = SSL_connect(ssl);
        if (result == 1) {
            return client;
        }
        kind = SSL_get_error(ssl, result);
        again = is_timeout(kind) && goes_on && goes_on();
    }
    if (const long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK) {
        ERR_clear_error();
        return Error{Errc::usage, fmt::format("{}: the server's certificate: {}", host,
                                              X509_verify_cert_error_string(verdict))};
    }
    if (is_timeout(kind)) {
        return Error{Errc::timeout, fmt::format("{}: the TLS handshake timed out", host)};
    }
    client->take_fault();
    return Error{client->refused_ ? Errc::usage : Errc::io,
                 fmt::format("{}: TLS handshake: {}", host, client->fault_)};
}

void TlsClient::take_fault() {
    const unsigned long error = ERR_peek_error();
    fault_ = reason_of(error);
    ERR_clear_error();
    const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
    // TLS 1.2 has no alert of its own for a missing certificate.
    refused_ = is_about_clients(reason) ||
               (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE && asked_in_vain_);
    if (refused_) {
        fault_ = shows_ ? fmt::format("the server does not accept our certificate: {}", fault_)
                        : "the server requires a client certificate (--cert FILE --key FILE; "
                          "replicate: --from-cert, --to-cert)";
    }
}

ssize_t TlsClient::result_of(int result, std::size_t count) {
    if (result == 1) {
        return static_cast<ssize_t>(count);
    }
    const int reason = errno;
    switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
        case SSL_ERROR_WANT_WRITE:
            errno = EAGAIN;
            return -1;
        case SSL_ERROR_ZERO_RETURN:
            return 0;
        case SSL_ERROR_SYSCALL:
            errno = reason != 0 ? reason : ECONNRESET;
            break;
        default:
            take_fault();
            errno = EPROTO;
            break;
    }
    ERR_clear_error();
    return -1;
}

ssize_t TlsClient::receive(char* room, std::size_t size) {
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), room, size, &count);
    return result_of(result, count);
}

ssize_t TlsClient::send(const char* bytes, std::size_t size) {
    ERR_clear_error();
    errno = 0;
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), bytes, size, &count);
    return result_of(result, count);
}

bool TlsClient::is_stale() {
    // The waiting bytes may be session tickets, which are harmless, or the server's closing alert.
    const int fd = SSL_get_fd(ssl_.get());
    const int flags = ::fcntl(fd, F_GETFL);
    ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    ERR_clear_error();
    char byte = 0;
    std::size_t count = 0;
    const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &count);
    const bool quiet = result != 1 && SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    ::fcntl(fd, F_SETFL, flags);
    return !quiet;
}

bool TlsClient::has_more() const {
    return SSL_pending(ssl_.get()) > 0;
}

}  // namespace annals::tools
