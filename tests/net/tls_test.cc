// TLS as clients see it: versions, resumption, the certificate of the server, and HTTP over it.

#include "net/tls.h"

#include "net/auth/fetch.h"
#include "tests/net/tls_peer.h"
#include "tests/support/guarded_server.h"
#include "tests/support/websocket_client.h"

#include <gmock/gmock.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace annals::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Tls, AnswersHttpInBothVersions) {
    const TlsServer server{Certificate("server")};
    EXPECT_THAT(server.url(), StartsWith("https://"));
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        Peer peer(server.port(), {.version_min = version, .version_max = version});
        ASSERT_TRUE(peer.greeted());
        EXPECT_EQ(SSL_version(peer.ssl()), version);
        const std::string answer = peer.ask("/fhir/text");
        EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
        EXPECT_THAT(answer, EndsWith("hello"));
        EXPECT_THAT(answer, HasSubstr("\r\nStrict-Transport-Security: max-age=31536000\r\n"));
        EXPECT_TRUE((SSL_get_shutdown(peer.ssl()) & SSL_RECEIVED_SHUTDOWN) != 0)
            << "the end was not told by close_notify";
    }
}

TEST(Tls, CarriesWebsockets) {
    GuardedServer server([](core::Config& config, GuardedServer& whole) {
        config.tls.cert_file = whole.file("cert.pem");
        config.tls.key_file = whole.file("key.pem");
        Certificate("server").write(config.tls.cert_file, config.tls.key_file);
        config.data = whole.file("data");
        config.subscriptions.enabled = true;
        config.limits.idle_timeout = std::chrono::milliseconds(1500);
    });
    Peer peer(server.port());
    ASSERT_TRUE(peer.greeted());
    const auto receive_through = [&peer](const std::string& text) {
        std::string all;
        while (all.find(text) == std::string::npos) {
            const std::string more = peer.receive(1);
            if (more.empty()) {
                break;
            }
            all += more;
        }
        return all;
    };
    peer.send(
        "GET /fhir/websocket HTTP/1.1\r\nHost: annals.test\r\nUpgrade: websocket\r\nConnection: "
        "Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n" +
        client_frame(0x81, "bind x"));
    EXPECT_THAT(receive_through("Subscription"),
                testing::AllOf(StartsWith("HTTP/1.1 101 "), HasSubstr("error x")));
    // The first came with the handshake, this one comes later.
    peer.send(client_frame(0x81, "bind y"));
    EXPECT_THAT(receive_through("Subscription"), HasSubstr("error y"));
    // The server sends a ping first, then closes.
    EXPECT_THAT(peer.receive(), HasSubstr("\x89"));
}

TEST(Tls, RefusesWhatIsOlderThan12) {
    const TlsServer server{Certificate("server")};
    const Peer peer(server.port(), {.version_min = TLS1_VERSION, .version_max = TLS1_1_VERSION});
    EXPECT_FALSE(peer.greeted());
}

TEST(Tls, UsesForwardSecretAuthenticatedEncryptionOnly) {
    const TlsServer server{Certificate("server")};
    const Peer peer(server.port(), {.version_max = TLS1_2_VERSION});
    ASSERT_TRUE(peer.greeted());
    const std::string cipher = SSL_get_cipher_name(peer.ssl());
    EXPECT_THAT(cipher, StartsWith("ECDHE-"));
    EXPECT_TRUE(cipher.find("GCM") != std::string::npos ||
                cipher.find("CHACHA20") != std::string::npos)
        << cipher;
    const Peer old(server.port(), {.version_max = TLS1_2_VERSION,
                                   .ciphers = "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384"});
    EXPECT_FALSE(old.greeted());
}

TEST(Tls, NamesItselfByHttpsInLinks) {
    const TlsServer server{Certificate("server")};
    Peer peer(server.port());
    EXPECT_THAT(peer.ask("/fhir/describe"), HasSubstr("base=https://annals.test/fhir"));
}

TEST(Tls, OfAServerThatIsAskedIsTrustedByTheFileThatTheEnvironmentNames) {
    const TlsServer server{Certificate("server")};
    const std::atomic<bool> stop{false};
    const auto fetched = [&] {
        return net::auth::fetch(server.url() + "/text", std::chrono::seconds(10), stop);
    };
    const auto distrusted = fetched();
    ASSERT_FALSE(distrusted);
    EXPECT_THAT(distrusted.error().detail, HasSubstr("self-signed certificate"));
    ::setenv("SSL_CERT_FILE", server.file("cert.pem").c_str(), 1);
    const auto text = fetched();
    ::unsetenv("SSL_CERT_FILE");
    ASSERT_TRUE(text) << text.error().detail;
    EXPECT_EQ(*text, "hello");
}

