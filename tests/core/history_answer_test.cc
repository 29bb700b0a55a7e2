#include "core/interactions/history_answer.h"

#include <gtest/gtest.h>

namespace annals::core {
namespace {

TEST(HistoryAnswer, SaysWhatBecameOfEachEntry) {
    using Kind = HistoryVerdict::Kind;
    const auto verdicts = read_history_answer(
        R"({"resourceType":"Bundle","type":"batch-response","entry":[)"
        R"({"response":{"status":"201 Created"}},)"
        R"({"response":{"status":"200 OK","outcome":{"resourceType":"OperationOutcome","issue":[)"
        R"({"severity":"information","code":"duplicate","diagnostics":"it is there"}]}}},)"
        R"({"response":{"status":"200 OK","outcome":{"resourceType":"OperationOutcome","issue":[)"
        R"({"severity":"warning","code":"conflict","diagnostics":"another"}]}}},)"
        R"({"response":{"status":"422 Unprocessable","outcome":{"resourceType":"OperationOutcome","issue":[)"
        R"({"severity":"error","code":"processing","diagnostics":"a \"bad\" one"}]}}},)"
        R"({"response":{"status":"500"}}]})");
    ASSERT_TRUE(verdicts);
    ASSERT_EQ(verdicts->size(), 5U);
    EXPECT_EQ((*verdicts)[0].kind, Kind::stored);
    EXPECT_EQ((*verdicts)[0].code, "");
    EXPECT_EQ((*verdicts)[1].kind, Kind::there);
    EXPECT_EQ((*verdicts)[2].kind, Kind::differs);
    EXPECT_EQ((*verdicts)[2].code, "conflict");
    EXPECT_EQ((*verdicts)[3].kind, Kind::refused);
    EXPECT_EQ((*verdicts)[3].diagnostics, "a \"bad\" one");
    EXPECT_EQ((*verdicts)[4].kind, Kind::refused);
    EXPECT_FALSE(read_history_answer("{"));
}

}  // namespace
}  // namespace annals::core
