// annals backup and restore by the real binary, and serving a backup.

#include "core/base/digest.h"
#include "tests/support/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"
#include "tools/commands/http_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>

namespace annals {
namespace {

using test::Finished;
using test::RunningServer;
using test::TemporaryDirectory;

std::string version(const std::string& id, int number, const std::string& instant) {
    return R"({"resource":{"resourceType":"Patient","id":")" + id + R"(","meta":{"versionId":")" +
           std::to_string(number) + R"(","lastUpdated":")" + instant +
           R"("}},"request":{"method":"PUT","url":"Patient/)" + id +
           "\"},\"response\":{\"status\":\"200\"}}\n";
}

/// Files below `directory` with their sizes and times.
std::map<std::string, std::string> files_of(const std::string& directory) {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        const auto time = entry.last_write_time().time_since_epoch().count();
        all[entry.path().string()] =
            entry.is_regular_file() ? std::to_string(entry.file_size()) + " " + std::to_string(time)
                                    : std::to_string(time);
    }
    return all;
}

class BackupCommand : public ::testing::Test {
  protected:
    BackupCommand() {
        test::write_whole_file(directory_ / "in.ndjson",
                               version("a", 1, "2020-01-01T00:00:00.000Z") +
                                   version("b", 1, "2020-01-02T00:00:00.000Z") +
                                   version("a", 2, "2020-01-03T00:00:00.000Z"));
        EXPECT_EQ(annals({"import", "--data", data_, directory_ / "in.ndjson"}).exit_code, 0);
    }

    TemporaryDirectory directory_;
    const std::string data_ = directory_ / "data";
    const std::string backup_ = directory_ / "backup";
};

TEST_F(BackupCommand, BacksUpAndRestores) {
    const Finished made = annals({"backup", "--data", data_, "--to", backup_});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_TRUE(made.output.starts_with("backed up to position 3: ")) << made.output;
    const Finished verified = annals({"verify", "--data", backup_});
    EXPECT_EQ(verified.exit_code, 0);
    EXPECT_TRUE(verified.output.ends_with("\nsound\n")) << verified.output;
    const Finished again = annals({"backup", "--data", data_, "--to", backup_});
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_NE(again.output.find(" 0 copied"), std::string::npos) << again.output;

    const Finished restored = annals({"restore", "--from", backup_, "--data", directory_ / "new"});
    EXPECT_EQ(restored.exit_code, 0) << restored.errors;
    EXPECT_EQ(history_of(directory_ / "new"), history_of(data_));
    const Finished part =
        annals({"restore", "--from", backup_, "--data", directory_ / "part", "--to-position", "2"});
    EXPECT_EQ(part.exit_code, 0) << part.errors;
    EXPECT_TRUE(history_of(data_).starts_with(history_of(directory_ / "part")));
    EXPECT_NE(part.output.find("position 2"), std::string::npos) << part.output;

    const Finished all = annals({"restore", "--from", backup_, "--data", directory_ / "all",
                                 "--to-instant", "2999-01-01T00:00:00Z"});
    EXPECT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_EQ(history_of(directory_ / "all"), history_of(data_));
}

TEST_F(BackupCommand, RefusesWhatCannotBeWithCodeTwo) {
    EXPECT_EQ(annals({"backup", "--data", directory_ / "none", "--to", backup_}).exit_code, 2);
    EXPECT_EQ(annals({"backup", "--data", data_, "--to", data_}).exit_code, 2);
    EXPECT_EQ(annals({"restore", "--from", data_, "--data", directory_ / "new"}).exit_code, 2);
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--to-position", "0"},
                                                 {"--to-position", "x"},
                                                 {"--to-position", "4"},
                                                 {"--to-instant", "soon"},
                                                 {"--to-instant", "1999-01-01T00:00:00Z"}}) {
        std::vector<std::string> arguments = {"restore", "--from", backup_, "--data",
                                              directory_ / "new"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << more[1] << done.errors;
        EXPECT_EQ(annals({"verify", "--data", directory_ / "new"}).exit_code, 2) << more[1];
    }
    EXPECT_EQ(annals({"serve", "--data", backup_, "--listen", "127.0.0.1:0"}).exit_code, 2)
        << "a backup is not written to";
    const std::string file = directory_ / "in.ndjson";
    const Finished done = annals({"restore", "--from", backup_, "--data", file});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.errors, "annals: mkdir " + file + ": Not a directory\n");
}

