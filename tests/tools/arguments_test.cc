#include "tools/commands/arguments.h"

#include <gtest/gtest.h>

namespace annals::tools {
namespace {

struct Read {
    std::string data;
    std::string to;
    std::uint64_t count = 7;
    double rate = 0;
    bool quiet = false;
    std::vector<std::string> sets;
    std::vector<std::string> paths;
    std::optional<int> code;
};

Read read(const ArgumentList& arguments) {
    Read result;
    Arguments reader("probe", "Probes.");
    reader.text("--data", result.data, "data");
    reader.required_text("--to", result.to, "to");
    reader.number("--count", result.count, "count");
    reader.number("--rate", result.rate, "rate");
    reader.flag("-q,--quiet", result.quiet, "quiet");
    reader.texts("--set", result.sets, "sets");
    reader.positionals("THING", result.paths, "paths");
    result.code = reader.parse(arguments);
    return result;
}

TEST(Arguments, FillTheVariables) {
    const Read result = read({"--to", "x", "--count=12", "-q", "a", "-", "b"});
    EXPECT_FALSE(result.code);
    EXPECT_EQ(result.to, "x");
    EXPECT_EQ(result.count, 12u);
    EXPECT_TRUE(result.quiet);
    EXPECT_EQ(result.paths, (std::vector<std::string>{"a", "-", "b"}));
    EXPECT_EQ(read({"--to", "x", "--count", "0"}).count, 0u);
}

TEST(Arguments, TakeOneValuePerSetWhateverItLooksLike) {
    const Read result =
        read({"--to", "x", "--set", R"(cors.origins=["a","b"])", "--set", "c=d", "e"});
    EXPECT_FALSE(result.code);
    EXPECT_EQ(result.sets, (std::vector<std::string>{R"(cors.origins=["a","b"])", "c=d"}));
    EXPECT_EQ(result.paths, (std::vector<std::string>{"e"}));
}

TEST(Arguments, AreRefusedWithTheUsageLineAndCodeTwo) {
    for (const ArgumentList& wrong :
         {ArgumentList{}, ArgumentList{"--to"}, ArgumentList{"--to", "x", "--unknown"},
          ArgumentList{"--to", "x", "--count", "many"}, ArgumentList{"--to", "x", "--count", "010"},
          ArgumentList{"--to", ""}, ArgumentList{"--to", "x", "--data", ""},
          ArgumentList{"--to", "x", "--rate", ""}, ArgumentList{"--to", "x", "--rate", "fast"},
          ArgumentList{"--to", "x", "--count", "0x10"}, ArgumentList{"--to", "x", "--count=-1"},
          ArgumentList{"--to", "x", "--count", "18446744073709551616"}}) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(read(wrong).code, kExitUsage);
        EXPECT_NE(testing::internal::GetCapturedStderr().find(
                      "usage: annals probe --to ... [OPTION]... [THING]... ("),
                  std::string::npos);
    }
}

TEST(Arguments, AreRefusedByName) {
    const auto problem_with = [](const ArgumentList& wrong) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(read(wrong).code, kExitUsage);
        const std::string text = testing::internal::GetCapturedStderr();
        return text.substr(0, text.find('\n'));
    };
    EXPECT_EQ(problem_with({"--to", "x", "--to", "y"}),
              "annals probe: --to is given more than once");
    EXPECT_EQ(problem_with({"--to", "x", "--count", "1", "--count", "2"}),
              "annals probe: --count is given more than once");
    EXPECT_EQ(problem_with({"--to", "x", "--set", "a=b", "--set", "c=d", "--one", "--two"}),
              "annals probe: The following argument was not expected: --one");
    EXPECT_EQ(problem_with({"--to", "x", "--set"}), "annals probe: --set needs a value");
    EXPECT_EQ(problem_with({"--to", "x", "--count"}), "annals probe: --count needs a value");
    EXPECT_EQ(problem_with({"--to"}), "annals probe: --to needs a value");
    EXPECT_EQ(problem_with({"--to", "x", ""}), "annals probe: THING: must not be empty");
}

TEST(Arguments, ExplainThemselvesOnStdout) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(read({"--help"}).code, kExitDone);
    EXPECT_NE(testing::internal::GetCapturedStdout().find("--quiet"), std::string::npos);
}

TEST(Arguments, ExplainThemselvesInEightyColumns) {
    const std::string word(60, 'w');
    std::string value;
    Arguments reader("probe", "Probes.");
    reader.text("--long", value, "begins, goes on for more than a line of the terminal, and ends");
    reader.text("--word", value, word + " " + word + " and more");
    testing::internal::CaptureStdout();
    EXPECT_EQ(reader.parse({"--help"}), kExitDone);
    const std::string help = testing::internal::GetCapturedStdout();
    const std::string margin(30, ' ');
    EXPECT_NE(
        help.find("  --long TEXT                 begins, goes on for more than a line of the\n" +
                  margin + "terminal, and ends\n"),
        std::string::npos)
        << help;
    EXPECT_NE(help.find(word + "\n" + margin + word + "\n" + margin + "and more\n"),
              std::string::npos)
        << help;
}

}  // namespace
}  // namespace annals::tools
