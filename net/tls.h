// TLS: certificates that can be changed while the server runs, and encrypted bytes over a non-blocking socket.
//
// Layer:   net; with tls.cc the one user of OpenSSL's SSL interface on the server's side.
// Spec:    RFC 8446 (1.3), RFC 5246 (1.2) as BCP 195 (RFC 9325) has it; contract.md, tls.*.
// Threads: a TlsContext is for all threads; a TlsStream belongs to one connection.

#pragma once

#include "core/base/result.h"
#include "core/config/config.h"
#include "net/file_watch.h"

#include <openssl/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace annals::net {

/// What new connections are encrypted with.
class TlsContext {
  public:
    /// Who has the key of session tickets can read the sessions of 1.2 that were resumed by them, so it does not last (RFC 9325,
    /// section 3.4).
    static constexpr std::chrono::hours kTicketKeyLife{24};

    /// Reads the certificate chain, its key and, if named, the authorities that clients must be certified by.
    /// Errors: usage: one line that names the key of the configuration, the file and what is wrong with it.
    static Result<std::unique_ptr<TlsContext>> create(
        const core::Config::Tls& files,
        std::chrono::steady_clock::duration ticket_key_life = kTicketKeyLife);

    /// Reads the files again if one of them has changed since. New connections have the new certificate,
    /// sessions of the old one can still be resumed (unless clients need certificates); if the files are of no
    /// use, a warning is logged, the old ones stay, and each call tries again. Once a key of tickets has had its time
    /// there is a new one, and nothing of before is resumed.
    void reload_if_changed();

    /// The context for a connection that begins now.
    std::shared_ptr<SSL_CTX> current() const;

  private:
    TlsContext(core::Config::Tls files, std::chrono::steady_clock::duration ticket_key_life)
        : files_(std::move(files)), ticket_key_life_(ticket_key_life) {
        for (const std::string& file : {files_.cert_file, files_.key_file, files_.client_ca_file}) {
            watch_.add(file);
        }
    }

    Result<std::shared_ptr<SSL_CTX>> read() const;

    const core::Config::Tls files_;
    const std::chrono::steady_clock::duration ticket_key_life_;
    std::chrono::steady_clock::time_point ticket_key_made_ =
        std::chrono::steady_clock::now();  ///< of the thread that reloads
    FileWatch watch_;                      ///< likewise
    bool unread_ = false;                  ///< likewise: the files were of no use
    mutable std::mutex mutex_;
    std::shared_ptr<SSL_CTX> current_;
};

/// The server's side of one encrypted connection.
class TlsStream {
  public:
    enum class Step : std::uint8_t {
        done,
        wants_read,   ///< again when the socket can be read
        wants_write,  ///< again when it can be written
        closed,       ///< the client has closed in good order
        broken,       ///< a fault of the peer or the network; the connection is of no use any more
    };

    /// Lifetime: `fd`, which does not block, is open until the stream ends or abandon().
    TlsStream(const TlsContext& context, int fd);
    ~TlsStream();
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;

    /// Goes on with the handshake. Requires: it has not been done.
    Step handshake();

    /// The SHA-256 of the certificate that the client has shown, in base64url (x5t#S256); empty: none was asked for. Requires:
    /// the handshake is done.
    std::string client_certificate() const;

    /// Reads into `room`; `count` bytes if done.
    Step read(std::span<char> room, std::size_t& count);

    /// Takes bytes to be sent, up to a record; returns how many fit.
    std::size_t add(std::string_view bytes);

    /// Sends what was added.
    Step flush();

    /// Tells the client that nothing more comes, as far as the socket takes it at once.
    void close();

    /// The socket is closed or about to be: its number may be somebody else's from now on, so nothing is read from it or
    /// written to it any more. All steps are `broken`.
    void abandon() noexcept { ssl_.reset(); }

  private:
    struct Free {
        void operator()(SSL* ssl) const noexcept;
    };

    Step step_after(int result);

    std::unique_ptr<SSL, Free> ssl_;  ///< null: there is no socket any more
    std::unique_ptr<char[]> record_;  ///< allocated once there is something to send
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool usable_ = false;  ///< the handshake is done and nothing has gone wrong since
    int reads_left_ = 0;   ///< of the socket, in the step under way
};

}  // namespace annals::net