TEST(Tls, CarriesBodiesOfManyRecordsBothWays) {
    const TlsServer server{Certificate("server")};
    Peer peer(server.port());
    ASSERT_TRUE(peer.greeted());
    const std::string body(3'000'000, 'x');
    ASSERT_TRUE(
        peer.send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n"
                  "Connection: close\r\n\r\n"));
    ASSERT_TRUE(peer.send(body));
    EXPECT_THAT(peer.receive(), EndsWith("\r\n\r\n" + body));

    EXPECT_EQ(Peer(server.port()).ask("/fhir/view?5000000").substr(0, 12), "HTTP/1.1 200");
    EXPECT_GT(Peer(server.port()).ask("/fhir/pieces?3000").size(), 3'000'000U);
    EXPECT_GT(Peer(server.port()).ask("/fhir/slices?300").size(), 3'000'000U);
}

TEST(Tls, WaitsForAClientThatReadsLater) {
    const TlsServer server{Certificate("server")};
    Peer peer(server.port());
    ASSERT_TRUE(
        peer.send("GET /fhir/view?30000000 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_GT(peer.receive().size(), 30'000'000U);
}

TEST(Tls, AnswersPipelinedRequestsInOrder) {
    const TlsServer server{Certificate("server")};
    Peer peer(server.port());
    std::string requests;
    for (int i = 0; i < 50; ++i) {
        requests += "GET /fhir/describe?" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n" +
                    (i == 49 ? "Connection: close\r\n\r\n" : "\r\n");
    }
    ASSERT_TRUE(peer.send(requests));
    const std::string answers = peer.receive();
    std::size_t at = 0;
    for (int i = 0; i < 50; ++i) {
        at = answers.find("query=" + std::to_string(i) + " ", at);
        ASSERT_NE(at, std::string::npos) << i;
    }
}

TEST(Tls, ClosesAConnectionThatSpeaksPlainHttp) {
    const TlsServer server{Certificate("server")};
    Connection plain(server.port());
    ASSERT_TRUE(plain.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n"));
    EXPECT_TRUE(plain.closed_by_peer());
    EXPECT_THAT(Peer(server.port()).ask("/fhir/text"), EndsWith("hello"));
}

TEST(Tls, EndsAHandshakeThatIsNotGoneOnWith) {
    const TlsServer server{Certificate("server"), nullptr, [](core::Config& config) {
                               config.limits.header_timeout = std::chrono::milliseconds(100);
                           }};
    Connection silent(server.port());
    EXPECT_TRUE(silent.closed_by_peer());
    Connection slow(server.port());
    ASSERT_TRUE(slow.send(std::string_view("\x16\x03\x01\x02\x00\x01", 6)));
    EXPECT_TRUE(slow.closed_by_peer());
}

TEST(Tls, DoesNotWaitForAHandshakeWhenItStops) {
    TlsServer server{Certificate("server")};
    Connection silent(server.port());
    Connection slow(server.port());
    ASSERT_TRUE(slow.send(std::string_view("\x16\x03\x01\x02\x00\x01", 6)));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = std::chrono::steady_clock::now();
    server.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_TRUE(silent.closed_by_peer());
    EXPECT_TRUE(slow.closed_by_peer());
}

/// While a client sends at once everything that `add` and then a request produce, another
/// client of the same server thread repeats requests: expects these to be answered.
void expect_others_are_answered_during(const std::function<void(Peer&)>& add) {
    const TlsServer server{Certificate("server"), nullptr,
                           [](core::Config& config) { config.threads = 1; }};
    Peer busy(server.port());
    Peer other(server.port());
    ASSERT_TRUE(busy.greeted() && other.greeted());
    BIO* const records = BIO_new(BIO_s_mem());
    SSL_set0_wbio(busy.ssl(), records);
    add(busy);

    std::atomic<bool> answered = false;
    std::thread sender([&] {
        char* bytes = nullptr;
        auto left = static_cast<std::size_t>(BIO_get_mem_data(records, &bytes));
        while (left > 0) {
            const ssize_t sent = ::send(SSL_get_rfd(busy.ssl()), bytes, left, MSG_NOSIGNAL);
            if (sent < 0) {
                break;
            }
            bytes += sent;
            left -= static_cast<std::size_t>(sent);
        }
        EXPECT_THAT(busy.receive(1), StartsWith("HTTP/1.1 200 "));
        answered = true;
    });
    int answers = 0;
    while (!answered && other.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n") &&
           !other.receive(1).empty()) {
        ++answers;
    }
    sender.join();
    EXPECT_GT(answers, 5);
}

TEST(Tls, OfAClientThatSendsManySmallRecordsKeepsNobodyWaiting) {
    expect_others_are_answered_during([](Peer& busy) {
        constexpr int kRecords = 20'000;
        ASSERT_TRUE(busy.send("POST /fhir/echo HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                              std::to_string(kRecords) + "\r\n\r\n"));
        for (int i = 0; i < kRecords; ++i) {
            ASSERT_TRUE(busy.send("x"));
        }
    });
}

TEST(Tls, OfAClientThatChangesItsKeysWithoutEndKeepsNobodyWaiting) {
    expect_others_are_answered_during([](Peer& busy) {
        for (int i = 0; i < 10'000; ++i) {
            ASSERT_EQ(SSL_key_update(busy.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
            ASSERT_EQ(SSL_do_handshake(busy.ssl()), 1);
        }
        ASSERT_TRUE(busy.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\n\r\n"));
    });
}

TEST(Tls, ResumesSessions) {
    const TlsServer server{Certificate("server")};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const Peer::Options first{.version_min = version, .version_max = version};
        Peer before(server.port(), first);
        EXPECT_THAT(before.ask("/fhir/text"), EndsWith("hello"));  // tickets come with the answer
        EXPECT_EQ(SSL_session_reused(before.ssl()), 0);
        const auto session = before.session();
        Peer::Options again = first;
        again.session = session.get();
        Peer after(server.port(), again);
        ASSERT_TRUE(after.greeted());
        EXPECT_EQ(SSL_session_reused(after.ssl()), 1) << version;
        EXPECT_THAT(after.ask("/fhir/text"), EndsWith("hello"));
    }
}

TEST(Tls, ChoosesHttp11AmongProtocolsAndRefusesOthers) {
    const TlsServer server{Certificate("server")};
    const Peer both(server.port(), {.protocols = std::string("\x02h2\x08http/1.1")});
    ASSERT_TRUE(both.greeted());
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(both.ssl(), &chosen, &size);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), size), "http/1.1");
    EXPECT_FALSE(Peer(server.port(), {.protocols = std::string("\x02h2")}).greeted());
}

TEST(Tls, TakesANewCertificateWithoutARestart) {
    const TlsServer server{Certificate("old")};
    Peer open(server.port());
    EXPECT_EQ(open.server_name(), "old");
    Peer other(server.port());
    EXPECT_THAT(other.ask("/fhir/text"), EndsWith("hello"));
    const auto session = other.session();

    Certificate("new").write(server.file("cert.pem"), server.file("key.pem"));
    EXPECT_TRUE(becomes_true([&] { return Peer(server.port()).server_name() == "new"; }));
    EXPECT_THAT(open.ask("/fhir/text"), EndsWith("hello"));  // open connections continue
    const Peer resumed(server.port(), {.session = session.get()});
    EXPECT_EQ(SSL_session_reused(resumed.ssl()), 1);
}

TEST(Tls, WritesNothingIntoADescriptorThatItHasGivenUp) {
    const TlsServer server{Certificate("server")};
    const auto context =
        net::TlsContext::create({server.file("cert.pem"), server.file("key.pem"), ""});
    ASSERT_TRUE(context);
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    std::thread client([fd = ends[1]] {
        const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> of(SSL_CTX_new(TLS_client_method()),
                                                              SSL_CTX_free);
        const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(of.get()), SSL_free);
        SSL_set_fd(ssl.get(), fd);
        EXPECT_EQ(SSL_connect(ssl.get()), 1);
    });
    net::TlsStream stream(**context, ends[0]);
    EXPECT_EQ(stream.handshake(), net::TlsStream::Step::done);
    client.join();
    EXPECT_GT(stream.add("secret"), 0U);
    // Another socket gets the number.
    stream.abandon();
    std::array<int, 2> others{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, others.data()), 0);
    ASSERT_EQ(::dup2(others[0], ends[0]), ends[0]);

    std::array<char, 16> room{};
    std::size_t count = 0;
    ASSERT_EQ(stream.flush(), net::TlsStream::Step::broken);
    EXPECT_EQ(stream.read(room, count), net::TlsStream::Step::broken);
    stream.close();
    EXPECT_EQ(::recv(others[1], room.data(), room.size(), MSG_DONTWAIT), -1);
    EXPECT_EQ(errno, EAGAIN);
    for (const int fd : {ends[0], ends[1], others[0], others[1]}) {
        ::close(fd);
    }
}

TEST(Tls, WarnsOfAKeyOfWhoseCurveMostClientsHaveNoUse) {
    for (const auto& [curve, is_usual] :
         {std::pair{"P-256", true}, {"P-384", true}, {"P-521", true}, {"brainpoolP256r1", false}}) {
        testing::internal::CaptureStderr();
        const TlsServer server{Certificate("server", nullptr, curve), nullptr};
        const std::string log = testing::internal::GetCapturedStderr();
        EXPECT_EQ(log.find("do not support its curve, ") == std::string::npos, is_usual)
            << curve << log;
        EXPECT_EQ(Peer(server.port()).greeted(), is_usual) << curve;
    }
}

}  // namespace
}  // namespace annals::test
