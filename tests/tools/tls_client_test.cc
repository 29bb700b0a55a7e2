// TlsClient with a server in this process: whom it trusts, and what it says of faults.

#include "tools/commands/tls_client.h"

#include "core/base/owned.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace annals::tools {
namespace {

/// A connection whose other end is used by `serve`, in a thread of its own.
class Connection {
  public:
    explicit Connection(std::function<void(int fd)> serve) {
        int both[2] = {};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, both), 0);
        fd_ = both[0];
        server_fd_ = both[1];
        const timeval limit{0, 20'000};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        server_ = std::thread([this, serve = std::move(serve)] { serve(server_fd_); });
    }

    ~Connection() {
        ::close(fd_);
        server_.join();
        ::close(server_fd_);
    }

    int fd() const { return fd_; }

  private:
    int fd_ = -1;
    int server_fd_ = -1;
    std::thread server_;
};

/// Performs the server's handshake, then calls `then`. `verifies`: how it
/// verifies clients; it trusts what the trusted certificate has signed.
std::function<void(int)> with_tls(std::function<void(SSL*)> then = {},
                                  int verifies = SSL_VERIFY_NONE, int newest = TLS1_3_VERSION) {
    return [then = std::move(then), verifies, newest](int fd) {
        const Owned<SSL_CTX, SSL_CTX_free> context(SSL_CTX_new(TLS_server_method()));
        SSL_CTX_use_certificate(context.get(), test::trusted_certificate().certificate());
        SSL_CTX_use_PrivateKey(context.get(), test::trusted_certificate().key());
        SSL_CTX_set_verify(context.get(), verifies, nullptr);
        SSL_CTX_set_max_proto_version(context.get(), newest);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()),
                            test::trusted_certificate().certificate());
        const Owned<SSL, SSL_free> ssl(SSL_new(context.get()));
        SSL_set_fd(ssl.get(), fd);
        if (SSL_accept(ssl.get()) == 1 && then) {
            then(ssl.get());
        }
    };
}

class TlsClientTest : public testing::Test {
  protected:
    TlsClientTest() {
        std::signal(SIGPIPE, SIG_IGN);
        test::trusted_certificate();
    }

    /// A client of `connection` that waits without a limit.
    static std::unique_ptr<TlsClient> client_of(const Connection& connection) {
        auto client = TlsClient::connect(connection.fd(), "localhost", [] { return true; });
        EXPECT_TRUE(client) << client.error().detail;
        return *std::move(client);
    }
};

TEST_F(TlsClientTest, TrustsWhoIsCertifiedForTheNameThatWasAskedFor) {
    for (const std::string host : {"localhost", "127.0.0.1"}) {
        std::promise<std::string> named;
        const Connection connection(with_tls([&](SSL* ssl) {
            const char* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
            named.set_value(name != nullptr ? name : "");
        }));
        const auto client = TlsClient::connect(connection.fd(), host, [] { return true; });
        ASSERT_TRUE(client) << client.error().detail;
        EXPECT_EQ(named.get_future().get(), host == "localhost" ? host : "");
    }
    for (const std::string host : {"trusted", "localhost.example", "127.0.0.2", "::1"}) {
        const Connection connection(with_tls());
        const auto client = TlsClient::connect(connection.fd(), host, [] { return true; });
        ASSERT_FALSE(client) << host;
        EXPECT_EQ(client.error().code, Errc::usage);
        const bool address = host.find_first_not_of("0123456789.:") == std::string::npos;
        EXPECT_EQ(client.error().detail,
                  host + ": the server's certificate: " +
                      (address ? "IP address mismatch" : "hostname mismatch"));
    }
}

TEST_F(TlsClientTest, SaysWhyThereWasNoHandshake) {
    {
        const Connection connection([](int fd) { ::shutdown(fd, SHUT_RDWR); });
        const auto client = TlsClient::connect(connection.fd(), "localhost");
        ASSERT_FALSE(client);
        EXPECT_EQ(client.error().code, Errc::io);
        EXPECT_TRUE(client.error().detail.starts_with("localhost: TLS handshake: "));
    }
    {
        const Connection connection([](int fd) {
            const std::string plain = "HTTP/1.1 400 Bad Request\r\n\r\n";
            EXPECT_GT(::send(fd, plain.data(), plain.size(), 0), 0);
        });
        const auto client = TlsClient::connect(connection.fd(), "localhost", [] { return true; });
        ASSERT_FALSE(client);
        EXPECT_EQ(client.error().code, Errc::io);
        EXPECT_NE(client.error().detail.find("wrong version number"), std::string::npos)
            << client.error().detail;
    }
    const Connection silent([](int) {});
    for (const int patience : {0, 3}) {
        int asked = 0;
        const auto client = TlsClient::connect(
            silent.fd(), "localhost",
            patience == 0 ? std::function<bool()>() : [&] { return ++asked < patience; });
        ASSERT_FALSE(client);
        EXPECT_EQ(client.error().code, Errc::timeout);
        EXPECT_EQ(client.error().detail, "localhost: the TLS handshake timed out");
        EXPECT_EQ(asked, patience);
    }
}

