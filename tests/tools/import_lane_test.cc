#include "tools/commands/import_lane.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <future>

namespace annals::tools {
namespace {

/// Gives prepared answers, and keeps the requests. An answer with status 0 gets lost on the way.
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
        if (reply.status == 0) {
            return Error{Errc::io, "lost", ""};
        }
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

TEST(ImportLane, SendsNothingAgainOfTheSizeThatWasTooLarge) {
    for (const Pack::Kind kind : {Pack::Kind::batch, Pack::Kind::history}) {
        std::vector<std::string> asked;
        ImportReport report;
        report.files = {"in.ndjson"};
        {
            ImportLane lane(
                std::make_unique<ScriptedDestination>(std::deque<DestinationReply>{{413, ""},
                                                                                   answer({"201"}),
                                                                                   answer({"201"}),
                                                                                   answer({"201"}),
                                                                                   answer({"201"})},
                                                      asked),
                report);
            lane.push({kind, {put("a", "true"), put("b", "true")}, 0});
            lane.push({kind, {put("c", "true"), put("d", "true")}, 0});
            lane.drain();
        }
        EXPECT_EQ(asked.size(), 5U) << "the first whole, and four halves";
        EXPECT_EQ(report.done_count(), 4U);
        EXPECT_EQ(report.refused_count(), 0U);
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

/// The outcome of `packs` with these answers: what was sent, and what is reported.
struct Outcome {
    std::vector<std::string> asked;
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    bool gave_up = false;
    std::string said;
};

Outcome outcome_of(const std::vector<Pack>& packs, std::deque<DestinationReply> answers,
                   std::chrono::milliseconds first_pause = std::chrono::milliseconds(50)) {
    Outcome outcome;
    ImportReport report;
    report.files = {"in"};
    testing::internal::CaptureStderr();
    {
        ImportLane lane(std::make_unique<ScriptedDestination>(std::move(answers), outcome.asked),
                        report, first_pause);
        for (const Pack& pack : packs) {
            lane.push(pack);
        }
        lane.drain();
    }
    outcome.said = testing::internal::GetCapturedStderr();
    outcome.done = report.done_count();
    outcome.refused = report.refused_count();
    outcome.gave_up = report.gave_up();
    return outcome;
}

/// A transaction with `entries` entries.
Pack transaction(std::size_t entries) {
    std::string text = R"({"resourceType":"Bundle","type":"transaction","entry":[)";
    for (std::size_t i = 0; i < entries; ++i) {
        text += (i == 0 ? "" : ",") + post().text;
    }
    return {Pack::Kind::whole, {{text + "]}", {}}}, 0, entries};
}

TEST(ImportLane, TakesNoTransactionForImportedWhoseAnswerDoesNotSayWhatBecameOfItsEntries) {
    for (const auto& statuses : {std::vector<std::string>{}, {"201"}, {"201", "201", "201"}}) {
        const Outcome outcome =
            outcome_of({transaction(2), transaction(1)}, {answer(statuses), answer({"201"})});
        EXPECT_EQ(outcome.asked.size(), 2U) << "others may be answered better";
        EXPECT_EQ(outcome.done, 1U);
        EXPECT_EQ(outcome.refused, 1U);
        EXPECT_FALSE(outcome.gave_up);
        EXPECT_EQ(
            outcome.said,
            "in:0: the response has a different number of entries; it may have been stored\n");
    }
    EXPECT_EQ(outcome_of({transaction(0)}, {answer({})}).said, "");
    // In bundles made by the import itself, each entry must have its answer.
    const Outcome stopped = outcome_of({{Pack::Kind::batch, {post(), post()}, 0}}, {answer({})});
    EXPECT_TRUE(stopped.gave_up);
    EXPECT_EQ(stopped.refused, 2U);
    const Outcome page = outcome_of({transaction(1)}, {{200, "<html>"}});
    EXPECT_TRUE(page.gave_up);
    EXPECT_EQ(page.said,
              "in:0: stopped here: the response is not a Bundle: <html>\nin:0: not sent, as the "
              "import stopped\n");
}

TEST(ImportLane, NamesTheEntryOfATransactionThatIsRefused) {
    EXPECT_EQ(outcome_of({transaction(2)}, {answer({"201", "400"})}).said,
              "in:0: entry[1]: 400 \n");
    EXPECT_EQ(outcome_of({{Pack::Kind::batch, {post(), post()}, 0}}, {answer({"201", "400"})}).said,
              "in:0: 400 \n");
}

TEST(ImportLane, StopsWhereNothingElseWouldBeTakenEither) {
    const Pack batch{Pack::Kind::batch, {post()}, 0};
    for (const int status : {401, 403, 405, 500, 502}) {
        const Outcome outcome = outcome_of({transaction(1), batch}, {{status, ""}});
        EXPECT_TRUE(outcome.gave_up) << status;
        EXPECT_EQ(outcome.asked.size(), 1U) << status;
    }
    for (const int status : {400, 404, 409, 412, 413, 422, 499}) {
        const Outcome outcome =
            outcome_of({transaction(1), batch}, {{status, ""}, answer({"201"})});
        EXPECT_FALSE(outcome.gave_up) << status;
        EXPECT_EQ(outcome.refused, 1U) << status;
        EXPECT_EQ(outcome.done, 1U) << status;
    }
    const Outcome own = outcome_of({batch, batch}, {{400, "no"}});
    EXPECT_TRUE(own.gave_up) << "what was put together here is refused for what is in none of it";
    EXPECT_EQ(own.said,
              "in:0: stopped here: 400 no\nin:0: not sent, as the import stopped\nin:0: not sent, "
              "as the import stopped\n");
}

TEST(ImportLane, SendsLessAtOnceWhereTheTimeThatTheServerGivesIsTooShort) {
    for (const Pack::Kind kind : {Pack::Kind::batch, Pack::Kind::history}) {
        const Pack pack{kind, {put("a", "true"), put("b", "true"), put("c", "true")}, 0};
        const std::deque<DestinationReply> answers{
            {408, ""}, {408, ""}, answer({"201"}), answer({"201", "201"})};
        const Outcome outcome = outcome_of({pack}, answers, std::chrono::milliseconds(0));
        EXPECT_EQ(outcome.asked.size(), 4U) << "one alone is sent again";
        EXPECT_EQ(outcome.done, 3U);
        EXPECT_EQ(outcome.said, "");
    }
    // A version that never gets through holds back those after it.
    const Pack pack{Pack::Kind::history, {put("a", "true"), put("a", "false")}, 0};
    const Outcome never = outcome_of({pack}, std::deque<DestinationReply>(99, {408, "too slow"}),
                                     std::chrono::milliseconds(0));
    EXPECT_TRUE(never.gave_up);
    EXPECT_EQ(never.asked.size(), 14U);
    EXPECT_EQ(never.said, "in:0: stopped here: too slow\n");
}

TEST(ImportLane, SaysWhyItDoesNotGoOnSendingWhatIsNotTaken) {
    const DestinationReply full{
        200,
        R"({"resourceType":"Bundle","type":"batch-response","entry":[{"response":{"status":"201"}},{"response":{"status":"503","outcome":{"issue":[{"code":"no-store","diagnostics":"no room"}]}}}]})"};
    std::deque<DestinationReply> answers(13, answer({"503"}));
    answers.front() = full;
    answers.back() = {
        200,
        R"({"resourceType":"Bundle","entry":[{"response":{"status":"429","outcome":{"issue":[{"code":"throttled"}]}}}]})"};
    const Outcome outcome = outcome_of({{Pack::Kind::batch, {post(), post()}, 0}}, answers,
                                       std::chrono::milliseconds(0));
    EXPECT_EQ(outcome.asked.size(), 13U) << "twelve times again";
    EXPECT_EQ(outcome.done, 1U);
    EXPECT_EQ(outcome.said,
              "in:0: stopped here: 1 entries were not accepted: 429 throttled\nin:0: not sent, as "
              "the import stopped\n");
}

TEST(ImportLane, GoesOnAfterALostAnswerUnlessItIsOfHistory) {
    const Pack batch{Pack::Kind::batch, {post(), post()}, 0};
    const Outcome lost = outcome_of({batch, batch}, {{0, ""}, {429, ""}, answer({"201", "201"})});
    EXPECT_FALSE(lost.gave_up);
    EXPECT_EQ(lost.done, 2U);
    EXPECT_EQ(lost.refused, 2U);
    EXPECT_EQ(lost.said,
              "in:0: lost; it may have been stored\nin:0: lost; it may have been stored\n");
    // A version stored after a gap would prematurely be the newest.
    const Pack history{Pack::Kind::history, {put("a", "true")}, 0};
    const Outcome stopped = outcome_of({history, history}, {{0, ""}});
    EXPECT_TRUE(stopped.gave_up);
    EXPECT_EQ(stopped.asked.size(), 1U);
    EXPECT_EQ(stopped.said, "in:0: stopped here: lost\n");
}

TEST(ImportLane, RepeatsHistoryAsAWholeAndCountsItOnce) {
    const Pack history{Pack::Kind::history, {put("a", "true"), put("b", "true")}, 0};
    const Outcome outcome = outcome_of({history}, {answer({"201", "429"}), answer({"200", "201"})});
    ASSERT_EQ(outcome.asked.size(), 2U);
    EXPECT_EQ(outcome.asked[0], outcome.asked[1]);
    EXPECT_EQ(outcome.done, 2U);
    const DestinationReply conflict{
        200,
        R"({"resourceType":"Bundle","type":"batch-response","entry":[{"response":{"status":"200","outcome":{"issue":[
            {"severity":"warning","code":"conflict","details":{"text":"other content"}}]}}},{"response":{"status":"201"}}]})"};
    const Outcome differs = outcome_of({history}, {conflict});
    EXPECT_EQ(differs.said, "in:0: conflict: other content\n");
    EXPECT_EQ(differs.refused, 1U);
    EXPECT_EQ(differs.done, 1U);
}