TEST_F(BackupCommand, RefusesANewerFormatAndLeavesNoFolderBehind) {
    std::string segment = test::read_whole_file(data_ + "/segments/0000000001.seg");
    segment[8] = 99;  // the version, with the header's checksum
    const std::uint64_t checksum = hash64(std::string_view(segment).substr(0, 56));
    std::memcpy(segment.data() + 56, &checksum, sizeof checksum);
    test::write_whole_file(data_ + "/segments/0000000001.seg", segment);
    const Finished refused = annals({"backup", "--data", data_, "--to", backup_});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.errors.find("0000000001.seg: "), std::string::npos) << refused.errors;
    EXPECT_FALSE(std::filesystem::exists(backup_));
}

TEST_F(BackupCommand, ACopyThatIsNotWholeIsRefusedByItsSegment) {
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    std::filesystem::remove(backup_ + "/segments/0000000001.seg");
    const Finished restored = annals({"restore", "--from", backup_, "--data", directory_ / "new"});
    EXPECT_EQ(restored.exit_code, 1) << restored.output;
    EXPECT_NE(restored.errors.find("0000000001.seg: the segment is missing"), std::string::npos)
        << restored.errors;
    EXPECT_FALSE(std::filesystem::exists(directory_ / "new"));
    const Finished verified = annals({"verify", "--data", backup_});
    EXPECT_EQ(verified.exit_code, 1) << verified.output;
    EXPECT_NE(verified.output.find("damage in 0000000001.seg"), std::string::npos)
        << verified.output;
    EXPECT_TRUE(verified.output.ends_with("\ndamaged in 1 places\n")) << verified.output;
}

TEST_F(BackupCommand, OneThatWasNotFinishedIsNotSound) {
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    test::write_whole_file(backup_ + "/backup.partial", "");
    const Finished verified = annals({"verify", "--data", backup_});
    EXPECT_EQ(verified.exit_code, 1) << verified.output;
    EXPECT_NE(verified.output.find("this backup is unfinished: make it again\n"), std::string::npos)
        << verified.output;
    EXPECT_EQ(verified.output.find("\nsound"), std::string::npos) << verified.output;
    const std::string copy = directory_ / "copy";
    EXPECT_EQ(annals({"restore", "--from", backup_, "--data", copy}).exit_code, 2);
    EXPECT_EQ(annals({"restore", "--from", backup_, "--data", copy, "--unfinished"}).exit_code, 0);
    RunningServer server(kBinary, backup_, {"--read-only"});
    ASSERT_FALSE(server.url().empty()) << server.process().errors();
    EXPECT_NE(server.process().errors().find("this backup is unfinished"), std::string::npos)
        << server.process().errors();
}

TEST_F(BackupCommand, AnInterruptedRestorationIsNoStoreToAnyCommand) {
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    const std::string half = directory_ / "half";
    ASSERT_EQ(annals({"restore", "--from", backup_, "--data", half}).exit_code, 0);
    test::write_whole_file(half + "/restore.partial", "");
    const auto before = files_of(half);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"verify", "--data", half},
          std::vector<std::string>{"backup", "--data", half, "--to", directory_ / "other"},
          std::vector<std::string>{"export", "--data", half, "--to", directory_ / "out"},
          std::vector<std::string>{"serve", "--data", half, "--listen", "127.0.0.1:0"}}) {
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_NE(done.errors.find("restor"), std::string::npos) << done.errors;
    }
    EXPECT_EQ(files_of(half), before);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "other"));
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out")) << "nothing is touched";
}

