// The file of the audit log: it loses and repeats nothing, whatever the device does.

#include "net/audit.h"
#include "tests/support/guarded_server.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sys/stat.h>

#include <sstream>

namespace annals::test {
namespace {

using net::AuditLog;
using testing::HasSubstr;

core::Config::Audit settings(std::uint64_t max_bytes = 100 << 20) {
    core::Config::Audit audit;
    audit.file = "log/audit";
    audit.max_bytes = max_bytes;
    return audit;
}

std::string content(SimFileSystem& files, const std::string& path) {
    auto file = files.open(path, storage::FileSystem::Mode::read);
    if (!file) {
        return {};
    }
    std::string text((*file)->size().value(), '\0');
    EXPECT_TRUE((*file)->read(0, text));
    return text;
}

TEST(AuditLog, GoesOnAtItsEndAndPutsFullFilesAside) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    std::size_t added = 0;
    for (int round = 0; round < 2; ++round) {
        auto log = AuditLog::open(settings(100), files);
        ASSERT_TRUE(log) << log.error().detail;
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE((*log)->reserve());
            (*log)->add(fmt::format("line {:03}", added++));
            ASSERT_TRUE(becomes_true([&] { return (*log)->waiting() == 0; }));
        }
    }
    std::string all;
    std::size_t numbered = 1;
    for (; files.exists(fmt::format("log/audit.{}", numbered)); ++numbered) {
        const std::string part = content(files, fmt::format("log/audit.{}", numbered));
        EXPECT_LE(part.size(), 100U);
        all += part;
    }
    EXPECT_GE(numbered, 3U);
    all += content(files, "log/audit");
    std::string expected;
    for (std::size_t i = 0; i < added; ++i) {
        expected += fmt::format("line {:03}\n", i);
    }
    EXPECT_EQ(all, expected);
}

TEST(AuditLog, GoesOnWhereAFullFileWasPutAsideAndTheNextCouldNotBeMade) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    auto log = AuditLog::open(settings(100), files);
    ASSERT_TRUE(log);
    files.fail_next(SimFileSystem::Call::create, Errc::io);
    std::string expected;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE((*log)->reserve());
        (*log)->add(fmt::format("line {:03}", i));
        ASSERT_TRUE(becomes_true([&] { return (*log)->waiting() == 0; }));
        expected += fmt::format("line {:03}\n", i);
    }
    std::string all;
    for (int number = 1; files.exists(fmt::format("log/audit.{}", number)); ++number) {
        all += content(files, fmt::format("log/audit.{}", number));
    }
    EXPECT_EQ(all + content(files, "log/audit"), expected);
}

TEST(AuditLog, HasItsFileForItself) {
    const TemporaryDirectory directory;
    storage::FileSystem& files = storage::posix_file_system();
    core::Config config;
    config.data = directory.path();
    config.audit.file = directory / "audit";
    config.audit.max_bytes = 100;
    auto log = AuditLog::open(config.audit, files);
    ASSERT_TRUE(log);
    const auto refused = [&] {
        const auto second = AuditLog::open(config.audit, files);
        EXPECT_THAT(second ? "" : second.error().detail, HasSubstr("in use by another process"));
        return !second && !AuditLog::check(config, files);
    };
    EXPECT_TRUE(refused());
    for (int i = 0; i < 30; ++i) {
        ASSERT_TRUE((*log)->reserve());
        (*log)->add("a line of many");
        ASSERT_TRUE(becomes_true([&] { return (*log)->waiting() == 0; }));
    }
    ASSERT_TRUE(files.exists(directory / "audit.1"));
    EXPECT_TRUE(refused());
    log->reset();
    // A check changes nothing.
    EXPECT_TRUE(AuditLog::check(config, files));
    EXPECT_GT((*files.open(config.audit.file, storage::FileSystem::Mode::read))->size().value(),
              0U);
    EXPECT_TRUE(AuditLog::open(config.audit, files));
    config.audit.file = directory / "new";
    EXPECT_TRUE(AuditLog::check(config, files));
    EXPECT_FALSE(files.exists(config.audit.file));
    // It may be in the data directory, which is created later, but in no other directory that is missing.
    config.data = directory / "data";
    config.audit.file = config.data + "/audit";
    EXPECT_TRUE(AuditLog::check(config, files));
    for (const std::string& nowhere : {config.data + "/below/audit", directory / "other/audit"}) {
        config.audit.file = nowhere;
        EXPECT_FALSE(AuditLog::check(config, files)) << nowhere;
    }
}

