// The command annals import: which files are read, in which order, and where it stops.

#include "core/base/limits.h"
#include "tests/support/archives.h"
#include "tests/support/certificates.h"
#include "tests/support/http_endpoint.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace annals {
namespace {

using std::chrono::seconds;
using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(ImportCommand, ReadsFoldersInTheOrderOfTheirNames) {
    const TemporaryDirectory directory;
    std::filesystem::create_directories(directory / "in/3");
    // In another order, later lines would be ignored.
    for (const int number : {5, 2, 8, 1, 7, 3, 6, 4}) {
        const std::string line = fmt::format(
            R"({{"resource":{{"resourceType":"Patient","id":"p","meta":{{"versionId":"{}"}}}},"request":{{"method":"PUT","url":"Patient/p"}}}})",
            number);
        const bool is_packed = number % 4 > 1;
        test::write_whole_file(directory / fmt::format("in/{}{}.{}{}",
                                                       number < 3   ? "2"
                                                       : number < 6 ? "3/"
                                                                    : "4",
                                                       number, number % 2 == 0 ? "json" : "ndjson",
                                                       is_packed ? ".gz" : ""),
                               is_packed ? test::gzipped(line) : line);
    }
    test::write_whole_file(directory / "in/other.txt", "no JSON");
    test::write_whole_file(directory / "in/other.gz", "no JSON");
    test::write_whole_file(directory / "in/48.json.gz",
                           test::gzipped("what 48.json was packed to"));
    const Finished done = annals({"import", "--data", directory / "data", directory / "in"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_EQ(done.errors,
              directory / "in/48.json.gz: skipped, as the uncompressed file is here as well\n");
    EXPECT_EQ(done.output, "imported 8: 0 there already, 0 refused\n");
}

TEST(ImportCommand, StoresTheBundlesOfAnExportAndCarriesOutOthers) {
    const TemporaryDirectory directory;
    constexpr std::string_view kEntry =
        R"({"resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}})";
    const std::string bundle = fmt::format(
        R"({{"resourceType":"Bundle","id":"b","type":"batch","entry":[{0},{0}]}})", kEntry);
    for (const auto& [name, versions] : {std::pair{"Bundle.ndjson", 1}, {"batch.ndjson", 2}}) {
        test::write_whole_file(directory / name, bundle);
        const Finished done = annals({"import", "--data", directory / "data", directory / name});
        EXPECT_EQ(done.output, fmt::format("imported {}: 0 there already, 0 refused\n", versions))
            << name;
    }
}

