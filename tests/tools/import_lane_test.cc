#include "tools/commands/import_lane.h"

#include <gtest/gtest.h>

#include <deque>

namespace annals::tools {
namespace {

/// Gives the answers that were laid out for it, and keeps what it was asked.
class ScriptedDestination final : public Destination {
  public:
    ScriptedDestination(std::deque<DestinationReply> answers, std::vector<std::string>& asked)
        : answers_(std::move(answers)), asked_(asked) {}

    Result<DestinationReply> submit(std::string_view bundle, bool /*repeatable*/) override {
        asked_.emplace_back(bundle);
        if (answers_.empty()) {
            return Error{Errc::no_store, "nothing more is expected", ""};
        }
        DestinationReply reply = std::move(answers_.front());
        answers_.pop_front();
        return reply;
    }

  private:
    std::deque<DestinationReply> answers_;
    std::vector<std::string>& asked_;
};

Pack::Entry put(const std::string& id, const std::string& active) {
    return {R"({"resource":{"resourceType":"Patient","id":")" + id + R"(","active":)" + active +
                R"(},"request":{"method":"PUT","url":"Patient/)" + id + R"("}})",
            {}};
}

Pack::Entry post() {
    return {
        R"({"resource":{"resourceType":"Patient"},"request":{"method":"POST","url":"Patient"}})",
        {}};
}

DestinationReply answer(const std::vector<std::string>& statuses) {
    std::string text = R"({"resourceType":"Bundle","type":"batch-response","entry":[)";
    for (const std::string& status : statuses) {
        text += (text.ends_with('[') ? "" : ",") + (R"({"response":{"status":")" + status) + "\"}}";
    }
    return {200, text + "]}"};
}

TEST(ImportLane, SendsAgainWhatCameAfterAnEntryOfTheSameResource) {
    std::vector<std::string> asked;
    ImportReport report;
    report.files = {"in.ndjson"};
    const Pack pack{Pack::Kind::batch,
                    {put("a", "false"), post(), put("b", "true"), put("a", "true"), post()},
                    0};
    {
        ImportLane lane(std::make_unique<ScriptedDestination>(
                            std::deque{answer({"503", "503", "201", "200", "201"}),
                                       answer({"201", "201", "200"})},
                            asked),
                        report);
        lane.push(pack);
        lane.drain();
    }
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[1], R"({"resourceType":"Bundle","type":"batch","entry":[)" +
                            pack.entries[0].text + "," + pack.entries[1].text + "," +
                            pack.entries[3].text + "]}");
    EXPECT_EQ(report.done_count(), 5U);
    EXPECT_EQ(report.refused_count(), 0U);
    EXPECT_FALSE(report.gave_up());
}

TEST(ImportLane, NamesAllThatIsLeftOutWhenTheImportStops) {
    std::vector<std::string> asked;
    ImportReport report;
    report.files = {"in.ndjson"};
    {
        ImportLane lane(
            std::make_unique<ScriptedDestination>(std::deque<DestinationReply>(), asked), report);
        lane.push({Pack::Kind::batch, {put("a", "true"), post()}, 0});
        lane.push({Pack::Kind::batch, {put("b", "true")}, 0});
        lane.drain();
    }
    EXPECT_TRUE(report.gave_up());
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(report.done_count(), 0U);
    EXPECT_EQ(report.refused_count(), 3U);
}

TEST(ImportLane, DoesNotCountWhatTheAnswerSaysNothingOf) {
    std::vector<std::string> asked;
    ImportReport report;
    report.files = {"in.ndjson"};
    {
        ImportLane lane(
            std::make_unique<ScriptedDestination>(std::deque{answer({"201", "", "200 OK"})}, asked),
            report);
        lane.push({Pack::Kind::batch, {post(), put("a", "true"), put("b", "true")}, 0});
        lane.drain();
    }
    EXPECT_EQ(asked.size(), 1U);
    EXPECT_EQ(report.done_count(), 2U);
    EXPECT_EQ(report.refused_count(), 1U);
    EXPECT_FALSE(report.gave_up());
}

TEST(ImportLane, NamesThePlaceInTheResourceAndNotInTheBundleItTravelledIn) {
    std::vector<std::string> asked;
    ImportReport report;
    report.files = {"in.ndjson"};
    const DestinationReply refused{200,
                                   R"({"resourceType":"Bundle","type":"batch-response","entry":[
            {"response":{"status":"201"}},{"response":{"status":"400","outcome":{
             "resourceType":"OperationOutcome","issue":[
              {"diagnostics":"no date","expression":["Bundle.entry[1].resource.birthDate"]},
              {"diagnostics":"no text","expression":["Patient.name"]}]}}}]})"};
    testing::internal::CaptureStderr();
    {
        ImportLane lane(
            std::make_unique<ScriptedDestination>(std::deque<DestinationReply>{refused}, asked),
            report);
        lane.push({Pack::Kind::batch, {post(), put("a", "true")}, 0});
        lane.drain();
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find(
                  ": 400 no date (birthDate); no text (Patient.name)\n"),
              std::string::npos);
    EXPECT_EQ(report.refused_count(), 1U);
}

TEST(ImportLane, RefusesTheOneThatIsTooLargeAndGoesOn) {
    for (const Pack::Kind kind : {Pack::Kind::batch, Pack::Kind::history}) {
        std::vector<std::string> asked;
        ImportReport report;
        report.files = {"in.ndjson"};
        {
            ImportLane lane(
                std::make_unique<ScriptedDestination>(
                    std::deque<DestinationReply>{{413, ""}, {413, ""}, answer({"201", "201"})},
                    asked),
                report);
            lane.push({kind, {put("a", "true"), put("b", "true"), put("c", "true")}, 0});
            lane.drain();
        }
        EXPECT_FALSE(report.gave_up());
        EXPECT_EQ(asked.size(), 3U);
        EXPECT_EQ(report.done_count(), 2U);
        EXPECT_EQ(report.refused_count(), 1U);
    }
}

TEST(ImportLane, SendsNothingOfWhatIsTooLargeBehindAPartThatWasLeftOut) {
    std::vector<std::string> asked;
    ImportReport report;
    report.files = {"in.ndjson"};
    {
        ImportLane lane(
            std::make_unique<ScriptedDestination>(std::deque<DestinationReply>{{413, ""}}, asked),
            report);
        lane.push({Pack::Kind::history, {put("a", "false"), put("a", "true")}, 0});
        lane.drain();
    }
    EXPECT_TRUE(report.gave_up());
    EXPECT_EQ(asked.size(), 2U) << "the whole, and its first half";
}

}  // namespace
}  // namespace annals::tools
