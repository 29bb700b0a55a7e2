// The server's side of TLS by itself: its files, when they are read again, and the key of its tickets.

#include "net/tls.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_directory.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

namespace annals::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A folder with a certificate, and a context using it.
class TlsContextTest : public testing::Test {
  protected:
    TlsContextTest() { old_.write(file("cert.pem"), file("key.pem")); }

    std::string file(const std::string& name) const { return folder_ / name; }

    std::unique_ptr<net::TlsContext> create(
        const std::string& ca = {}, std::chrono::seconds ticket_key_life = std::chrono::hours(1)) {
        auto context =
            net::TlsContext::create({file("cert.pem"), file("key.pem"), ca}, ticket_key_life);
        EXPECT_TRUE(context) << context.error().detail;
        return context ? *std::move(context) : nullptr;
    }

    /// Makes it look written an hour from now.
    void date_ahead(const std::string& name) const {
        std::filesystem::last_write_time(file(name), later_);
    }

    const Certificate old_{"old"};
    const std::filesystem::file_time_type later_ =
        std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);

  private:
    const TemporaryDirectory folder_;
};

std::array<unsigned char, 80> ticket_key_of(const net::TlsContext& context) {
    std::array<unsigned char, 80> key{};
    EXPECT_EQ(SSL_CTX_get_tlsext_ticket_keys(context.current().get(), key.data(), key.size()), 1);
    return key;
}

bool is_of(const net::TlsContext& context, const Certificate& certificate) {
    return X509_cmp(SSL_CTX_get0_certificate(context.current().get()), certificate.certificate()) ==
           0;
}

TEST_F(TlsContextTest, IsMadeAnewOnlyWhereAFileHasChanged) {
    const auto context = create();
    ASSERT_TRUE(context);
    const auto before = context->current();
    context->reload_if_changed();
    EXPECT_EQ(context->current(), before);
    date_ahead("cert.pem");
    context->reload_if_changed();
    const auto after = context->current();
    EXPECT_NE(after, before);
    context->reload_if_changed();
    EXPECT_EQ(context->current(), after);
}

TEST_F(TlsContextTest, KeepsItsCertificateWhenTheNewOneIsOfNoUse) {
    const auto context = create();
    ASSERT_TRUE(context);
    Certificate("new").write(file("cert.pem"), file("unused.pem"));
    date_ahead("cert.pem");
    context->reload_if_changed();  // the key belongs to another certificate
    EXPECT_TRUE(is_of(*context, old_));

    const Certificate next("new");
    next.write(file("cert.pem"), file("key.pem"));
    date_ahead("key.pem");
    context->reload_if_changed();
    EXPECT_TRUE(is_of(*context, next));
}