TEST(ImportCommand, TellsAPackedFileThatWasCutOff) {
    const TemporaryDirectory directory;
    const std::string bytes = test::gzipped(R"({"resourceType":"Bundle","type":"document"})"
                                            "\n");
    test::write_whole_file(directory / "Bundle.ndjson.gz", bytes.substr(0, bytes.size() - 4));
    const Finished done =
        annals({"import", "--data", directory / "data", directory / "Bundle.ndjson.gz"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("Bundle.ndjson.gz: the gzip data is cut short"), std::string::npos)
        << done.errors;
    EXPECT_EQ(done.output, "imported 1: 0 there already, 0 refused\n");
}

TEST(ImportCommand, SaysHowFarItHasReadWhereItStops) {
    const TemporaryDirectory directory;
    const test::HttpEndpoint server(
        [](const std::string&) { return test::HttpEndpoint::Answer{403, "{}"}; });
    const std::string line = R"({"resourceType":"Patient"})";
    std::string lines;
    for (int i = 0; i < 1500; ++i) {
        lines += line + "\n";
    }
    test::write_whole_file(directory / "a.ndjson", lines);
    test::write_whole_file(directory / "b.ndjson", "no JSON\n");
    const Finished done = annals({"import", "--server", server.url(), "--connections", "1",
                                  directory / "a.ndjson", directory / "b.ndjson"});
    EXPECT_EQ(done.exit_code, 1);
    const std::string file = directory / "a.ndjson";
    EXPECT_TRUE(done.errors.starts_with(file + ":1: stopped here: 403 {}\n"));
    EXPECT_TRUE(done.errors.ends_with("\nannals: " + file + ":1: stopped here: 403 {}\n"))
        << "behind all the lines that were left out";
    EXPECT_NE(done.errors.find(": nothing after this line was read\n"), std::string::npos);
    // One pack was in flight and two waited, so the fourth was the last to begin.
    EXPECT_EQ(done.errors.find(file + ":1025:"), std::string::npos);
    EXPECT_EQ(done.errors.find("b.ndjson"), std::string::npos) << "the next file is not read";
    EXPECT_TRUE(done.output.starts_with("imported 0: 0 there already, ")) << done.output;
    EXPECT_EQ(server.requests(), 1);
}

TEST(ImportCommand, ThatStopsInAHistoryDoesNotSayThatItIsDone) {
    const TemporaryDirectory directory;
    const test::HttpEndpoint server(
        [](const std::string&) { return test::HttpEndpoint::Answer{403, "{}"}; });
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished done = annals({"import", "--server", server.url(), directory / "in.ndjson"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("in.ndjson:1: stopped here: 403 {}\n"), std::string::npos)
        << done.errors;
    EXPECT_EQ(done.output, "imported 0: 0 there already, 0 refused\n");
}

TEST(ImportCommand, TakesNothingWhereAFileIsNotThere) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished done = annals({"import", "--data", directory / "data", directory / "in.ndjson",
                                  directory / "none.ndjson"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.output, "");
    EXPECT_FALSE(std::filesystem::exists(directory / "data"));
}

TEST(ImportCommand, SaysWhyAPathCannotBeLookedAt) {
    const TemporaryDirectory directory;
    const std::string path = directory / std::string(300, 'x');
    const Finished done = annals({"import", "--data", directory / "data", path});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.errors, "annals: " + path + ": File name too long\n");
}

TEST(ImportCommand, ReadsStdinOnlyWhereItIsMeant) {
    const TemporaryDirectory directory;
    const std::string lines = directory / "in.ndjson";
    test::write_whole_file(lines, kHistory);
    test::write_whole_file(directory / "one.ndjson", R"({"resourceType":"Patient","id":"x"})");
    const auto import = [&](const std::vector<std::string>& paths) {
        std::vector<std::string> arguments = {"import", "--data", directory / "data"};
        arguments.insert(arguments.end(), paths.begin(), paths.end());
        return test::run_program(kBinary, arguments, std::chrono::seconds(60), lines).output;
    };
    EXPECT_EQ(import({directory / "one.ndjson"}), "imported 1: 0 there already, 0 refused\n");
    EXPECT_EQ(import({"-"}), "imported 4: 0 there already, 0 refused\n");
    EXPECT_EQ(import({}), "imported 0: 4 there already, 0 refused\n");
}

TEST(ImportCommand, RefusesWhatCannotBeMeant) {
    const TemporaryDirectory directory;
    const std::string server = "http://127.0.0.1:1/fhir";
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{},
          {"--data", directory / "data", "--server", server},
          {"--server", server, "--config", directory / "x.toml"},
          {"--server", server, "--set", "limits.max_body=1MB"},
          {"--server", "127.0.0.1:1"},
          {"--data", directory / "data", "--header", "X-API-Key: k"},
          {"--data", directory / "data", "--token-file", "/dev/null"},
          {"--data", directory / "data", "--cert", "/dev/null"},
          {"--data", directory / "data", "--key", "/dev/null"},
          {"--data", directory / "data", "--connections", "0"},
          {"--data", directory / "data", "--connections", "257"}}) {
        std::vector<std::string> arguments = {"import"};
        arguments.insert(arguments.end(), wrong.begin(), wrong.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << done.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "data")) << done.errors;
    }
}