/// Answers only when allowed.
class WaitingDestination final : public Destination {
  public:
    explicit WaitingDestination(std::shared_future<void> may) : may_(std::move(may)) {}

    Result<DestinationReply> submit(std::string_view /*bundle*/, bool /*repeatable*/) override {
        may_.wait();
        return answer({"201"});
    }

  private:
    std::shared_future<void> may_;
};

/// Stores nothing, and knows why.
class FullDestination final : public Destination {
  public:
    Result<DestinationReply> submit(std::string_view /*bundle*/, bool /*repeatable*/) override {
        return Error{Errc::no_store, "503", ""};
    }

    std::string_view ails() const override { return "no room"; }
};

TEST(ImportLane, SaysWhatItsDestinationKnows) {
    ImportReport report;
    report.files = {"in"};
    {
        ImportLane lane(std::make_unique<FullDestination>(), report);
        lane.push({Pack::Kind::history, {put("a", "true")}, 0});
    }
    EXPECT_EQ(report.why(), "in:0: stopped here: 503: no room");
}

TEST(ImportLane, HasAReaderWaitThatIsFarAheadOfIt) {
    std::promise<void> may;
    std::atomic<int> pushed = 0;
    ImportReport report;
    report.files = {"in"};
    ImportLane lane(std::make_unique<WaitingDestination>(may.get_future().share()), report);
    auto reader = std::async(std::launch::async, [&] {
        for (int i = 0; i < 6; ++i) {
            lane.push({Pack::Kind::batch, {post()}, 0});
            ++pushed;
        }
    });
    EXPECT_EQ(reader.wait_for(std::chrono::milliseconds(10)), std::future_status::timeout);
    EXPECT_LE(pushed, 3) << "one is under way, and two are queued";
    may.set_value();
    reader.get();
    lane.drain();
    EXPECT_EQ(report.done_count(), 6U);
}

}  // namespace
}  // namespace annals::tools
