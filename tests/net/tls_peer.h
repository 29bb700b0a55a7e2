// A server with TLS, and a client that says how it connects.

#pragma once

#include "tests/net/fake_service.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace annals::test {

/// A certificate's files and a server that uses them.
class TlsServer {
  public:
    explicit TlsServer(const Certificate& certificate, const Certificate* clients = nullptr,
                       const std::function<void(core::Config&)>& change = {})
        : folder_() {
        certificate.write(file("cert.pem"), file("key.pem"));
        if (clients != nullptr) {
            clients->write(file("ca.pem"), file("ca_key.pem"));
        }
        server_ = std::make_unique<FakeServer>([&](core::Config& config) {
            config.tls.cert_file = file("cert.pem");
            config.tls.key_file = file("key.pem");
            config.tls.client_ca_file = clients != nullptr ? file("ca.pem") : "";
            if (change) {
                change(config);
            }
        });
    }

    std::string file(const std::string& name) const { return folder_ / name; }

    std::uint16_t port() const { return server_->port(); }

    std::string url() const { return server_->server().url(); }

    void stop() { server_->server().stop(); }

  private:
    TemporaryDirectory folder_;
    std::unique_ptr<FakeServer> server_;
};

inline int connect_to(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval limit{10, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
}

/// A blocking client.
class Peer {
  public:
    struct Options {
        int version_min = TLS1_2_VERSION;
        int version_max = TLS1_3_VERSION;
        const Certificate* certificate = nullptr;
        SSL_SESSION* session = nullptr;
        std::string protocols = {};     ///< ALPN, each with its length before it
        const char* ciphers = nullptr;  ///< of TLS 1.2; null: all
    };

    Peer(std::uint16_t port, const Options& options)
        : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), fd_(connect_to(port)) {
        SSL_CTX* const context = context_.get();
        SSL_CTX_set_security_level(context, 0);  // to be able to offer old versions
        SSL_CTX_set_min_proto_version(context, options.version_min);
        SSL_CTX_set_max_proto_version(context, options.version_max);
        if (options.ciphers != nullptr) {
            EXPECT_EQ(SSL_CTX_set_cipher_list(context, options.ciphers), 1);
        }
        if (options.certificate != nullptr) {
            SSL_CTX_use_certificate(context, options.certificate->certificate());
            SSL_CTX_use_PrivateKey(context, options.certificate->key());
        }
        ssl_.reset(SSL_new(context), SSL_free);
        SSL_set_fd(ssl_.get(), fd_);
        if (options.session != nullptr) {
            SSL_set_session(ssl_.get(), options.session);
        }
        if (!options.protocols.empty()) {
            SSL_set_alpn_protos(ssl_.get(),
                                reinterpret_cast<const unsigned char*>(options.protocols.data()),
                                static_cast<unsigned>(options.protocols.size()));
        }
        greeted_ = SSL_connect(ssl_.get()) == 1;
        ERR_clear_error();
    }

    explicit Peer(std::uint16_t port) : Peer(port, Options()) {}

    ~Peer() { ::close(fd_); }

    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    bool greeted() const { return greeted_; }

    SSL* ssl() const { return ssl_.get(); }

    bool send(std::string_view bytes) {
        return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
               static_cast<int>(bytes.size());
    }

    /// Everything until the server closes or `size` bytes have arrived.
    std::string receive(std::size_t size = SIZE_MAX) {
        std::string all;
        char room[16384];
        while (all.size() < size) {
            const int count = SSL_read(ssl_.get(), room, sizeof room);
            if (count <= 0) {
                break;
            }
            all.append(room, static_cast<std::size_t>(count));
        }
        return all;
    }

    /// Sends one request, and reads until the connection is closed.
    std::string ask(const std::string& target) {
        EXPECT_TRUE(
            send("GET " + target + " HTTP/1.1\r\nHost: annals.test\r\nConnection: close\r\n\r\n"));
        return receive();
    }

    std::string server_name() const {
        X509* const certificate = SSL_get1_peer_certificate(ssl_.get());
        char name[100] = {};
        X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                                  sizeof name);
        X509_free(certificate);
        return name;
    }

    std::shared_ptr<SSL_SESSION> session() const {
        return {SSL_get1_session(ssl_.get()), SSL_SESSION_free};
    }

  private:
    std::shared_ptr<SSL_CTX> context_;
    std::shared_ptr<SSL> ssl_;
    int fd_;
    bool greeted_ = false;
};

}  // namespace annals::test