TEST(ImportCommand, SaysInOneLineWhatIsWrongWithATextWhateverItHolds) {
    const TemporaryDirectory directory;
    const std::string file = directory / "in.ndjson";
    test::write_whole_file(file, R"({"resourceType":"Patient","id":"a\u001b[2J\nb"})");
    const Finished done = annals({"import", "--data", directory / "data", file});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(done.errors, file + ":1: 400 'a [2J b' is not a valid id\n");
}

TEST(ImportCommand, EndsByASignalWithWhatItHasReadAndSaysHowFarThatIs) {
    const TemporaryDirectory directory;
    const std::string lines = directory / "lines";
    ASSERT_EQ(::mkfifo(lines.c_str(), 0600), 0);
    const int pipe = ::open(lines.c_str(), O_RDWR);
    const std::string line = R"({"resourceType":"Patient","id":"x"})";
    ASSERT_GT(::write(pipe, (line + "\n{").c_str(), line.size() + 2), 0);
    test::ChildProcess import(kBinary, {"import", "--data", directory / "data"}, lines);
    int unread = 1;
    for (int i = 0; i < 3000 && unread > 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ::ioctl(pipe, FIONREAD, &unread);
    }
    import.kill(SIGTERM);
    EXPECT_EQ(import.wait(std::chrono::seconds(30)), 1);
    EXPECT_EQ(import.output(), "imported 1: 0 there already, 0 refused\n");
    EXPECT_EQ(import.errors(), "-:1: nothing after this line was read\n");
    ::close(pipe);
}

// With this limit, sanitizers have no memory for themselves.
#if !defined(__has_feature) || \
    !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
TEST(ImportCommand, ThatRunsOutOfMemoryDoesNotSayThatItCouldNotStart) {
    const TemporaryDirectory directory;
    const std::string lines = directory / "lines";
    ASSERT_EQ(::mkfifo(lines.c_str(), 0600), 0);
    const int held = ::open(lines.c_str(), O_RDWR);
    test::ChildProcess import(kBinary, {"import", "--data", directory / "data"}, lines);
    const int pipe = ::open(lines.c_str(), O_WRONLY);
    ASSERT_GT(::write(pipe, "x", 1), 0);
    int unread = 1;
    for (int i = 0; i < 3000 && unread > 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ::ioctl(pipe, FIONREAD, &unread);
    }
    ::close(held);
    std::uint64_t pages = 0;
    std::ifstream("/proc/" + std::to_string(import.pid()) + "/statm") >> pages;
    const rlim_t limit = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (8 << 20);
    const rlimit little{limit, limit};
    ASSERT_EQ(::prlimit(import.pid(), RLIMIT_AS, &little, nullptr), 0);
    std::signal(SIGPIPE, SIG_IGN);
    // A line that never ends.
    const std::string piece(1 << 20, 'x');
    for (int i = 0; i < 256 && ::write(pipe, piece.data(), piece.size()) > 0; ++i) {
    }
    ::close(pipe);
    EXPECT_EQ(import.wait(std::chrono::seconds(30)), 1);
    EXPECT_EQ(import.errors(), "annals: not enough memory (ulimit -v)\n");
}
#endif

TEST(ImportCommand, EndsByASignalAlsoWhereTheServerIsAway) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", R"({"resourceType":"Patient"})");
    test::ChildProcess import(
        kBinary, {"import", "--server", test::deserted_url(), directory / "in.ndjson"});
    for (int i = 0; i < 3000 && import.errors().find("retrying") == std::string::npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    import.kill(SIGINT);
    EXPECT_EQ(import.wait(std::chrono::seconds(20)), 1);
    EXPECT_EQ(import.output(), "imported 0: 0 there already, 1 refused\n");
    EXPECT_NE(import.errors().find("Connection refused\n"), std::string::npos) << import.errors();
}

TEST(ImportCommand, KeepsToTheSettingsThatItIsGiven) {
    const TemporaryDirectory directory;
    test::write_whole_file(
        directory / "in.ndjson",
        R"({"resourceType":"Patient","name":[{"text":")" + std::string(3000, 'x') + "\"}]}");
    const Finished done = annals({"import", "--data", directory / "data", "--set",
                                  "limits.max_body=2kB", directory / "in.ndjson"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("in.ndjson:1: 413 "), std::string::npos) << done.errors;
}

TEST(ImportCommand, WritesNoLogLineIntoASegmentWhereStandardDescriptorsAreClosed) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const Finished done =
        test::run_program("/bin/sh", {"-c", R"(exec "$0" "$@" <&- >&- 2>&-)", kBinary, "import",
                                      "--data", directory / "data", directory / "in.ndjson"});
    EXPECT_EQ(done.exit_code, 0);
    const Finished verified = annals({"verify", "--data", directory / "data"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    EXPECT_NE(verified.output.find("versions 4"), std::string::npos) << verified.output;
}

TEST(ImportCommand, NamesTheLinesThatAreRefusedAndTakesTheOthers) {
    const TemporaryDirectory directory;
    const std::string file = directory / "in.ndjson";
    test::write_whole_file(file, R"({"resourceType":"Patient","id":"a"}
{"resourceType":"Patient","id":"b",}
{"resourceType":"Nothing","id":"c"}
{"resourceType":"Patient","id":"d d"}
{"resourceType":"Patient"}
{"a":1}
{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"PUT","url":"Patient/e"},"resource":{"resourceType":"Patient","id":"f"}}]}
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient","id":"g"}}]}
)");
    const Finished done = annals({"import", "--data", directory / "data", file});
    EXPECT_EQ(done.exit_code, 1);
    for (const int line : {2, 3, 4, 6, 7}) {
        EXPECT_NE(done.errors.find(file + ":" + std::to_string(line) + ":"), std::string::npos)
            << line << "\n"
            << done.errors;
    }
    EXPECT_NE(done.output.find("imported 3: 0 there already, 5 refused"), std::string::npos)
        << done.output;
}

