// TlsClient: the client's side of TLS over a connected socket, with the manners of recv() and send().
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

namespace annals::tools {

class TlsClient {
  public:
    /// Shakes hands over `fd`, which blocks, with the server called `host`. It must be certified for that name by
    /// an authority that the system trusts (or one of SSL_CERT_FILE or SSL_CERT_DIR).
    ///
    /// Where the socket times out, `goes_on` says whether it waits once more; without it, it doesn't.
    /// Lifetime: `fd` outlives the client.
    /// Errors: usage: what is wrong with the certificate; io: with the handshake; timeout.
    static Result<std::unique_ptr<TlsClient>> connect(int fd, const std::string& host,
                                                      const std::function<bool()>& goes_on = {});

    ~TlsClient();
    TlsClient(const TlsClient&) = delete;
    TlsClient& operator=(const TlsClient&) = delete;

    /// Bytes received or sent; 0 (receive): the server has closed in good order; -1: errno says why: EAGAIN where
    /// the socket would block or has timed out, EPROTO for a fault of the protocol.
    ssize_t receive(char* room, std::size_t size);
    ssize_t send(const char* bytes, std::size_t size);

    /// Of the last fault of the protocol what OpenSSL calls it: "tlsv13 alert certificate required".
    const std::string& fault() const noexcept { return fault_; }

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

    std::unique_ptr<SSL, Free> ssl_;
    std::string fault_;
};

}  // namespace annals::tools