TEST_F(TlsClientTest, HasTheMannersOfASocket) {
    std::promise<void> speak;
    std::promise<void> end;
    const Connection connection(with_tls([&](SSL* ssl) {
        speak.get_future().wait();
        EXPECT_EQ(SSL_write(ssl, "abc", 3), 3);
        char byte = 0;
        EXPECT_EQ(SSL_read(ssl, &byte, 1), 1);
        EXPECT_EQ(byte, 'x');
        end.get_future().wait();
        SSL_shutdown(ssl);
    }));
    const auto client = client_of(connection);
    char room[2] = {};
    EXPECT_EQ(client->receive(room, 1), -1);
    EXPECT_EQ(errno, EAGAIN) << "session tickets alone have come";
    EXPECT_FALSE(client->is_stale());
    EXPECT_EQ(::fcntl(connection.fd(), F_GETFL) & O_NONBLOCK, 0) << "it blocks as before";
    EXPECT_FALSE(client->has_more());

    speak.set_value();
    ssize_t got = -1;
    while (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        got = client->receive(room, 2);
    }
    EXPECT_EQ(std::string(room, 2), "ab");
    EXPECT_EQ(got, 2);
    EXPECT_TRUE(client->has_more());
    EXPECT_TRUE(client->is_stale()) << "nobody asked for that";
    EXPECT_EQ(client->receive(room, 2), 1);
    EXPECT_FALSE(client->has_more());
    EXPECT_EQ(client->send("x", 1), 1);

    end.set_value();
    while (!client->is_stale()) {
        std::this_thread::yield();
    }
    EXPECT_EQ(client->receive(room, 1), 0);
}

/// What receive() returns once something has arrived, or nothing will.
ssize_t receive_byte(TlsClient& client) {
    char byte = 0;
    ssize_t got = 0;
    do {
        got = client.receive(&byte, 1);
    } while (got < 0 && errno == EAGAIN);
    return got;
}

constexpr int kDemands = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;

/// A client's certificate, followed by those of `others`.
std::shared_ptr<const TlsIdentity> identity_of(const test::Certificate& certificate,
                                               const std::vector<test::Certificate>& others = {}) {
    const test::TemporaryDirectory directory;
    certificate.write(directory / "cert", directory / "key");
    std::string chain = test::read_whole_file(directory / "cert");
    for (const test::Certificate& other : others) {
        other.write(directory / "cert", directory / "unused");
        chain += test::read_whole_file(directory / "cert");
    }
    const auto identity =
        TlsIdentity::make({"cert", chain}, {"key", test::read_whole_file(directory / "key")});
    EXPECT_TRUE(identity) << identity.error().detail;
    return *identity;
}

TEST_F(TlsClientTest, ShowsWhoItIsWithTheCertificatesUpToWhomTheServerTrusts) {
    const test::Certificate between("between", &test::trusted_certificate());
    const auto identity = identity_of(test::Certificate("ward 7", &between), {between});
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        std::promise<std::string> shown;
        const Connection connection(with_tls(
            [&](SSL* ssl) {
                X509* const certificate = SSL_get0_peer_certificate(ssl);
                char name[64] = {};
                X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                                          sizeof name);
                shown.set_value(name);
            },
            kDemands, version));
        const auto client =
            TlsClient::connect(connection.fd(), "localhost", [] { return true; }, identity.get());
        ASSERT_TRUE(client) << client.error().detail;
        EXPECT_EQ(shown.get_future().get(), "ward 7");
    }
}

TEST_F(TlsClientTest, SaysWhatTheServerHasAgainstWhoItIs) {
    const auto stranger = identity_of(test::Certificate("stranger"));
    const std::pair<const TlsIdentity*, std::string> cases[] = {
        {nullptr,
         "the server requires a client certificate (--cert FILE --key FILE; replicate: "
         "--from-cert, --to-cert)"},
        {stranger.get(), "the server does not accept our certificate: tlsv1 alert unknown ca"}};
    for (const auto& [identity, fault] : cases) {
        const Connection older(with_tls({}, kDemands, TLS1_2_VERSION));
        const auto none =
            TlsClient::connect(older.fd(), "localhost", [] { return true; }, identity);
        ASSERT_FALSE(none);
        EXPECT_EQ(none.error().code, Errc::usage);
        EXPECT_EQ(none.error().detail, "localhost: TLS handshake: " + fault);

        const Connection connection(with_tls({}, kDemands));
        const auto client =
            TlsClient::connect(connection.fd(), "localhost", [] { return true; }, identity);
        ASSERT_TRUE(client) << client.error().detail;
        EXPECT_EQ(receive_byte(**client), -1);
        EXPECT_EQ(errno, EPROTO);
        EXPECT_EQ((*client)->fault(), fault);
        EXPECT_TRUE((*client)->is_refused());
    }
}

TEST_F(TlsClientTest, TellsAConnectionThatBrokeFromOneThatEnded) {
    for (const bool looked_at : {false, true}) {
        const Connection connection(
            with_tls([](SSL* ssl) { ::shutdown(SSL_get_fd(ssl), SHUT_RDWR); }));
        const auto client = client_of(connection);
        while (looked_at && !client->is_stale()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(receive_byte(*client), -1);
        EXPECT_TRUE(errno == EPROTO || errno == ECONNRESET) << errno;
    }
}

}  // namespace
}  // namespace annals::tools