TEST(ImportCommand, RefusesALineThatNestsTooDeepForABundleAndTakesTheOthers) {
    const TemporaryDirectory directory;
    const std::string file = directory / "in.ndjson";
    const std::string deep = R"({"resourceType":"Patient","id":"a","x":)" +
                             std::string(kJsonWrappedDepthMax - 3, '[') +
                             std::string(kJsonWrappedDepthMax - 3, ']') + "}";
    const std::string request = R"("request":{"method":"PUT","url":"Patient/a"})";
    test::write_whole_file(file, deep + "\n" + R"({"resource":)" + deep + "," + request + "}\n" +
                                     R"({"resourceType":"Patient","id":"b"})" + "\n");
    const Finished done = annals({"import", "--data", directory / "data", file});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_EQ(done.errors.find("stopped here"), std::string::npos) << done.errors;
    EXPECT_NE(done.output.find("imported 1: 0 there already, 2 refused"), std::string::npos)
        << done.output;
}

TEST(ImportCommand, TakesWhatItHasReadBeforeAFileThatItCannotRead) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "in.ndjson", kHistory);
    const std::string data = directory / "data";
    const Finished done =
        annals({"import", "--data", data, directory / "in.ndjson", "/proc/self/mem"});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.errors.find("/proc/self/mem: cannot be read"), std::string::npos) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 4: ")) << done.output;
    EXPECT_NE(history_of(data).find("Patient/1/_history/5"), std::string::npos);
}

TEST(ImportCommand, AsksForNoAuthenticationWhereAServerOfTheSameSettingsWould) {
    const TemporaryDirectory directory;
    test::write_whole_file(directory / "a.ndjson",
                           kHistory + R"({"resourceType":"Patient","id":"x"})" + "\n");
    for (const char* settings :
         {"listen = \"0.0.0.0:8080\"\n",
          "[auth]\nmode = \"api_key\"\napi_keys_file = \"/nowhere/at/all\"\n"}) {
        test::write_whole_file(directory / "annals.toml", settings);
        const Finished done = annals({"import", "--data", directory / "data", "--config",
                                      directory / "annals.toml", directory / "a.ndjson"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
    }
}

TEST(ImportCommand, PassesOverLinksThatLeadNowhereInAFolder) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "in");
    std::filesystem::create_symlink("/nowhere/at/all", directory / "in/.#lock.json");
    Finished done = annals({"import", "--data", directory / "data", directory / "in"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_NE(done.errors.find("in: contains no .ndjson or .json file, compressed or not"),
              std::string::npos)
        << done.errors;
    test::write_whole_file(directory / "in/a.ndjson", kHistory);
    done = annals({"import", "--data", directory / "data", directory / "in"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 4: ")) << done.output;
}

TEST(ImportCommand, GoesOnWhereTheServerHasClosedAnIdleConnectionWithTls) {
    const TemporaryDirectory directory;
    const test::Certificate certificate("annals");
    certificate.write(directory / "cert.pem", directory / "key.pem");
    RunningServer server(
        kBinary, directory / "data",
        {"--set", "tls.cert_file=" + (directory / "cert.pem"), "--set",
         "tls.key_file=" + (directory / "key.pem"), "--set", "limits.idle_timeout=1s"});
    ASSERT_TRUE(server.url().starts_with("https://")) << server.process().errors();

    // Enough for a batch to be sent before the pause.
    const std::string line = R"({"resourceType":"Patient","name":[{"text":")" +
                             std::string(8000, 'x') +
                             R"("}]})"
                             "\n";
    const std::string lines = directory / "lines";
    ASSERT_EQ(::mkfifo(lines.c_str(), 0600), 0);
    std::signal(SIGPIPE, SIG_IGN);
    std::thread writer([&] {
        std::ofstream out(lines);
        for (int i = 0; i < 800; ++i) {
            out << line << std::flush;
            if (i == 399) {
                std::this_thread::sleep_for(seconds(3));
            }
        }
    });
    ::setenv("SSL_CERT_FILE", std::string(directory / "cert.pem").c_str(), 1);
    const Finished done = test::run_program(
        kBinary, {"import", "--server", server.url(), "--connections", "1"}, seconds(60), lines);
    ::unsetenv("SSL_CERT_FILE");
    writer.join();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("imported 800: ")) << done.output;
}

}  // namespace
}  // namespace annals