TEST(AuditLog, LosesAndDoublesNothingWhileTheDeviceIsFull) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    auto log = AuditLog::open(settings(), files);
    ASSERT_TRUE(log);
    files.set_space(20);
    std::size_t added = 0;
    while ((*log)->reserve()) {
        (*log)->add(fmt::format("line {}", added++));
    }
    // The lines being written and those waiting, but no more.
    EXPECT_GE(added, AuditLog::kLinesMax);
    EXPECT_FALSE((*log)->reserve());
    files.set_space(std::nullopt);
    EXPECT_TRUE(becomes_true([&] { return (*log)->waiting() == 0; }));
    EXPECT_EQ((*log)->lines(), added);
    log->reset();
    std::istringstream text(content(files, "log/audit"));
    std::size_t i = 0;
    for (std::string line; std::getline(text, line); ++i) {
        ASSERT_EQ(line, fmt::format("line {}", i));
    }
    EXPECT_EQ(i, added);
}

void add_line(AuditLog& log, std::string_view line) {
    ASSERT_TRUE(log.reserve());
    log.add(line);
    ASSERT_TRUE(becomes_true([&] { return log.waiting() == 0; }));
}

TEST(AuditLog, BeginsOnANewLineWhateverACrashHasLeft) {
    const std::string zeros(100'000, '\0');
    for (const auto& [left, expected] : std::vector<std::pair<std::string, std::string>>{
             {"", "next\n"},
             {"line\n", "line\nnext\n"},
             {"line\nhal", "line\nhal\nnext\n"},
             {"line\n" + zeros, "line\nnext\n"},
             {"line\nhal" + zeros, "line\nhal\nnext\n"},
             {zeros, "next\n"}}) {
        SimFileSystem files;
        ASSERT_TRUE(files.make_directory("log"));
        files.set_content("log/audit", left);
        auto log = AuditLog::open(settings(), files);
        ASSERT_TRUE(log) << log.error().detail;
        add_line(**log, "next");
        EXPECT_EQ(content(files, "log/audit"), expected);
    }
}

TEST(AuditLog, IsThereAfterAPowerCutThoughItsFileIsNew) {
    for (const std::uint64_t bytes_max : {100U << 20, 100U}) {
        SimFileSystem files;
        ASSERT_TRUE(files.make_directory("log"));
        std::string expected;
        {
            auto log = AuditLog::open(settings(bytes_max), files);
            ASSERT_TRUE(log);
            for (int i = 0; i < 20; ++i) {
                add_line(**log, fmt::format("line {:03}", i));
                expected += fmt::format("line {:03}\n", i);
            }
        }
        const auto after = files.after_power_cut(0);
        std::string all;
        for (int number = 1; after->exists(fmt::format("log/audit.{}", number)); ++number) {
            all += content(*after, fmt::format("log/audit.{}", number));
        }
        EXPECT_EQ(all + content(*after, "log/audit"), expected);
    }
}

TEST(AuditLog, IsThereAfterAPowerCutThoughAKilledProcessHasMadeItsFile) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    ASSERT_TRUE(files.open("log/audit", storage::FileSystem::Mode::create));
    {
        auto log = AuditLog::open(settings(), files);
        ASSERT_TRUE(log);
        add_line(**log, "line");
    }
    const auto after = files.after_power_cut(0);
    ASSERT_TRUE(after->exists("log/audit"));
    EXPECT_EQ(content(*after, "log/audit"), "line\n");
}

