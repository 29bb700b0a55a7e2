// annals compact by the real binary, and the history cleanup of a server.

#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace annals {
namespace {

using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

Finished compact(const std::string& data, std::vector<std::string> more) {
    more.insert(more.begin(), {"compact", "--data", data});
    return annals(more);
}

long versions_in(const std::string& data) {
    const std::string history = history_of(data);
    return std::ranges::count(history, '\n');
}

TEST(CompactCommand, RemovesTheVersionsBeyondThoseToKeep) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    Finished done = compact(data, {"--max-history-versions", "1", "--dry-run"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("history: 2 versions of 1 resources would be removed\n"))
        << done.output;
    done = compact(data, {"--max-history-versions", "1", "--keep", "Patient=2", "--dry-run"});
    EXPECT_TRUE(done.output.starts_with("history: 1 versions of 1 resources would be removed\n"))
        << done.output;
    done = compact(data, {});
    EXPECT_TRUE(done.output.starts_with("history: 0 versions of 0 resources removed\n"))
        << done.output;
    EXPECT_EQ(versions_in(data), 4);

    done = compact(data, {"--keep", "Patient=2"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(done.output.starts_with("history: 1 versions of 1 resources removed\n"))
        << done.output;
    EXPECT_EQ(versions_in(data), 3);
    EXPECT_EQ(compact(data, {"--max-history-versions", "1"}).exit_code, 0);
    EXPECT_EQ(versions_in(data), 2);
    EXPECT_EQ(annals({"verify", "--data", data}).exit_code, 0);
}

TEST(CompactCommand, SaysWhatItHasRemovedAlsoIfItThenMeetsDamage) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    // More than the 16 MiB of the first segment, so that this is sealed.
    ASSERT_EQ(annals({"generate", "--form", "history", "--size", "18MiB", "--to",
                      directory / "history", "-q"})
                  .exit_code,
              0);
    ASSERT_EQ(annals({"import", "--data", data, directory / "history", "-q"}).exit_code, 0);
    const std::string segment = data + "/segments/0000000001.seg";
    std::string bytes = test::read_whole_file(segment);
    ASSERT_TRUE(std::filesystem::exists(data + "/segments/0000000002.seg"));
    bytes[bytes.size() / 2] ^= 1;
    test::write_whole_file(segment, bytes);

    // Both into one pipe, which shows their order.
    const Finished done = test::run_program(
        "/bin/sh",
        {"-c", R"("$0" compact --data "$1" --max-history-versions 1 2>&1)", kBinary, data});
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_NE(done.output.find("annals: segments/0000000001.seg: offset "), std::string::npos)
        << done.output;
    EXPECT_TRUE(done.output.starts_with("history: ")) << done.output;
    EXPECT_FALSE(done.output.starts_with("history: 0 ")) << done.output;
}

TEST(CompactCommand, SaysWhatIsWrongWithVersionsToKeep) {
    const auto refusal = [](std::vector<std::string> keep) {
        const Finished done = compact("nowhere", std::move(keep));
        EXPECT_EQ(done.exit_code, 2);
        return done.errors.substr(0, done.errors.find('\n'));
    };
    EXPECT_EQ(refusal({"--keep", "Nobody=1"}),
              "annals compact: --keep: \"Nobody=1\" does not name a resource type");
    EXPECT_EQ(refusal({"--keep", "Patient"}),
              "annals compact: --keep: \"Patient\" is not of the form TYPE=NUMBER, such as "
              "Patient=5");
    EXPECT_EQ(refusal({"--keep", "Patient=1", "--keep", "Patient=2"}),
              "annals compact: --keep: Patient appears twice");
}

TEST(CompactCommand, OpensTheStoreBySettingsAsTheServerDoes) {
    const TemporaryDirectory directory;
    const std::string data = directory / "data";
    import_history(data);
    const std::vector<std::string> settings = {"--set", "base_url=https://ehr.example/fhir"};
    std::vector<std::string> first = settings;
    // What a server may do doesn't matter here.
    first.insert(first.end(), {"--set", "read_only=true", "--max-history-versions", "1"});
    const Finished done = compact(data, first);
    EXPECT_TRUE(done.output.starts_with("history: 2 versions of 1 resources removed\n"))
        << done.output << done.errors;
    EXPECT_EQ(compact(data, settings).errors, "");
    const std::string errors = compact(data, {}).errors;
    EXPECT_NE(
        errors.find("the parameters differ from those of the checkpoint: Observation, Patient\n"),
        std::string::npos)
        << errors;
    EXPECT_EQ(compact(data, {"--set", "no_such_key=1"}).exit_code, 2);
}

TEST(CompactCommand, MakesNoStoreWhereThereIsNone) {
    const TemporaryDirectory directory;
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--dry-run"}}) {
        const Finished done = compact(directory / "none", more);
        EXPECT_EQ(done.exit_code, 2) << done.output;
        EXPECT_FALSE(std::filesystem::exists(directory / "none"));
    }
}

/// Whether a thread of the process has this name.
bool has_thread(int pid, const std::string& name) {
    const auto is_it = [&](const auto& task) {
        return test::read_whole_file(task.path().string() + "/comm") == name + "\n";
    };
    return std::ranges::any_of(
        std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid)), is_it);
}

TEST(Serve, CleansHistoryOnlyIfItIsToldTo) {
    const TemporaryDirectory directory;
    {
        RunningServer server(kBinary, directory / "data",
                             {"--set", "history_cleanup_enabled=true"});
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        // A thread sets its name only once it runs.
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (!has_thread(server.process().pid(), "history cleanup") &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_TRUE(has_thread(server.process().pid(), "history cleanup"));
    }
    for (const std::string setting : {"history_cleanup_enabled=false", "read_only=true"}) {
        RunningServer server(kBinary, directory / "data",
                             {"--set", "history_cleanup_enabled=true", "--set", setting});
        ASSERT_FALSE(server.url().empty()) << server.process().errors();
        EXPECT_FALSE(has_thread(server.process().pid(), "history cleanup")) << setting;
    }
}

}  // namespace
}  // namespace annals
