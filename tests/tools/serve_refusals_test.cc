// annals serve: the arguments and settings that it refuses to start with.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace annals {
namespace {

using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

TEST(Serve, RefusesAnUnknownKeyAWrongTypeAndATakenPortAndTouchesNothing) {
    const TemporaryDirectory directory;
    RunningServer running(kBinary, directory / "other");
    ASSERT_FALSE(running.url().empty()) << running.process().errors();
    const std::string taken = "127.0.0.1:" + std::to_string(running.port());
    const std::string data = directory / "data";
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {"no_such_key", {"--set", "no_such_key=1"}},
        {"history_page_size", {"--set", "history_page_size=true"}},
        {taken, {"--listen", taken}},
        {"allow_damaged", {"--allow-damaged"}},
        {"data", {"--set", "data="}},
        {"listen", {"--set", "listen="}},
        {"nowhere.toml", {"--config", directory / "nowhere.toml"}},
        {"audit.file", {"--set", "audit.file=" + (directory / "nowhere/audit.ndjson")}},
        {"audit.file", {"--set", "audit.file=" + data + "/nowhere/audit.ndjson"}},
        {"audit.file: /dev/null: it cannot be synced", {"--set", "audit.file=/dev/null"}},
    };
    for (const auto& [named, more] : cases) {
        std::vector<std::string> arguments = {"serve"};
        if (named != "data") {
            arguments.insert(arguments.end(), {"--data", data});
        }
        if (named != "listen" && named != taken) {
            arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << named;
        EXPECT_TRUE(one_line(done.errors)) << done.errors;
        EXPECT_NE(done.errors.find(named), std::string::npos) << done.errors;
        EXPECT_FALSE(std::filesystem::exists(data)) << named;
    }
}

TEST(Serve, TakesAnEmptyOptionForAnUnsetVariable) {
    for (const std::string name : {"--data", "--listen", "--set"}) {
        const Finished done = annals({"serve", name, ""});
        EXPECT_EQ(done.exit_code, 2);
        EXPECT_TRUE(
            done.errors.starts_with("annals serve: " + name + ": must not be empty\nusage: "))
            << done.errors;
    }
}

TEST(Serve, RefusesTwoDirectoriesOrAddresses) {
    const TemporaryDirectory directory;
    for (const std::string name : {"--data", "--listen"}) {
        const Finished done = annals({"serve", "--data", directory / "a", "--listen", "127.0.0.1:0",
                                      name, name == "--data" ? directory / "b" : "127.0.0.1:1"});
        EXPECT_EQ(done.exit_code, 2);
        EXPECT_NE(done.errors.find(name + " is given more than once"), std::string::npos)
            << done.errors;
        EXPECT_FALSE(std::filesystem::exists(directory / "a"));
    }
}

TEST(Serve, WritesNoLogLineIntoASegmentWhereStandardDescriptorsAreClosedAndNoneCanBeNull) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    if (data.starts_with("/dev/")) {
        GTEST_SKIP() << "the server would not see " << data;
    }
    import_history(data);
    // With it, the server ends after its first log line.
    std::filesystem::create_directories(data + "/packages/installed");
    test::write_whole_file(data + "/packages/installed/p#1.0.0.tgz", "rubbish");
    const std::string script = R"(mount -t tmpfs none /dev && exec "$0" "$@" <&- >&- 2>&-)";
    const Finished done = test::run_program(
        "/usr/bin/unshare", {"--mount", "--map-root-user", "/bin/sh", "-c", script, kBinary,
                             "serve", "--data", data, "--listen", "127.0.0.1:0"});
    for (const char* const tool : {"unshare", "mount"}) {
        if (done.errors.find(tool) != std::string::npos) {
            GTEST_SKIP() << done.errors;  // not permitted
        }
    }
    EXPECT_EQ(done.exit_code, 1);
    const Finished verified = annals({"verify", "--data", data});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

}  // namespace
}  // namespace annals
