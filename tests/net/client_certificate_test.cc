// The certificate that the server presents to other servers: which files are usable, and who gets to see it.

#include "net/auth/client_certificate.h"

#include "net/auth/fetch.h"
#include "net/auth/key_fetcher.h"
#include "tests/net/fake_service.h"
#include "tests/support/certificates.h"
#include "tests/support/files.h"
#include "tests/support/guarded_server.h"
#include "tests/support/hook_receiver.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace annals::test {
namespace {

using net::auth::ClientCertificate;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class ClientCertificateTest : public testing::Test {
  protected:
    ClientCertificateTest() {
        authority_.write(file("ca.pem"), file("unused.pem"));
        server_.write(file("server.pem"), file("server_key.pem"));
        ::setenv("SSL_CERT_FILE", file("server.pem").c_str(), 1);
        issue(authority_);
    }

    ~ClientCertificateTest() override { ::unsetenv("SSL_CERT_FILE"); }

    std::string file(const std::string& name) const { return folder_ / name; }

    /// Writes a client certificate of `authority` to cert.pem and key.pem, newer than what was there.
    void issue(const Certificate& authority) {
        Certificate("client", &authority).write(file("cert.pem"), file("key.pem"));
        date_ahead();
    }

    void date_ahead() {
        for (const char* const name : {"cert.pem", "key.pem"}) {
            std::filesystem::last_write_time(file(name), written_);
        }
        written_ += std::chrono::seconds(2);
    }

    core::Config::Outgoing files() const { return {file("cert.pem"), file("key.pem")}; }

    std::unique_ptr<ClientCertificate> open() const {
        auto opened = ClientCertificate::open(files());
        EXPECT_TRUE(opened) << opened.error().detail;
        return *std::move(opened);
    }

    /// Admits only clients certified by the authority.
    void close_to_others(core::Config& config) const {
        config.tls = {file("server.pem"), file("server_key.pem"), file("ca.pem")};
    }

    TemporaryDirectory folder_;
    const Certificate authority_{"authority"};
    const Certificate server_{"server"};
    std::filesystem::file_time_type written_ =
        std::filesystem::file_time_type::clock::now() + std::chrono::seconds(2);
};

TEST_F(ClientCertificateTest, IsShownToAServerThatAsksForOne) {
    FakeServer server([this](core::Config& config) { close_to_others(config); });
    const std::atomic<bool> stop{false};
    const auto fetched = [&](const ClientCertificate* shown) {
        return net::auth::fetch(server.server().url() + "/text", std::chrono::seconds(10), stop,
                                shown);
    };
    const auto none = ClientCertificate::open({});
    ASSERT_TRUE(none);
    EXPECT_FALSE((*none)->current());
    EXPECT_FALSE(fetched(nullptr));
    EXPECT_FALSE(fetched(none->get()));
    const auto certificate = open();
    EXPECT_EQ(fetched(certificate.get()).value(), "hello");

    // The new certificate, of another authority, is used once the files have been read again.
    issue(Certificate("another"));
    EXPECT_TRUE(fetched(certificate.get()));
    certificate->reload_if_changed();
    EXPECT_FALSE(fetched(certificate.get()));
}

TEST_F(ClientCertificateTest, StaysAsItWasWhileTheFilesAreOfNoUse) {
    const auto certificate = open();
    const auto before = certificate->current();
    certificate->reload_if_changed();
    EXPECT_EQ(certificate->current(), before);

    const auto says = [&] {
        testing::internal::CaptureStderr();
        certificate->reload_if_changed();
        return testing::internal::GetCapturedStderr();
    };
    const Certificate next("next");
    next.write(file("cert.pem"), file("next_key.pem"));
    date_ahead();
    EXPECT_THAT(says(), AllOf(HasSubstr("is unchanged: outgoing.key_file: "),
                              HasSubstr("the key does not belong to the certificate")));
    EXPECT_EQ(certificate->current(), before);
    EXPECT_EQ(says(), "");
    // It is tried again even if the files' times don't change.
    const auto time = std::filesystem::last_write_time(file("key.pem"));
    next.write(file("cert.pem"), file("key.pem"));
    std::filesystem::last_write_time(file("key.pem"), time);
    std::filesystem::last_write_time(file("cert.pem"), time);
    EXPECT_THAT(says(), HasSubstr("was reloaded"));
    EXPECT_NE(certificate->current(), before);
}

TEST_F(ClientCertificateTest, SaysWhichFileIsOfNoUse) {
    const auto error_of = [](const core::Config::Outgoing& files) {
        core::Config config;
        config.outgoing = files;
        const auto checked = net::Server::check(config);
        return checked ? std::string() : checked.error().detail;
    };
    EXPECT_EQ(error_of(files()), "");
    EXPECT_THAT(error_of({file("none"), file("key.pem")}),
                AllOf(StartsWith("outgoing.cert_file: "), HasSubstr("none: cannot be read")));
    EXPECT_THAT(error_of({file("key.pem"), file("key.pem")}),
                AllOf(StartsWith("outgoing.cert_file: "), HasSubstr("it has no certificate")));
    EXPECT_THAT(error_of({file("cert.pem"), file("cert.pem")}),
                AllOf(StartsWith("outgoing.key_file: "), HasSubstr("it has no key")));
    EXPECT_THAT(error_of({file("cert.pem"), file("server_key.pem")}),
                AllOf(StartsWith("outgoing.key_file: "), HasSubstr("the key does not belong")));
}

TEST_F(ClientCertificateTest, IsShownToReceiversOfNotifications) {
    // The receiver asks for a certificate, too.
    GuardedServer receiver(
        [this](core::Config& config, GuardedServer&) { close_to_others(config); });
    const std::string there = receiver.server().url();
    GuardedServer sender([&](core::Config& config, GuardedServer& server) {
        config.outgoing = files();
        config.data = server.file("data");
        config.subscriptions.enabled = true;
        config.subscriptions.endpoints = {there};
        config.subscriptions.retry_delay = std::chrono::milliseconds(10);
        config.subscriptions.attempts = 3;
    });
    const auto says = [&](const std::string& target, const std::string& text) {
        return eventually([&] { return sender.get(target).body.find(text) != std::string::npos; });
    };
    sender.send(
        "PUT", "/Subscription/s",
        R"({"resourceType":"Subscription","id":"s","status":"requested","reason":"r","criteria":)"
        R"("Patient","channel":{"type":"rest-hook","payload":"application/fhir+json","endpoint":")" +
            there + R"("}})");
    EXPECT_TRUE(says("/Subscription/s", R"("status":"active")"));
    sender.send("PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a"})");
    EXPECT_TRUE(eventually([&] {
        return exchange(sender.port(), "GET", "/metrics")
                   .body.find("\nannals_subscription_notifications_total 1\n") != std::string::npos;
    }));
    // The files are checked while the server runs.
    issue(Certificate("another"));
    EXPECT_TRUE(eventually([&] {
        sender.send("POST", "/Patient", R"({"resourceType":"Patient"})");
        return sender.get("/Subscription/s").body.find(R"("status":"error")") != std::string::npos;
    }));
}

TEST_F(ClientCertificateTest, IsShownToWhomIsAskedForKeys) {
    write_whole_file(file("clients.toml"),
                     fmt::format("[[client]]\nid = \"a\"\nscopes = []\njwks = '{}'\n",
                                 jwk_set({SigningKey("ES256").jwk()})));
    const GuardedServer issuer([this](core::Config& config, GuardedServer& server) {
        close_to_others(config);
        config.data = server.file("data");
        config.base_url = "https://annals.example.org/fhir";
        config.auth.mode = "jwt";
        config.auth.token_endpoint.clients_file = file("clients.toml");
    });
    const auto certificate = open();
    std::atomic<bool> taken{false};
    const net::auth::KeyFetcher fetcher(
        "keys", fmt::format("https://127.0.0.1:{}/fhir/auth/jwks", issuer.port()),
        certificate.get(), [&](net::auth::KeySet, std::uint64_t) { taken = true; });
    EXPECT_TRUE(eventually([&] { return taken.load(); }));
}

}  // namespace
}  // namespace annals::test