TEST_F(BackupCommand, ADirectoryThatNobodyMayLookIntoIsNotTakenForAnInterruptedRestoration) {
    const std::string closed = directory_ / "closed";
    std::filesystem::create_symlink("closed", closed);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"verify", "--data", closed},
          std::vector<std::string>{"backup", "--data", closed, "--to", directory_ / "other"},
          std::vector<std::string>{"export", "--data", closed, "--to", directory_ / "out"},
          std::vector<std::string>{"serve", "--data", closed, "--listen", "127.0.0.1:0"}}) {
        const Finished done = annals(arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments[0];
        EXPECT_EQ(done.errors, "annals: " + closed + ": Too many levels of symbolic links\n");
    }
}

TEST_F(BackupCommand, ARestorationBeginsAnewWhereOneWasInterrupted) {
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    const std::string whole = directory_ / "whole";
    ASSERT_EQ(annals({"restore", "--from", backup_, "--data", whole}).exit_code, 0);
    const std::string half = directory_ / "half";
    std::filesystem::create_directories(half + "/segments");
    test::write_whole_file(half + "/restore.partial", "");
    test::write_whole_file(half + "/segments/0000000001.seg", "a part");
    test::write_whole_file(half + "/segments/0000000007.seg", "of another backup");
    const Finished done = annals({"restore", "--from", backup_, "--data", half});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_FALSE(std::filesystem::exists(half + "/restore.partial"));
    EXPECT_FALSE(std::filesystem::exists(half + "/segments/0000000007.seg"));
    EXPECT_EQ(std::filesystem::file_size(half + "/segments/0000000001.seg"),
              std::filesystem::file_size(whole + "/segments/0000000001.seg"));
    EXPECT_EQ(annals({"verify", "--data", half}).exit_code, 0);

    test::write_whole_file(half + "/restore.partial", "");
    test::write_whole_file(half + "/segments/notes", "somebody's");
    EXPECT_EQ(annals({"restore", "--from", backup_, "--data", half}).exit_code, 2);
    EXPECT_TRUE(std::filesystem::exists(half + "/segments/notes"));
}

TEST_F(BackupCommand, ABackupIsServedWithoutATrace) {
    ASSERT_EQ(annals({"backup", "--data", data_, "--to", backup_}).exit_code, 0);
    const auto before = files_of(backup_);
    {
        RunningServer server(kBinary, backup_, {"--read-only"});
        ASSERT_FALSE(server.url().empty());
        tools::HttpClient client(*tools::parse_server_url(server.url()));
        tools::HttpRequest request;
        request.target = "/fhir/Patient/a";
        EXPECT_EQ(client.send(request)->status, 200);
        request.target = "/fhir/Patient?_id=b";
        EXPECT_NE(client.send(request)->body.find("\"total\":1"), std::string::npos);
        request.target = "/fhir/Patient/a";
        request.method = "DELETE";
        EXPECT_EQ(client.send(request)->status, 405);
        server.process().kill(SIGTERM);
        EXPECT_EQ(server.process().wait(std::chrono::seconds(20)), 0);
    }
    EXPECT_EQ(files_of(backup_), before);
}

TEST_F(BackupCommand, AServerBacksItselfUp) {
    {
        RunningServer server(kBinary, data_);
        ASSERT_FALSE(server.url().empty());
        tools::HttpClient client(*tools::parse_server_url(server.url()));
        tools::HttpRequest request;
        request.method = "POST";
        request.target = "/fhir/$backup?to=hot";
        EXPECT_EQ(client.send(request)->status, 202);
        request.method = "GET";
        request.target = "/fhir/$backup";
        int status = 202;
        while (status == 202) {
            status = client.send(request)->status;
        }
        EXPECT_EQ(status, 200);
        server.process().kill(SIGTERM);
        EXPECT_EQ(server.process().wait(std::chrono::seconds(20)), 0);
    }
    EXPECT_EQ(annals({"verify", "--data", data_ + "/backups/hot"}).exit_code, 0);
    EXPECT_EQ(history_of(data_ + "/backups/hot"), history_of(data_));
}

}  // namespace
}  // namespace annals