TEST_F(TlsContextTest, TriesAgainWhereWhatWasWrongWithAFileLeavesNoTraceInItsTime) {
    const auto context = create();
    ASSERT_TRUE(context);
    const Certificate next("new");
    const auto change = [&](const std::string& key_file) {
        next.write(file("cert.pem"), file(key_file));
        date_ahead("cert.pem");
        date_ahead("key.pem");
        testing::internal::CaptureStderr();
        context->reload_if_changed();
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_THAT(change("unused.pem"), HasSubstr("the certificate is unchanged"));
    EXPECT_EQ(change("unused.pem"), "");
    EXPECT_TRUE(is_of(*context, old_));
    // The time stays the same, as after a chmod, which tests run by root can't use.
    EXPECT_THAT(change("key.pem"), HasSubstr("the certificate was reloaded"));
    EXPECT_TRUE(is_of(*context, next));
}

TEST_F(TlsContextTest, DoesNotKeepTheKeyOfTicketsForEver) {
    const auto lasting = create();
    const auto passing = create({}, std::chrono::seconds(0));
    ASSERT_TRUE(lasting && passing);
    const auto kept = ticket_key_of(*lasting);
    const auto gone = ticket_key_of(*passing);
    lasting->reload_if_changed();
    passing->reload_if_changed();
    EXPECT_EQ(ticket_key_of(*lasting), kept);
    EXPECT_NE(ticket_key_of(*passing), gone);
    // Nor the content of files that have changed in the meantime.
    const Certificate next("new");
    next.write(file("cert.pem"), file("key.pem"));
    date_ahead("cert.pem");
    passing->reload_if_changed();
    EXPECT_TRUE(is_of(*passing, next));
}

TEST_F(TlsContextTest, WarnsOnceOfAListOfRevokedCertificatesThatIsOutOfDate) {
    const Certificate authority("authority");
    const auto write_list = [&](long seconds) {
        authority.write(file("ca.pem"), file("unused.pem"));
        append_revocations(file("ca.pem"), authority, nullptr, seconds);
    };
    const auto said = [](auto&& step) {
        testing::internal::CaptureStderr();
        step();
        return testing::internal::GetCapturedStderr();
    };
    write_list(3600);
    std::unique_ptr<net::TlsContext> context;
    EXPECT_EQ(said([&] { context = create(file("ca.pem")); }), "");
    ASSERT_TRUE(context);
    write_list(-1);
    date_ahead("ca.pem");
    context->reload_if_changed();
    const std::string warning = "a list of revoked certificates is out of date";
    EXPECT_THAT(said([&] { context->reload_if_changed(); }), HasSubstr(warning));
    EXPECT_EQ(said([&] { context->reload_if_changed(); }), "");
    EXPECT_THAT(said([&] { context = create(file("ca.pem")); }), HasSubstr(warning));
}

// Otherwise, an old ticket would admit a client whose authority is no longer named.
TEST_F(TlsContextTest, DoesNotKeepTheKeyOfTicketsWhereAnotherAuthorityMayBeNamed) {
    Certificate("authority").write(file("ca.pem"), file("unused.pem"));
    const auto open = create();
    const auto closed = create(file("ca.pem"));
    ASSERT_TRUE(open && closed);
    const auto kept = ticket_key_of(*open);
    const auto gone = ticket_key_of(*closed);
    date_ahead("cert.pem");
    date_ahead("ca.pem");
    open->reload_if_changed();
    closed->reload_if_changed();
    EXPECT_EQ(ticket_key_of(*open), kept);
    EXPECT_NE(ticket_key_of(*closed), gone);
}

TEST_F(TlsContextTest, DoesNotKeepTheKeyOfTicketsWhereTheFilesAreOfNoUseAnyMore) {
    old_.write(file("ca.pem"), file("unused.pem"));
    for (const std::string& ca : {std::string(), file("ca.pem")}) {
        const auto context = create(ca, std::chrono::seconds(0));
        ASSERT_TRUE(context);
        const auto before = context->current();
        const auto gone = ticket_key_of(*context);
        std::filesystem::rename(file("cert.pem"), file("elsewhere.pem"));
        context->reload_if_changed();
        std::filesystem::rename(file("elsewhere.pem"), file("cert.pem"));
        EXPECT_NE(ticket_key_of(*context), gone);
        EXPECT_TRUE(is_of(*context, old_));
        SSL_CTX* const now = context->current().get();
        EXPECT_EQ(SSL_CTX_check_private_key(now), 1);
        EXPECT_EQ(SSL_CTX_get_verify_mode(now), SSL_CTX_get_verify_mode(before.get()));
        EXPECT_EQ(SSL_CTX_get_cert_store(now) == SSL_CTX_get_cert_store(before.get()), !ca.empty());
    }
}

/// Writes a private key, with a passphrase if there is one.
void write_key(EVP_PKEY* key, const std::string& to, const std::string& phrase = {}) {
    std::FILE* const out = std::fopen(to.c_str(), "w");
    ASSERT_TRUE(out != nullptr);
    EXPECT_EQ(PEM_write_PrivateKey(out, key, phrase.empty() ? nullptr : EVP_aes_128_cbc(),
                                   reinterpret_cast<const unsigned char*>(phrase.data()),
                                   static_cast<int>(phrase.size()), nullptr, nullptr),
              1);
    std::fclose(out);
}

TEST_F(TlsContextTest, SaysWhichFileIsOfNoUse) {
    const std::string cert = file("cert.pem");
    const std::string key = file("key.pem");
    const auto error_of = [](core::Config::Tls files) {
        const auto context = net::TlsContext::create(files);
        EXPECT_FALSE(context);
        return context ? "" : context.error().detail;
    };
    EXPECT_THAT(error_of({file("none.pem"), key, ""}),
                testing::AllOf(StartsWith("tls.cert_file: "), HasSubstr("none.pem")));
    EXPECT_EQ(error_of({key, key, ""}), "tls.cert_file: " + key + ": it has no certificate");
    const auto no_key = [](const std::string& name) {
        return fmt::format("tls.key_file: {}: it has no key without a passphrase", name);
    };
    EXPECT_EQ(error_of({cert, cert, ""}), no_key(cert));
    EXPECT_EQ(error_of({cert, key, key}), "tls.client_ca_file: " + key + ": it has no certificate");
    write_key(old_.key(), file("encrypted.pem"), "xyzz");  // nobody is asked for the passphrase
    EXPECT_EQ(error_of({cert, file("encrypted.pem"), ""}), no_key(file("encrypted.pem")));
    const auto of_another = [](const std::string& name) {
        return fmt::format("tls.key_file: {}: the key does not belong to the certificate", name);
    };
    write_key(Certificate("other").key(), file("other.pem"));
    EXPECT_EQ(error_of({cert, file("other.pem"), ""}), of_another(file("other.pem")));
    const std::shared_ptr<EVP_PKEY> of_another_kind(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"),
                                                    EVP_PKEY_free);
    write_key(of_another_kind.get(), file("another_kind.pem"));
    EXPECT_EQ(error_of({cert, file("another_kind.pem"), ""}), of_another(file("another_kind.pem")));
}

}  // namespace
}  // namespace annals::test
