#include "tools/commands/line_files.h"

#include "tests/support/archives.h"
#include "tests/support/files.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace annals::tools {
namespace {

using Texts = std::vector<std::pair<std::uint64_t, std::string>>;

Texts read_all(const std::string& path, bool lines_only) {
    Texts texts;
    auto reader = TextReader::open(path, lines_only);
    EXPECT_TRUE(reader);
    std::string text;
    while (*reader->next(text)) {
        texts.emplace_back(reader->line(), text);
    }
    return texts;
}

TEST(TextReader, GivesLinesWithTheirNumbersAndPassesOverBlankOnes) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "a", "{\"a\":1}\n\n  \r\n{\"b\":\n{\"c\":3}");
    EXPECT_EQ(read_all(directory / "a", true),
              (Texts{{1, "{\"a\":1}\n"}, {4, "{\"b\":\n"}, {5, "{\"c\":3}"}}));
}

TEST(TextReader, PassesOverAByteOrderMarkAtTheBeginning) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "a", "\xEF\xBB\xBF{\n\"a\":1}\n\xEF\xBB\xBF{}\n");
    EXPECT_EQ(read_all(directory / "a", false),
              (Texts{{1, "{\n\"a\":1}\n"}, {3, "\xEF\xBB\xBF{}\n"}}));
    test::write_whole_file(directory / "b", "\xEF\xBB\xBF\n{}\n");
    EXPECT_EQ(read_all(directory / "b", true), (Texts{{2, "{}\n"}}));
}

TEST(TextReader, GivesObjectsThatGoOverSeveralLinesAsOne) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "a", "{\n \"a\": \"}\\\"{\"\n}\n{\"b\":1}\n[1,\n2]\n");
    EXPECT_EQ(read_all(directory / "a", false),
              (Texts{{1, "{\n \"a\": \"}\\\"{\"\n}\n"}, {4, "{\"b\":1}\n"}, {5, "[1,\n2]\n"}}));
}

TEST(TextReader, SeesWhereAnObjectEndsWhateverItsStringsAndBlanksAre) {
    const test::TemporaryDirectory directory;
    const std::vector<std::string> texts = {"{\"a\":\"{\"\n}\n",
                                            "[1]\n",
                                            "{\"a\":\"\\\"{\\\\\"\n\n,\"b\":2}\n",
                                            "[2]\n",
                                            "{\"a\": \t\r\n\t {\"b\":1}}\n",
                                            "}\n",
                                            "{\"a\":1\n",  // broken
                                            "  {\"b\":2}\n"};
    std::string all;
    std::vector<std::string> read;
    for (const std::string& text : texts) {
        all += text;
    }
    test::write_whole_file(directory / "a", all);
    for (const auto& [line, text] : read_all(directory / "a", false)) {
        read.push_back(text);
    }
    EXPECT_EQ(read, texts);
}

TEST(TextReader, EndsABrokenObjectWhereTheNextLineCannotBelongToIt) {
    const test::TemporaryDirectory directory;
    test::write_whole_file(directory / "a",
                           "{\"a\":\n{\"b\":1},\n{\"c\":\"x\n{\"d\":[\n{},\n{}]}\n{\"e\":1");
    EXPECT_EQ(read_all(directory / "a", false), (Texts{{1, "{\"a\":\n{\"b\":1},\n"},
                                                       {3, "{\"c\":\"x\n"},
                                                       {4, "{\"d\":[\n{},\n{}]}\n"},
                                                       {7, "{\"e\":1"}}));
}

TEST(TextReader, ReadsLinesLargerThanItsBuffer) {
    const test::TemporaryDirectory directory;
    const std::string large(3'000'000, 'x');
    test::write_whole_file(directory / "a", large + "\n" + large + "\nend");
    EXPECT_EQ(read_all(directory / "a", true),
              (Texts{{1, large + "\n"}, {2, large + "\n"}, {3, "end"}}));
}

TEST(TextReader, UnpacksWhatGzipHasPackedWhateverItIsCalled) {
    const test::TemporaryDirectory directory;
    std::string lines = "\xEF\xBB\xBF";
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        lines += fmt::format("{{\"a\":{}}}\n", i * i * 0x9e37'79b9'7f4a'7c15);
    }
    test::write_whole_file(directory / "plain", lines);
    // Two members, as when a writer compressed in turns, and more than is read at once.
    const std::string bytes =
        test::gzipped(lines.substr(0, 100'001)) + test::gzipped(lines.substr(100'001));
    ASSERT_GT(bytes.size(), 150'000U);
    test::write_whole_file(directory / "packed", bytes);
    EXPECT_EQ(read_all(directory / "packed", true), read_all(directory / "plain", true));
    test::write_whole_file(directory / "nothing", test::gzipped(""));
    EXPECT_EQ(read_all(directory / "nothing", false), Texts());
}

TEST(TextReader, SaysOfWhatGzipHasPackedThatItIsNotWhole) {
    const test::TemporaryDirectory directory;
    const std::string bytes = test::gzipped("{}\n{}\n{\"a\":");
    std::string damaged = bytes;
    damaged[damaged.size() - 8] ^= 1;
    for (const std::string& broken : {bytes.substr(0, bytes.size() - 1), damaged}) {
        test::write_whole_file(directory / "a", broken);
        auto reader = TextReader::open(directory / "a", true);
        ASSERT_TRUE(reader);
        Result<bool> more = true;
        std::string text;
        while (more && *more) {
            more = reader->next(text);
        }
        ASSERT_FALSE(more) << "what it ends with looked whole";
        EXPECT_EQ(more.error().code, Errc::corrupt);
        EXPECT_TRUE(more.error().detail.starts_with(directory / "a: the gzip data "))
            << more.error().detail;
    }
}

TEST(TextReader, RefusesAFileThatIsNotThere) {
    const auto reader = TextReader::open("/nowhere/at/all", true);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Errc::usage);
}

