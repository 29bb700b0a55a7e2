#include "tools/commands/tls_client.h"

#include <fmt/format.h>
#include <openssl/err.h>
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
    // OpenSSL writes in a way that a closed socket answers with a signal.
    std::signal(SIGPIPE, SIG_IGN);
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    if (context != nullptr) {
        SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
        SSL_CTX_set_default_verify_paths(context);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
        SSL_CTX_set_mode(context,
                         SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    }
    return context;
}

bool is_address(const std::string& host) {
    in6_addr address{};
    return ::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

/// What is said of a socket that blocks when its time is over, or a signal came.
bool is_timeout(int kind) {
    return kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE;
}

std::string reason_of(unsigned long error) {
    const char* const reason = ERR_reason_error_string(error);
    return reason != nullptr ? reason : "the connection was closed";
}

}  // namespace

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
                                                      const std::function<bool()>& goes_on) {
    static SSL_CTX* const context = make_context();
    SSL* const ssl = context == nullptr ? nullptr : SSL_new(context);
    if (ssl == nullptr) {
        return Error{Errc::io, "TLS cannot be set up", ""};
    }
    std::unique_ptr<TlsClient> client(new TlsClient(ssl));
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
        return Error{Errc::usage,
                     fmt::format("{}: the server's certificate: {}", host,
                                 X509_verify_cert_error_string(verdict)),
                     ""};
    }
    if (is_timeout(kind)) {
        return Error{Errc::timeout, fmt::format("{}: no TLS handshake in time", host), ""};
    }
    const Error error{Errc::io,
                      fmt::format("{}: TLS handshake: {}", host, reason_of(ERR_peek_error())), ""};
    ERR_clear_error();
    return error;
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
            fault_ = reason_of(ERR_peek_error());
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
    // What lies there may be session tickets, which mean no harm, or the server's farewell.
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
