// The command annals generate: its limits, and what it refuses.

#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/annals_command.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace annals {
namespace {

using test::Finished;
using test::TemporaryDirectory;

TEST(GenerateCommand, MakesAsMuchAsItIsTold) {
    const auto generate = [](std::vector<std::string> more) {
        more.insert(more.begin(), "generate");
        return annals(more);
    };
    const auto lines_of = [&](const std::vector<std::string>& more) {
        const Finished done = generate(more);
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        return std::ranges::count(done.output, '\n');
    };
    const auto resources = lines_of({"--form", "ndjson", "--versions", "7"});
    EXPECT_TRUE(resources >= 7 && resources < 100) << resources << ", to the end of a patient";
    EXPECT_EQ(lines_of({"--patients", "2"}), 3) << "what they share, and a bundle for each";
    EXPECT_EQ(lines_of({"--form", "history", "--versions", "7", "--bundle-entries", "3"}), 3);
    const auto of_size = [&](const std::string& size) {
        return generate({"--form", "ndjson", "--size", size}).output.size();
    };
    EXPECT_GE(of_size("20kB"), 20'000U);
    EXPECT_EQ(of_size("20kB"), of_size("20000"));
    EXPECT_GE(of_size("20KiB"), 20U << 10);
    EXPECT_LT(of_size("20KiB"), 200'000U);
    const std::string first = generate({"--patients", "1"}).output;
    EXPECT_EQ(generate({"--patients", "1", "--seed", "1"}).output, first);
    EXPECT_NE(generate({"--patients", "1", "--seed", "2"}).output, first);
    const std::string dated = generate({"--form", "history", "--versions", "3", "--from",
                                        "2019-03-01T00:00:00Z", "--until", "2019-03-02T00:00:00Z"})
                                  .output;
    EXPECT_NE(dated.find(R"("lastUpdated":"2019-03-01)"), std::string::npos) << dated;

    for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--form", "xml"},
                                                  {"--size", "0"},
                                                  {"--size", "much"},
                                                  {"--size", "2TB"},
                                                  {"--size", "20000000000GB"},
                                                  {"--form", "history", "--bundle-entries", "0"},
                                                  {"--bundle-entries", "3"},
                                                  {"--form", "ndjson", "--bundle-entries", "3"},
                                                  {"--from", "soon"},
                                                  {"--until", "2014-01-01T00:00:00Z"},
                                                  {"--until", "9900-01-01T00:00:01Z"},
                                                  {"--from", "1969-01-01T00:00:00Z"}}) {
        const Finished done = generate(wrong);
        EXPECT_EQ(done.exit_code, 2) << wrong.back();
        EXPECT_EQ(done.output, "") << wrong.back();
    }
}

TEST(GenerateCommand, WritesIntoFilesWhatItWritesToStdout) {
    const TemporaryDirectory directory;
    for (const std::string form : {"transaction", "history", "ndjson"}) {
        std::vector<std::string> arguments{"generate", "--form", form, "--patients", "2"};
        if (form == "history") {
            arguments.insert(arguments.end(), {"--bundle-entries", "50"});
        }
        const std::string whole = annals(arguments).output;
        arguments.insert(arguments.end(), {"--to", directory / form});
        EXPECT_EQ(annals(arguments).exit_code, 0) << form;
        std::set<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(directory / form)) {
            files.insert(entry.path());
        }
        std::string together;
        for (const std::string& file : files) {
            together += test::read_whole_file(file) + (form == "ndjson" ? "" : "\n");
        }
        EXPECT_TRUE(together == whole) << form;
        EXPECT_TRUE(form == "ndjson" ? files.size() == 1 : files.size() > 2) << form;
    }
}

TEST(GenerateCommand, WritesIntoNoFolderThatAnotherProcessWritesInto) {
    const TemporaryDirectory directory;
    const std::vector<std::string> arguments{"generate", "--patients", "1", "--to",
                                             directory.path()};
    const int other = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(::flock(other, LOCK_EX), 0);
    const Finished refused = annals(arguments);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_EQ(refused.errors, "annals: " + directory.path() + ": in use by another process\n");
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
    ::close(other);
    EXPECT_EQ(annals(arguments).exit_code, 0);
}

TEST(GenerateCommand, GivesAFileItsNameWhenItIsWhole) {
    const TemporaryDirectory directory;
    for (const char* form : {"transaction", "history", "ndjson"}) {
        const std::string folder = directory / form;
        const std::vector<std::string> arguments{"generate", "--patients", "1",   "--form",
                                                 form,       "--to",       folder};
        std::vector<std::string> limited{"-c", R"(ulimit -f 16; exec "$0" "$@")", kBinary};
        limited.insert(limited.end(), arguments.begin(), arguments.end());
        EXPECT_EQ(test::run_program("/bin/sh", limited).exit_code, 1) << form;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            EXPECT_EQ(entry.path().extension(), ".partial") << entry.path();
        }
        EXPECT_EQ(annals(arguments).exit_code, 0) << form;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
        }
    }
}

}  // namespace
}  // namespace annals