TEST(LineWriter, WritesLinesAndNeverOverAFileThatIsThere) {
    const test::TemporaryDirectory directory;
    {
        auto writer = LineWriter::create(directory / "a");
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->line("one"));
        ASSERT_TRUE(writer->line(std::string(2'000'000, 'y')));
        ASSERT_TRUE(writer->line("three"));
        ASSERT_TRUE(writer->finish());
        ASSERT_TRUE(writer->publish());
    }
    EXPECT_EQ(test::read_whole_file(directory / "a"),
              "one\n" + std::string(2'000'000, 'y') + "\nthree\n");
    EXPECT_FALSE(LineWriter::create(directory / "a"));
}

TEST(LineWriter, GivesItsFileTheNameWhenItIsWholeAndIsNotInTheWayOfTheNext) {
    const test::TemporaryDirectory directory;
    {
        auto writer = LineWriter::create(directory / "a");
        ASSERT_TRUE(writer);
        ASSERT_TRUE(writer->line("half of it"));
        ASSERT_TRUE(writer->finish());
    }
    EXPECT_FALSE(storage::posix_file_system().exists(directory / "a"));
    EXPECT_EQ(test::read_whole_file(directory / "a.partial"), "half of it\n");
    auto again = LineWriter::create(directory / "a");
    ASSERT_TRUE(again);
    ASSERT_TRUE(again->line("all"));
    ASSERT_TRUE(again->finish());
    ASSERT_TRUE(again->publish());
    EXPECT_EQ(test::read_whole_file(directory / "a"), "all\n");
    EXPECT_FALSE(storage::posix_file_system().exists(directory / "a.partial"));
}

TEST(LineWriter, DoesNotPublishWhatAnotherOneHasBegunAnew) {
    const test::TemporaryDirectory directory;
    auto first = LineWriter::create(directory / "a");
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->line("first"));
    auto second = LineWriter::create(directory / "a");
    ASSERT_TRUE(second);
    ASSERT_TRUE(first->finish());
    EXPECT_FALSE(first->publish());
    EXPECT_FALSE(storage::posix_file_system().exists(directory / "a"));
    ASSERT_TRUE(second->line("second"));
    ASSERT_TRUE(second->finish());
    ASSERT_TRUE(second->publish());
    EXPECT_EQ(test::read_whole_file(directory / "a"), "second\n");
}

TEST(LineWriter, HasMadeItsFileDurableWhenItIsPublished) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("/out"));
    auto writer = LineWriter::create("/out/a", files);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->line("one"));
    ASSERT_TRUE(writer->finish());
    ASSERT_TRUE(writer->publish());
    const auto after = files.after_power_cut(0);
    ASSERT_TRUE(after->exists("/out/a"));
    EXPECT_EQ(after->content("/out/a"), "one\n");
}

TEST(LineWriter, SaysWhenItCannotWriteAndKeepsTheNameFromIt) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("/out"));
    auto writer = LineWriter::create("/out/a", files);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->line("one"));
    files.fail_next(test::SimFileSystem::Call::write, Errc::no_store);
    const auto written = writer->finish();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::no_store);
    EXPECT_TRUE(written.error().detail.starts_with("/out/a: ")) << written.error().detail;
    ASSERT_TRUE(files.remove("/out/a.partial"));
    EXPECT_FALSE(writer->publish()) << "what it wrote is gone";
    EXPECT_FALSE(files.exists("/out/a"));
}

TEST(LineWriter, LeavesTheNameToTheNextOneWhenItCannotBeMadeDurable) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("/out"));
    for (int turn = 0; turn < 2; ++turn) {
        auto writer = LineWriter::create("/out/a", files);
        ASSERT_TRUE(writer) << writer.error().detail;
        ASSERT_TRUE(writer->line("one"));
        ASSERT_TRUE(writer->finish());
        if (turn == 0) {
            files.fail_next(test::SimFileSystem::Call::sync_directory, Errc::io);
        }
        EXPECT_EQ(writer->publish().has_value(), turn == 1);
        EXPECT_EQ(files.exists("/out/a"), turn == 1);
    }
    EXPECT_EQ(files.content("/out/a"), "one\n");
}

TEST(LineWriter, TakesTheNameFromWhatWasPublishedBesideOneThatFailed) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("/out"));
    auto writer = LineWriter::create("/out/a", files);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->finish());
    ASSERT_TRUE(writer->publish());
    writer->withdraw();
    EXPECT_FALSE(files.exists("/out/a"));
    EXPECT_TRUE(LineWriter::create("/out/a", files));
}

}  // namespace
}  // namespace annals::tools
