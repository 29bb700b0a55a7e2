// TlsClient: the client's side of TLS over a connected socket, with the manners of recv() and send(); TlsIdentity: who it is there.
//
// Layer:   tools; with tls_client.cc the one user of OpenSSL's SSL interface on the client's side.
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

/// A file's path, for messages, and what it holds.
struct PemText {
    std::string path;
    std::string text;
};

/// What a client shows a server that asks who it is: its certificate, those between that and its root, and the key.
class TlsIdentity {
  public:
    /// Errors: usage (no certificate, no key, one with a passphrase, or the key of another certificate); the detail has paths alone.
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
    /// Shakes hands over `fd`, which blocks, with the server called `host`. It must be certified for that name by
    /// an authority that the system trusts (or one of SSL_CERT_FILE or SSL_CERT_DIR). If it asks, it is shown `identity`.
    ///
    /// Where the socket times out, `goes_on` says whether it waits once more; without it, it doesn't.
    /// Lifetime: `fd` outlives the client.
    /// Errors: usage: what is wrong with the server's certificate, or that the server lets nobody in without one of another kind
    ///         than `identity`; io: what is wrong with the handshake; timeout.
    static Result<std::unique_ptr<TlsClient>> connect(int fd, const std::string& host,
                                                      const std::function<bool()>& goes_on = {},
                                                      const TlsIdentity* identity = nullptr);

    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// Bytes received or sent; 0 (receive): the server has closed in good order; -1: errno says why: EAGAIN where
    /// the socket would block or has timed out, EPROTO for a fault of the protocol.
    ssize_t receive(char* room, std::size_t size);
    ssize_t send(const char* bytes, std::size_t size);

    /// Of the last fault of the protocol what OpenSSL calls it, or what the server has against our certificate.
    const std::string& fault() const noexcept { return fault_; }

    /// Whether the fault is that we have shown no certificate, or not the right one. (With TLS 1.3 the server says so only after
    /// the handshake.)
    bool is_refused() const noexcept { return refused_; }

    /// Whether what has arrived says that the server has closed, or is something that nobody has asked for. Does not wait.
    bool is_stale();

    /// Whether bytes have arrived that receive() gives without looking at the socket.
    bool has_more() const;

  private:
    struct Free {
        void operator()(SSL* ssl) const noexcept;
    };

    explicit TlsClient(SSL* ssl) : ssl_(ssl) {}

    ssize_t result_of(int result, std::size_t count);

    /// Takes what OpenSSL has to say into fault_ and refused_.
    void take_fault();

    std::unique_ptr<SSL, Free> ssl_;
    std::string fault_;
    bool shows_ = false;          ///< a certificate of its own
    bool asked_in_vain_ = false;  ///< for one, and has none
    bool refused_ = false;
};

}  // namespace annals::tools
