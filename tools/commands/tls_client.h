// TlsClient: the client side of TLS on a connected socket, used like recv() and send(); TlsIdentity: its certificate and key.
//
// Layer:   tools; tls_client.cc is the only user of OpenSSL's SSL interface on the client side.
// Spec:    RFC 8446, RFC 5246; RFC 9525 for the server's name.
// Threads: a client belongs to one thread.

#pragma once

#include "core/base/result.h"

#include <openssl/types.h>

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace annals::tools {

/// A file's path, for messages, and its content.
struct PemText {
    std::string path;
    std::string text;
};

/// What a client presents to a server that asks for a certificate: its own, the intermediate ones, and the key.
class TlsIdentity {
  public:
    /// Errors: usage (no certificate, no key, one with a passphrase, or of another certificate); the detail has only paths.
    static Result<std::shared_ptr<const TlsIdentity>> make(const PemText& certificate,
                                                           const PemText& key);

    /// For `ssl`, which outlives nothing of it.
    bool use_for(SSL* ssl) const;

  private:
    TlsIdentity() = default;

    std::vector<std::shared_ptr<X509>> chain_;  ///< the client's own first
    std::shared_ptr<EVP_PKEY> key_;
};

class TlsClient {
  public:
    /// Performs the handshake on the blocking socket `fd` with the server called `host`. Its certificate must be valid for that
    /// name and come from an authority that the system (or SSL_CERT_FILE, SSL_CERT_DIR) trusts. It gets `identity` if it asks.
    ///
    /// When the socket times out, `goes_on` says whether to continue waiting; without it, the answer is no.
    /// Lifetime: `fd` outlives the client.
    /// Errors: usage: the server's certificate is not acceptable, or the server demands a certificate other
    ///         than `identity`; io: the handshake failed; timeout.
    static Result<std::unique_ptr<TlsClient>> connect(int fd, const std::string& host,
                                                      const std::function<bool()>& goes_on = {},
                                                      const TlsIdentity* identity = nullptr);

    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// The number of bytes received or sent; 0 (receive): the server has closed properly; -1: see errno: EAGAIN if
    /// the socket would block or has timed out, EPROTO for a protocol error.
    ssize_t receive(char* room, std::size_t size);
    ssize_t send(const char* bytes, std::size_t size);

    /// OpenSSL's description of the last protocol error, or the server's objection to our certificate.
    const std::string& fault() const noexcept { return fault_; }

    /// Whether the fault is that we have shown no certificate, or an unacceptable one. (With TLS 1.3, the server says so only
    /// after the handshake.)
    bool is_refused() const noexcept { return refused_; }

    /// Whether the server has closed or sent something unrequested. Does not wait.
    bool is_stale();

    /// Whether bytes have arrived that receive() returns without reading the socket.
    bool has_more() const;

  private:
    struct Free {
        void operator()(SSL* ssl) const noexcept;
    };

    explicit TlsClient(SSL* ssl) : ssl_(ssl) {}

    ssize_t result_of(int result, std::size_t count);

    /// Stores OpenSSL's errors in fault_ and refused_.
    void take_fault();

    std::unique_ptr<SSL, Free> ssl_;
    std::string fault_;
    bool shows_ = false;          ///< has a certificate of its own
    bool asked_in_vain_ = false;  ///< the server asked for one, and there is none
    bool refused_ = false;
};

}  // namespace annals::tools
