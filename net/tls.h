// TLS: certificates that can change while the server runs, and encryption over a non-blocking socket.
//
// Layer:   net; tls.cc is the only user of OpenSSL's SSL interface on the server's side.
// Spec:    RFC 8446 (1.3), RFC 5246 (1.2) as BCP 195 (RFC 9325) recommends; docs/operations.md, TLS.
// Threads: any thread may use a TlsContext; a TlsStream belongs to one connection.

#pragma once

#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/config/config.h"
#include "net/file_watch.h"

#include <openssl/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace annals::net {

/// The TLS configuration for new connections.
class TlsContext {
  public:
    /// The session ticket key decrypts all TLS 1.2 sessions resumed with it, so it is replaced
    /// regularly (RFC 9325, section 3.4).
    static constexpr std::chrono::hours kTicketKeyLife{24};

    /// Reads the certificate chain, its key and, if named, the authorities that clients must be certified by.
    /// Errors: usage: one line that names the key of the configuration, the file and what is wrong with it.
    static Result<std::unique_ptr<TlsContext>> create(
        const core::Config::Tls& files,
        std::chrono::steady_clock::duration ticket_key_life = kTicketKeyLife);

    /// Reads the files again if one has changed. New connections get the new certificate; sessions of the old one
    /// can still be resumed (unless clients need certificates). If the files can't be used, a warning is logged,
    /// the old ones stay, and each call tries again. An expired ticket key is replaced, and earlier sessions
    /// can't be resumed any more. Warns once a list of revoked certificates is out of date.
    void reload_if_changed();

    /// The context for a new connection.
    std::shared_ptr<SSL_CTX> current() const;

  private:
    TlsContext(core::Config::Tls files, std::chrono::steady_clock::duration ticket_key_life)
        : files_(std::move(files)), ticket_key_life_(ticket_key_life) {
        for (const std::string& file : {files_.cert_file, files_.key_file, files_.client_ca_file}) {
            watch_.add(file);
        }
    }

    Result<std::shared_ptr<SSL_CTX>> read() const;
    void warn_of_old_revocations();

    const core::Config::Tls files_;
    const std::chrono::steady_clock::duration ticket_key_life_;
    std::chrono::steady_clock::time_point ticket_key_made_ =
        std::chrono::steady_clock::now();     ///< used by the thread that reloads
    FileWatch watch_;                         ///< likewise
    std::optional<Instant> revocations_end_;  ///< likewise: when the first list goes out of date
    bool warned_ = false;                     ///< likewise: of that
    mutable std::mutex mutex_;
    std::shared_ptr<SSL_CTX> current_;
};

/// The server's side of one encrypted connection.
class TlsStream {
  public:
    enum class Step : std::uint8_t {
        done,
        wants_read,   ///< call again when the socket is readable
        wants_write,  ///< call again when the socket is writable
        closed,       ///< the client has closed the stream properly
        broken,       ///< an error of the peer or the network; the connection is unusable
    };

    /// Lifetime: `fd`, which is non-blocking, stays open until the stream is destroyed or abandon() is called.
    TlsStream(const TlsContext& context, int fd);
    ~TlsStream();
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;

    /// Continues the handshake. Requires: it is not done.
    Step handshake();

    /// The SHA-256 of the client's certificate, in base64url (x5t#S256); empty if none was requested.
    /// Requires: the handshake is done.
    std::string client_certificate() const;

    /// Reads into `room`; `count` bytes if the result is done.
    Step read(std::span<char> room, std::size_t& count);

    /// Takes bytes to send, at most one record; returns how many fit.
    std::size_t add(std::string_view bytes);

    /// Sends what was added.
    Step flush();

    /// Tells the client that the stream ends, as far as the socket accepts it at once.
    void close();

    /// The socket is closed or about to be: its number may be reused, so it is neither read nor written any
    /// more. All further steps return `broken`.
    void abandon() noexcept { ssl_.reset(); }

  private:
    struct Free {
        void operator()(SSL* ssl) const noexcept;
    };

    Step step_after(int result);

    std::unique_ptr<SSL, Free> ssl_;  ///< null: the socket is gone
    std::unique_ptr<char[]> record_;  ///< allocated when there is something to send
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool usable_ = false;  ///< the handshake is done and nothing has failed since
    int reads_left_ = 0;   ///< of the socket, in the current step
};

}  // namespace annals::net