TEST(AuditLog, WritesAndSyncsAgainWhatAFailedSyncHasLost) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    files.lose_on_failed_sync();
    auto log = AuditLog::open(settings(13), files);
    ASSERT_TRUE(log);
    files.fail_next(SimFileSystem::Call::sync, Errc::io, 2);
    add_line(**log, "first");
    add_line(**log, "second");
    EXPECT_TRUE(becomes_true(
        [&] { return content(*files.after_power_cut(0), "log/audit") == "first\nsecond\n"; }));
    // What was written to one file is not repeated in the next.
    add_line(**log, "third");
    files.fail_next(SimFileSystem::Call::sync, Errc::io);
    add_line(**log, "4th");
    EXPECT_TRUE(becomes_true(
        [&] { return content(*files.after_power_cut(0), "log/audit") == "third\n4th\n"; }));
    log->reset();
    EXPECT_EQ(content(*files.after_power_cut(0), "log/audit.1"), "first\nsecond\n");
}

TEST(AuditLog, SaysWhichFileIsOfNoUse) {
    SimFileSystem files;
    core::Config::Audit audit;
    audit.file = "nowhere/audit";
    const auto log = AuditLog::open(audit, files);
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::usage);
    EXPECT_THAT(log.error().detail, HasSubstr("audit.file: nowhere/audit"));
    // A file that keeps nothing (/dev/stdout in a container) would block all requests once enough lines waited.
    const TemporaryDirectory directory;
    ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
    const auto pipe = AuditLog::open({.file = directory / "pipe"}, storage::posix_file_system());
    ASSERT_FALSE(pipe);
    EXPECT_THAT(pipe.error().detail, HasSubstr("pipe"));
}

TEST(AuditLog, GivesAFullFileANumberThatNoOtherHasOrHadBeforeItWasCompressed) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    for (const char* other : {"log/audit.7", "log/audit.9.gz", "log/audit.11x", "log/audit199",
                              "log/other.13", "log/audit.", "log/audit.x"}) {
        files.set_content(other, "other");
    }
    auto log = AuditLog::open(settings(100), files);
    ASSERT_TRUE(log);
    // A line longer than the limit has a file to itself, and empty files are not put aside.
    const std::string whole(99, 'a');
    for (const std::string& line : {std::string(200, 'l'), whole, std::string(98, 'b')}) {
        add_line(**log, line);
    }
    EXPECT_EQ(content(files, "log/audit.10"), std::string(200, 'l') + "\n");
    EXPECT_EQ(content(files, "log/audit.11"), whole + "\n");
    EXPECT_EQ(content(files, "log/audit"), std::string(98, 'b') + "\n");
    add_line(**log, "");  // exactly up to the limit
    EXPECT_EQ(content(files, "log/audit"), std::string(98, 'b') + "\n\n");
    EXPECT_EQ(content(files, "log/audit.7"), "other");
}

TEST(AuditLog, PutsNothingAsideThatIsYetToBeWritten) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    auto log = AuditLog::open(settings(10), files);
    ASSERT_TRUE(log);
    add_line(**log, "first");
    files.fail_next(SimFileSystem::Call::create, Errc::io, 1'000'000);
    ASSERT_TRUE((*log)->reserve());
    (*log)->add("second");
    ASSERT_TRUE(
        becomes_true([&] { return files.exists("log/audit.1") && !files.exists("log/audit"); }));
    files.set_content("log/audit", "");  // created, but still empty
    ASSERT_TRUE(becomes_true([&] { return (*log)->waiting() == 0; }));
    EXPECT_EQ(content(files, "log/audit"), "second\n");
    EXPECT_EQ(content(files, "log/audit.1"), "first\n");
    EXPECT_FALSE(files.exists("log/audit.2"));
}

TEST(AuditLog, EndsThoughTheDeviceIsFull) {
    SimFileSystem files;
    ASSERT_TRUE(files.make_directory("log"));
    auto log = AuditLog::open(settings(), files);
    ASSERT_TRUE(log);
    files.set_space(0);
    ASSERT_TRUE((*log)->reserve());
    (*log)->add("line");
    log->reset();
    EXPECT_EQ(content(files, "log/audit"), "");
}

}  // namespace
}  // namespace annals::test
