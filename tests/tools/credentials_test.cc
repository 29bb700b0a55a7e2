// Credentials of the commands that talk to a server: headers, files of headers, tokens that are renewed.

#include "tools/commands/credentials.h"

#include "core/base/digest.h"
#include "tests/support/certificates.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

namespace annals::tools {
namespace {

using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;
using test::write_whole_file;

const std::string kKey = "the key of the ward";
const std::string kSecret = "a secret of at least thirty-two bytes";
const std::string kPatient = R"({"resourceType":"Patient","id":"p","active":true})"
                             "\n";

std::string token(const std::string& expiry) {
    return test::sign_hs256(kSecret,
                            R"({"sub":"lab","scope":"system/*.cruds","exp":)" + expiry + "}");
}

TEST(Credentials, AreLinesOfHeadersFilesAndATokenAndReadAnew) {
    const TemporaryDirectory directory;
    write_whole_file(directory / "headers", "X-API-Key: k\r\n\nX-Other: o\n");
    write_whole_file(directory / "token", "abc\n");
    const Credentials credentials{{"X-One: 1", "@" + (directory / "headers")}, directory / "token"};
    EXPECT_EQ(*header_lines(credentials),
              "X-One: 1\r\nX-API-Key: k\r\nX-Other: o\r\nAuthorization: Bearer abc\r\n");
    write_whole_file(directory / "token", "def");
    EXPECT_TRUE(header_lines(credentials)->ends_with("Bearer def\r\n"));
    EXPECT_EQ(*header_lines({}), "");
}

TEST(Credentials, OfAPipeAreReadOnceAndKept) {
    const TemporaryDirectory directory;
    write_whole_file(directory / "token", "abc\n");
    const std::string pipe = directory / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_whole_file(pipe, "X-API-Key: k\nX-Other: o\n"); });
    Credentials credentials{{"X-One: 1", "@" + pipe, "X-Two: 2"}, directory / "token"};
    ASSERT_TRUE(settle_credentials(credentials));
    writer.join();
    const std::string headers = "X-One: 1\r\nX-API-Key: k\r\nX-Other: o\r\nX-Two: 2\r\n";
    EXPECT_EQ(*header_lines(credentials), headers + "Authorization: Bearer abc\r\n");
    write_whole_file(directory / "token", "def");
    EXPECT_EQ(*header_lines(credentials), headers + "Authorization: Bearer def\r\n");

    writer = std::thread([&] { write_whole_file(pipe, "ghi\n"); });
    Credentials token{{}, pipe};
    ASSERT_TRUE(settle_credentials(token));
    writer.join();
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(*header_lines(token), "Authorization: Bearer ghi\r\n");
    }
}

TEST(Credentials, ThatAreNoneAreRefusedWithoutShowingThem) {
    const TemporaryDirectory directory;
    write_whole_file(directory / "bad", "the secret\n");
    write_whole_file(directory / "empty", "");
    for (const Credentials& wrong :
         {Credentials{{"the secret"}, ""}, Credentials{{": the secret"}, ""},
          Credentials{{"A: the secret\r\nB: c"}, ""}, Credentials{{"A B: the secret"}, ""},
          Credentials{{"@" + (directory / "bad")}, ""}, Credentials{{"@/nowhere/at/all"}, ""},
          Credentials{{}, directory / "empty"}, Credentials{{}, "/nowhere/at/all"},
          Credentials{{"@/dev/zero"}, ""}, Credentials{{}, "/dev/zero"}}) {
        const auto lines = header_lines(wrong);
        ASSERT_FALSE(lines);
        EXPECT_EQ(lines.error().code, Errc::usage);
        EXPECT_EQ(lines.error().detail.find("the secret"), std::string::npos);
    }
    EXPECT_EQ(header_lines({{}, "/nowhere/token"}).error().detail,
              "/nowhere/token: No such file or directory");
}

TEST(Credentials, HaveACertificateOfUseOrSayWhyNot) {
    const TemporaryDirectory directory;
    const test::Certificate mine("mine");
    mine.write(directory / "cert", directory / "key");
    test::Certificate("other").write(directory / "other", directory / "other key");
    const std::string key = test::read_whole_file(directory / "key");
    write_whole_file(directory / "both", key + test::read_whole_file(directory / "cert"));
    write_whole_file(directory / "cut off",
                     test::read_whole_file(directory / "both").substr(0, key.size() + 99));
    write_whole_file(directory / "neither", "no PEM\n");
    std::FILE* const locked = std::fopen((directory / "locked").c_str(), "w");
    ASSERT_EQ(PEM_write_PrivateKey(locked, mine.key(), EVP_aes_128_cbc(), nullptr, 0, nullptr,
                                   const_cast<char*>("a passphrase")),
              1);
    std::fclose(locked);
    const auto reads = [&](const std::string& cert, const std::string& key_file) {
        const auto path = [&](const std::string& name) {
            return name.empty() ? name : directory / name;
        };
        const auto identity = read_identity({.cert_file = path(cert), .key_file = path(key_file)});
        return identity ? std::string(*identity == nullptr ? "none" : "one")
                        : identity.error().detail.substr(
                              identity.error().detail.starts_with(directory.path())
                                  ? directory.path().size() + 1
                                  : 0);
    };
    EXPECT_EQ(reads("", ""), "none");
    EXPECT_EQ(reads("cert", "key"), "one");
    EXPECT_EQ(reads("both", ""), "one");
    EXPECT_EQ(reads("", "key"), "a client key needs its certificate as well");
    EXPECT_EQ(reads("cert", ""), "cert: contains no private key in PEM format");
    EXPECT_EQ(reads("key", "key"), "key: contains no certificate in PEM format");
    EXPECT_EQ(reads("neither", "key"), "neither: contains no certificate in PEM format");
    EXPECT_EQ(reads("cut off", ""), "cut off: a certificate in it is damaged");
    EXPECT_EQ(reads("cert", "nowhere"), "nowhere: No such file or directory");
    EXPECT_EQ(reads("cert", "."), ".: Is a directory");
    EXPECT_EQ(reads("cert", "locked"),
              "locked: the key has a passphrase; remove it with openssl pkey -in FILE");
    EXPECT_EQ(reads("cert", "other key"),
              "other key: the key does not belong to the certificate (the first) of " +
                  (directory / "cert"));

    ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
    std::thread writer([&] { write_whole_file(directory / "pipe", key); });
    Credentials once{.cert_file = directory / "cert", .key_file = directory / "pipe"};
    ASSERT_TRUE(settle_credentials(once));
    writer.join();
    EXPECT_EQ(*read_identity(once), *read_identity(once)) << "what came from a pipe is kept";
}

/// A server that admits only clients with a certificate signed by
/// `directory`/ca.pem, and such a certificate: cert.pem, key.pem.
class CertificatesOfClients : public testing::Test {
  protected:
    CertificatesOfClients() {
        const test::Certificate authority("authority");
        authority.write(directory_ / "ca.pem", directory_ / "ca key");
        test::Certificate("mine", &authority)
            .write(directory_ / "cert.pem", directory_ / "key.pem");
        test::Certificate("a stranger's").write(directory_ / "other.pem", directory_ / "other key");
        test::trusted_certificate().write(directory_ / "server.pem", directory_ / "server key");
        ::setenv("SSL_CERT_FILE", (directory_ / "server.pem").c_str(), 1);
        write_whole_file(directory_ / "p.ndjson", kPatient);
        server_ = std::make_unique<RunningServer>(
            kBinary, directory_ / "data",
            std::vector<std::string>{"--set", "tls.cert_file=" + (directory_ / "server.pem"),
                                     "--set", "tls.key_file=" + (directory_ / "server key"),
                                     "--set", "tls.client_ca_file=" + (directory_ / "ca.pem")});
        EXPECT_TRUE(server_->url().starts_with("https://")) << server_->process().errors();
    }

    ~CertificatesOfClients() override { ::unsetenv("SSL_CERT_FILE"); }

    /// Runs the command with the options for a certificate; `sides`: their prefixes, as for the two sides of `replicate`.
    Finished run(std::vector<std::string> command, const std::string& cert = "",
                 const std::string& key = "", const std::vector<std::string>& sides = {"--"}) {
        for (const std::string& side : sides) {
            if (!cert.empty()) {
                command.insert(command.end(), {side + "cert", directory_ / cert});
            }
            if (!key.empty()) {
                command.insert(command.end(), {side + "key", directory_ / key});
            }
        }
        return annals(command);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<RunningServer> server_;
};

TEST_F(CertificatesOfClients, AreShownByEveryCommandThatAsksAServer) {
    const std::string url = server_->url();
    const std::string demands = "requires a client certificate (--cert FILE --key FILE;";
    const std::vector<std::string> import{"import", "--server", url, directory_ / "p.ndjson"};
    const Finished none = run(import);
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_NE(none.errors.find(demands), std::string::npos) << none.errors;
    EXPECT_EQ(none.errors.find("may have been stored"), std::string::npos) << none.errors;
    const Finished imported = run(import, "cert.pem", "key.pem");
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;

    const std::vector<std::string> out{"export",    "--server", url,
                                       "--history", "--to",     directory_ / "out"};
    const Finished stranger = run(out, "other.pem", "other key");
    EXPECT_EQ(stranger.exit_code, 2);
    EXPECT_NE(stranger.errors.find("does not accept our certificate: tlsv1 alert unknown ca"),
              std::string::npos)
        << stranger.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out")) << "nothing came";
    write_whole_file(directory_ / "both.pem", test::read_whole_file(directory_ / "cert.pem") +
                                                  test::read_whole_file(directory_ / "key.pem"));
    const Finished exported = run(out, "both.pem");
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;

    const std::string same = "https://localhost:" + std::to_string(server_->port()) + "/fhir";
    const std::vector<std::string> replicate{
        "replicate", "--from", url, "--to", same, "--state", directory_ / "state"};
    const Finished half = run(replicate, "cert.pem", "key.pem", {"--from-"});
    EXPECT_NE(half.errors.find(demands), std::string::npos) << half.errors;
    const Finished copied = run(replicate, "cert.pem", "key.pem", {"--from-", "--to-"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;

    const std::vector<std::string> bench{
        "bench",     "--server", url,         "read:1", "--seconds",     "0.01",
        "--warm-up", "0",        "--preload", "1",      "--connections", "1"};
    const Finished refused = run(bench);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.errors.find(demands), std::string::npos) << refused.errors;
    const Finished measured = run(bench, "cert.pem", "key.pem");
    EXPECT_EQ(measured.exit_code, 0) << measured.errors;

    const Finished plain =
        run({"export", "--server", "http://127.0.0.1:9/fhir", "--history", "--to", "/nowhere/out"},
            "both.pem");
    EXPECT_EQ(plain.exit_code, 2);
    EXPECT_NE(plain.errors.find("a client certificate needs TLS"), std::string::npos)
        << plain.errors;
}

TEST_F(CertificatesOfClients, AreReadAgainByWhoConnectsAgain) {
    auto server = server_with(
        server_->url(), {.cert_file = directory_ / "cert.pem", .key_file = directory_ / "key.pem"});
    ASSERT_TRUE(server) << server.error().detail;
    HttpClient client(*server);
    HttpRequest request;
    request.target = "/healthz";
    const auto asks = [&] {
        client.close();
        const auto reply = client.send(request);
        return reply ? Result<int>(reply->status) : reply.error();
    };
    EXPECT_EQ(*asks(), 200);
    write_whole_file(directory_ / "key.pem", "half of a key");
    EXPECT_EQ(*asks(), 200) << "while it is replaced the old one counts";
    std::filesystem::copy_file(directory_ / "other.pem", directory_ / "cert.pem",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(directory_ / "other key", directory_ / "key.pem",
                               std::filesystem::copy_options::overwrite_existing);
    const auto refused = asks();
    ASSERT_FALSE(refused) << "the new one is read";
    EXPECT_EQ(refused.error().code, Errc::io) << "who was let in waits for another";
    EXPECT_EQ(HttpClient(*server).send(request).error().code, Errc::usage)
        << "who never was doesn't";
}

TEST(Credentials, OfACommandThatAreOfNoUseAreAUsageFault) {
    const std::string url = "http://127.0.0.1:9/fhir";
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"import", "--server", url, "--header", "secret"},
          std::vector<std::string>{"export", "--server", url, "--history", "--to", "/nowhere/out",
                                   "--token-file", "/nowhere/token"},
          std::vector<std::string>{"replicate", "--from", url, "--to", "http://127.0.0.1:10/fhir",
                                   "--to-token-file", "/nowhere/token"},
          std::vector<std::string>{"bench", "--server", url, "--header", "secret"}}) {
        const Finished done = annals(wrong);
        EXPECT_EQ(done.exit_code, 2) << wrong[0];
        EXPECT_NE(done.errors.find("usage: annals"), std::string::npos) << done.errors;
        EXPECT_EQ(done.errors.find("secret"), std::string::npos) << done.errors;
    }
}

TEST(Credentials, OfAKeyWithAScopeThatPermitsNothingAreWarnedOf) {
    const TemporaryDirectory directory;
    write_whole_file(
        directory / "keys.toml",
        "[[key]]\nid = \"ward\"\nsha256 = \"" + sha256_hex(kKey) +
            "\"\nscopes = [\"system/Patient.rs\", \"system/Patinet.rs\", \"patient/*.rs\"]\n");
    RunningServer server(
        kBinary, directory / "a",
        {"--set", "auth.mode=api_key", "--set", "auth.api_keys_file=" + (directory / "keys.toml")});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const std::string told = server.process().errors();
    EXPECT_NE(told.find("the scope 'system/Patinet.rs' of the key 'ward' grants no permission"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("the scope 'patient/*.rs'"), std::string::npos) << told;
    EXPECT_EQ(told.find("'system/Patient.rs'"), std::string::npos) << told;
}

TEST(Credentials, OfAnIssuerWithoutAKeyAreWarnedOf) {
    const TemporaryDirectory directory;
    const std::string keys = directory / "jwks.json";
    const std::string clients = directory / "clients.toml";
    write_whole_file(keys, R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})");
    write_whole_file(clients, "[[client]]\nid = \"lab\"\nscopes = []\njwks = '{\"keys\":[]}'\n");
    RunningServer server(
        kBinary, directory / "a",
        {"--set", "auth.mode=jwt", "--set", "auth.jwt.issuer=https://issuer", "--set",
         "auth.jwt.jwks_file=" + keys, "--set", "base_url=https://server/fhir", "--set",
         "auth.token_endpoint.clients_file=" + clients});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const std::string told = server.process().errors();
    for (const std::string& whose : {keys, std::string("keys of the client 'lab'")}) {
        EXPECT_NE(told.find(whose + ": there is no key that can verify tokens"), std::string::npos)
            << told;
    }
}

TEST(Credentials, LetImportExportAndReplicateIntoGuardedServers) {
    const TemporaryDirectory directory;
    write_whole_file(directory / "keys.toml", "[[key]]\nid = \"ward\"\nsha256 = \"" +
                                                  sha256_hex(kKey) +
                                                  "\"\nscopes = [\"system/*.cruds\"]\n");
    write_whole_file(directory / "secret", kSecret);
    write_whole_file(directory / "header", "X-API-Key: " + kKey + "\n");
    write_whole_file(directory / "token", token("4000000000"));
    write_whole_file(directory / "p.ndjson", kPatient);
    RunningServer source(
        kBinary, directory / "a",
        {"--set", "auth.mode=api_key", "--set", "auth.api_keys_file=" + (directory / "keys.toml")});
    RunningServer target(kBinary, directory / "b",
                         {"--set", "auth.mode=jwt", "--set",
                          "auth.jwt.hs256_secret_file=" + (directory / "secret")});
    ASSERT_FALSE(source.url().empty()) << source.process().errors();
    ASSERT_FALSE(target.url().empty()) << target.process().errors();

    const std::vector<std::string> import{"import", "--server", source.url(),
                                          directory / "p.ndjson"};
    EXPECT_EQ(annals(import).exit_code, 1) << "without a key";
    std::vector<std::string> with_key = import;
    with_key.insert(with_key.end(), {"--header", "@" + (directory / "header")});
    const Finished imported = annals(with_key);
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;

    const Finished copied = annals({"replicate", "--from", source.url(), "--from-header",
                                    "X-API-Key: " + kKey, "--to", target.url(), "--to-token-file",
                                    directory / "token", "--state", directory / "state"});
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_EQ(test::read_whole_file(directory / "state").find(kKey), std::string::npos);
    const Finished same =
        annals({"replicate", "--from", source.url(), "--from-header", "@" + (directory / "header"),
                "--to", target.url(), "--to-token-file", directory / "token", "--verify"});
    EXPECT_EQ(same.exit_code, 0) << same.output << same.errors;

    const Finished exported = annals({"export", "--server", target.url(), "--token-file",
                                      directory / "token", "--history", "--to", directory / "out"});
    EXPECT_EQ(exported.exit_code, 0) << exported.errors;
    EXPECT_NE(test::read_whole_file(directory / "out/history.ndjson").find(R"("id":"p")"),
              std::string::npos);
    write_whole_file(directory / "token", token("1000000000"));
    EXPECT_EQ(annals({"export", "--server", target.url(), "--token-file", directory / "token",
                      "--history", "--to", directory / "late"})
                  .exit_code,
              1);
}

TEST(Replicate, RefusesASinceThatTheSourceCannotMakeAnythingOfAsAUsageFault) {
    const TemporaryDirectory directory;
    RunningServer server(kBinary, directory / "a");
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    const Finished done =
        annals({"replicate", "--from", server.url(), "--to", "http://127.0.0.1:9/fhir", "--since",
                "garbage", "--state", directory / "state"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_NE(done.errors.find("--since"), std::string::npos) << done.errors;
    EXPECT_NE(done.errors.find("usage: annals"), std::string::npos) << done.errors;
    EXPECT_TRUE(done.output.empty()) << done.output;
    EXPECT_FALSE(std::filesystem::exists(directory / "state"));
}

}  // namespace
}  // namespace annals::tools
