// How the commands that speak to a server show who they are: headers, files of headers, tokens that are renewed.

#include "tools/commands/credentials.h"

#include "core/base/digest.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tokens.h"
#include "tests/tools/annals_command.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
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
    EXPECT_NE(told.find("the scope 'system/Patinet.rs' of the key 'ward' permits nothing"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("the scope 'patient/*.rs'"), std::string::npos) << told;
    EXPECT_EQ(told.find("'system/Patient.rs'"), std::string::npos) << told;
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
