// The certificates that clients of a server with TLS identify themselves with.

#include "tests/net/tls_peer.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

namespace annals::test {
namespace {

using testing::HasSubstr;

// With TLS 1.3, a client learns that its certificate was refused only when it reads.
bool is_served(std::uint16_t port, const Certificate* certificate, int version) {
    Peer peer(port, {.version_max = version, .certificate = certificate});
    return peer.greeted() &&
           peer.send("GET /fhir/text HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n") &&
           peer.receive().ends_with("hello");
}

TEST(Tls, AsksClientsForACertificateOfItsAuthority) {
    const Certificate authority("authority");
    const TlsServer server{Certificate("server"), &authority};
    const Certificate known("known", &authority);
    const Certificate stranger("stranger");
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        EXPECT_TRUE(is_served(server.port(), &known, version));
        EXPECT_FALSE(is_served(server.port(), &stranger, version));
        EXPECT_FALSE(is_served(server.port(), nullptr, version));
    }
}

TEST(Tls, TellsClientsOfWhichAuthorityItWantsACertificate) {
    const Certificate authority("authority");
    const TlsServer server{Certificate("server"), &authority};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const Peer peer(server.port(), {.version_max = version, .certificate = &authority});
        const STACK_OF(X509_NAME)* const names = SSL_get0_peer_CA_list(peer.ssl());
        ASSERT_EQ(sk_X509_NAME_num(names), 1) << version;
        EXPECT_EQ(X509_NAME_cmp(sk_X509_NAME_value(names, 0),
                                X509_get_subject_name(authority.certificate())),
                  0);
    }
}

TEST(Tls, RefusesACertificateThatItsAuthorityHasRevoked) {
    const Certificate authority("authority");
    const Certificate good("good", &authority);
    const Certificate revoked("revoked", &authority);
    const auto versions_served = [&](const Certificate* in_list, long seconds,
                                     const Certificate& client) {
        TemporaryDirectory folder;
        const std::string file = folder / "ca.pem";
        authority.write(file, folder / "unused.pem");
        append_revocations(file, authority, in_list, seconds);
        const TlsServer server(Certificate("server"), nullptr,
                               [&](core::Config& config) { config.tls.client_ca_file = file; });
        return int{is_served(server.port(), &client, TLS1_2_VERSION)} +
               int{is_served(server.port(), &client, TLS1_3_VERSION)};
    };
    EXPECT_EQ(versions_served(nullptr, 3600, good), 2);
    EXPECT_EQ(versions_served(&revoked, 3600, good), 2);
    EXPECT_EQ(versions_served(&revoked, 3600, revoked), 0);
    // What is out of date may lack the newest revocations.
    EXPECT_EQ(versions_served(&revoked, -1, good), 0);
}

TEST(Tls, RefusesACertificateOfAnAuthorityThatIsRevokedOrMayBe) {
    const Certificate root("root");
    const Certificate between("between", &root);
    const Certificate client("client", &between);
    enum class RootSays : std::uint8_t { nothing, none_revoked, revoked };
    const auto versions_served = [&](RootSays says) {
        TemporaryDirectory folder;
        const std::string file = folder / "ca.pem";
        root.write(folder / "root.pem", folder / "unused.pem");
        between.write(folder / "between.pem", folder / "unused.pem");
        write_whole_file(
            file, read_whole_file(folder / "root.pem") + read_whole_file(folder / "between.pem"));
        append_revocations(file, between, nullptr);
        if (says != RootSays::nothing) {
            append_revocations(file, root, says == RootSays::revoked ? &between : nullptr);
        }
        const TlsServer server(Certificate("server"), nullptr,
                               [&](core::Config& config) { config.tls.client_ca_file = file; });
        return int{is_served(server.port(), &client, TLS1_2_VERSION)} +
               int{is_served(server.port(), &client, TLS1_3_VERSION)};
    };
    EXPECT_EQ(versions_served(RootSays::none_revoked), 2);
    EXPECT_EQ(versions_served(RootSays::revoked), 0);
    EXPECT_EQ(versions_served(RootSays::nothing), 0);
}

/// The certificate's x5t#S256.
std::string thumbprint_of(const Certificate& certificate) {
    unsigned char digest[32];
    X509_digest(certificate.certificate(), EVP_sha256(), digest, nullptr);
    return base64url({reinterpret_cast<const char*>(digest), sizeof digest});
}

// RFC 8705 section 3: a stolen token is useless, even with a certificate of one's own.
TEST(Tls, HoldsATokenToTheClientCertificateThatItIsBoundTo) {
    const Certificate authority("authority");
    const Certificate owner("owner", &authority);
    const Certificate other("other", &authority);
    const SigningKey key("ES256");
    GuardedServer server([&](core::Config& config, GuardedServer& whole) {
        with_tokens(jwk_set({key.jwk()}))(config, whole);
        config.tls = {whole.file("cert.pem"), whole.file("key.pem"), whole.file("ca.pem")};
        Certificate("server").write(config.tls.cert_file, config.tls.key_file);
        authority.write(config.tls.client_ca_file, whole.file("unused.pem"));
    });
    const std::string bound =
        key.sign(R"({"exp":4000000000,"scope":"system/*.rs","cnf":{"x5t#S256":")" +
                 thumbprint_of(owner) + "\"}}");
    const std::string free = key.sign(kClaims);
    const auto answer = [](Peer& peer, const std::string& token) {
        EXPECT_TRUE(
            peer.send("GET /fhir/Patient/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                      "Authorization: Bearer " +
                      token + "\r\n\r\n"));
        return peer.receive();
    };
    const auto status = [&](const Peer::Options& options, const std::string& token) {
        Peer peer(server.port(), options);
        return answer(peer, token).substr(0, 12);
    };
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const Peer::Options mine{
            .version_min = version, .version_max = version, .certificate = &owner};
        const Peer::Options stolen{
            .version_min = version, .version_max = version, .certificate = &other};
        EXPECT_EQ(status(mine, bound), "HTTP/1.1 404");
        EXPECT_EQ(status(stolen, bound), "HTTP/1.1 401");
        EXPECT_EQ(status(stolen, free), "HTTP/1.1 404");
        // Nor does it help to resume an earlier session.
        Peer first(server.port(), stolen);
        EXPECT_THAT(answer(first, bound), HasSubstr("bound to a different client certificate"));
        const auto session = first.session();
        Peer::Options resumed = stolen;
        resumed.session = session.get();
        Peer again(server.port(), resumed);
        EXPECT_EQ(SSL_session_reused(again.ssl()), 1);
        EXPECT_THAT(answer(again, bound), HasSubstr("bound to a different client certificate"));
    }
}

}  // namespace
}  // namespace annals::test
