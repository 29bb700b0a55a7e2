// The change feed: order, commits, filters, waiting, resuming.

#include "core/interactions/changes.h"

#include "core/interactions/change_source.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <chrono>
#include <regex>
#include <thread>

namespace annals::core {
namespace {

using test::Answer;
using test::patient;

std::string transaction_of_patients(const std::vector<std::string>& ids) {
    std::string entries;
    for (const std::string& id : ids) {
        entries +=
            fmt::format(R"({}{{"resource":{},"request":{{"method":"PUT","url":"Patient/{}"}}}})",
                        entries.empty() ? "" : ",", patient(id), id);
    }
    return fmt::format(R"({{"resourceType":"Bundle","type":"transaction","entry":[{}]}})", entries);
}

/// "position/commit" of each line or event.
std::string places(const std::string& text) {
    static const std::regex kPlaces(R"re("position":(\d+),"commit":(\d+),)re");
    std::string out;
    for (std::sregex_iterator at(text.begin(), text.end(), kPlaces), end; at != end; ++at) {
        out += fmt::format("{}{}/{}", out.empty() ? "" : " ", (*at)[1].str(), (*at)[2].str());
    }
    return out;
}

class ChangesTest : public test::ServiceFixture {
  protected:
    /// Creates a, then b, c and d in one transaction; deletes a; then creates an Observation.
    void fill() {
        put_patient("a");
        ASSERT_EQ(send("POST", "/", transaction_of_patients({"b", "c", "d"})).status, 200);
        ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
        ASSERT_EQ(send("PUT", "/Observation/o",
                       R"({"resourceType":"Observation","id":"o","status":"final",)"
                       R"("code":{"text":"x"}})")
                      .status,
                  201);
    }

    Answer feed(std::string_view query) {
        return send("GET", fmt::format("/_changes?wait=0&{}", query));
    }

    void restart_hard() {
        Config config;
        config.hard_delete = true;
        restart(config);
    }
};

TEST_F(ChangesTest, GivesEveryVersionInCommitOrder) {
    fill();
    const Answer answer = feed("");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.content_type, "application/fhir+ndjson");
    EXPECT_EQ(answer.cache_control, "no-store");
    EXPECT_EQ(places(answer.body), "1/1 2/4 3/4 4/4 5/5 6/6");
    EXPECT_EQ(answer.position, 6U);
    EXPECT_EQ(answer.header("X-Annals-Last-Position"), "6");
    EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), '\n'), 6);
}

TEST_F(ChangesTest, ALineIsAnEntryOfAHistoryBundle) {
    fill();
    EXPECT_TRUE(feed("").body.starts_with(
        R"({"position":1,"commit":1,"fullUrl":"http://test/fhir/Patient/a/_history/1",)"
        R"("resource":{"resourceType":"Patient","id":"a",)"));
    const Answer deletion = feed("after=4&_count=1");
    EXPECT_TRUE(deletion.says(R"("request":{"method":"DELETE","url":"Patient/a"})"));
    EXPECT_TRUE(deletion.says(R"("response":{"status":"410 Gone","etag":"W/\"2\"",)"));
    EXPECT_FALSE(deletion.says("resource\""));
}

TEST_F(ChangesTest, ALimitNeverDividesACommit) {
    fill();
    const Answer two = feed("_count=2");
    EXPECT_EQ(places(two.body), "1/1 2/4 3/4 4/4");
    EXPECT_EQ(two.position, 4U);
    const Answer one = feed("_count=1");
    EXPECT_EQ(places(one.body), "1/1");
    EXPECT_EQ(one.position, 1U);
    EXPECT_EQ(places(feed("after=1&_count=1").body), "2/4 3/4 4/4");
    EXPECT_EQ(places(feed("after=2").body), "3/4 4/4 5/5 6/6") << "from inside of a commit";
}

TEST_F(ChangesTest, PagesJoinWithoutGapOrRepeat) {
    for (int i = 0; i < 40; ++i) {
        ASSERT_EQ(send("POST", "/",
                       transaction_of_patients({fmt::format("x{}", i), fmt::format("y{}", i % 7),
                                                fmt::format("z{}", i)}))
                      .status,
                  200);
    }
    std::string joined;
    std::uint64_t after = 0;
    for (int pages = 0; pages < 60; ++pages) {
        const Answer page = feed(fmt::format("after={}&_count={}", after, 1 + pages % 5));
        joined += page.body;
        if (page.position == after) {
            break;
        }
        after = page.position;
    }
    EXPECT_EQ(joined, feed("").body);
}

TEST_F(ChangesTest, OtherTypesArePassedOverAndTheirPositionsToo) {
    fill();
    const Answer answer = feed("_type=Observation");
    EXPECT_EQ(places(answer.body), "6/6");
    EXPECT_EQ(answer.position, 6U);
    EXPECT_EQ(places(feed("_type=Patient,Observation").body), places(feed("").body));
    EXPECT_EQ(places(feed("_type=Observation&_type=Patient&_count=3").body), "1/1 2/4 3/4 4/4");
    const Answer none = feed("_type=Encounter");
    EXPECT_EQ(none.body, "");
    EXPECT_EQ(none.position, 6U);
}

TEST_F(ChangesTest, ErasedVersionsAreGapsAlsoAfterARestart) {
    restart_hard();
    fill();
    ASSERT_EQ(send("DELETE", "/Patient/d").status, 204);
    // Hard deletions write no version, and a's only version is gone: the Observation has position 5.
    const std::string left = "2/4 3/4 5/5";
    EXPECT_EQ(places(feed("").body), left);
    restart_hard();
    EXPECT_EQ(places(feed("").body), left);
    EXPECT_EQ(places(feed("after=3").body), "5/5");
    EXPECT_EQ(places(feed("after=4").body), "5/5");
}

TEST_F(ChangesTest, ATypeThatIsRepeatedCountsOnce) {
    fill();
    EXPECT_EQ(feed("_type=Patient,Patient&_type=Patient").body, feed("_type=Patient").body);
}

TEST_F(ChangesTest, OnlyEventsGoOnAfterALastEventId) {
    fill();
    EXPECT_EQ(send("GET", "/_changes?wait=0", {}, {{"Last-Event-ID", "1"}}).body, feed("").body);
}

TEST_F(ChangesTest, AWaitEndsBeforeTheRequestsTime) {
    Config config;
    config.limits.request_timeout = std::chrono::milliseconds(100);
    restart(config);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(send("GET", "/_changes?wait=60").status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ChangesTest, AHeadRequestDoesNotWait) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(send("HEAD", "/_changes?wait=60").status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(ChangesTest, ThereIsNothingAfterTheNewest) {
    fill();
    for (const char* after : {"6", "7", "99999999999", "18446744073709551615"}) {
        const Answer answer = feed(fmt::format("after={}", after));
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.body, "");
        EXPECT_EQ(fmt::format("{}", answer.position), after);
        EXPECT_EQ(answer.header("X-Annals-Last-Position"), "6");
    }
}

TEST_F(ChangesTest, WaitsUntilSomethingComes) {
    put_patient("a");
    Answer answer;
    std::thread reader([&] { answer = send("GET", "/_changes?after=1&wait=60"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    put_patient("b");
    reader.join();
    EXPECT_EQ(places(answer.body), "2/2");
    EXPECT_EQ(answer.position, 2U);
}

TEST_F(ChangesTest, WaitsForTheTypesAskedFor) {
    Answer answer;
    std::thread reader([&] { answer = send("GET", "/_changes?_type=Observation&wait=60"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fill();
    reader.join();
    EXPECT_EQ(places(answer.body), "6/6");
}

TEST_F(ChangesTest, AWaitEndsWithNothing) {
    put_patient("a");
    const Answer answer = send("GET", "/_changes?after=1&wait=1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.position, 1U);
}

TEST_F(ChangesTest, AWaitEndsWhenTheServerStops) {
    Answer answer;
    std::thread reader([&] { answer = send("GET", "/_changes?wait=60"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    on_loop([&] { loop().end_waits(); });
    reader.join();
    EXPECT_EQ(answer.status, 200);
}

TEST_F(ChangesTest, ALargePageIsGivenInSlices) {
    std::vector<std::string> ids;
    for (int i = 0; i < 300; ++i) {
        ids.push_back(fmt::format("p{}", i));
    }
    ASSERT_EQ(send("POST", "/", transaction_of_patients(ids)).status, 200);
    const Answer answer = feed("_count=1");
    EXPECT_GE(answer.slices, 4U);
    EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), '\n'), 300);
    EXPECT_TRUE(answer.says(R"({"position":300,"commit":300,)"));
}

TEST_F(ChangesTest, MalformedRequestsAreRefused) {
    for (const char* query :
         {"after=x", "after=-1", "after=", "_count=0", "_count=x", "wait=1.5", "_type=Foo",
          "_type=Patient,", "_since=2020", "after=1%zz", "after=1&wait=0&after=2",
          "wait=0&_count=1&_count=1", "wait=0&_format=ndjson&_format=ndjson"}) {
        EXPECT_EQ(send("GET", fmt::format("/_changes?{}", query)).status, 400) << query;
    }
    EXPECT_EQ(send("GET", "/_changes?wait=0", {}, {{"Accept", "application/fhir+json"}}).status,
              406);
    EXPECT_EQ(send("GET", "/_changes?wait=0&_format=json").status, 406);
    EXPECT_EQ(send("POST", "/_changes", "{}").status, 405);
    EXPECT_EQ(send("GET", "/_changes/1").status, 404);
    const Answer bundle = send("POST", "/",
                               R"({"resourceType":"Bundle","type":"batch","entry":[)"
                               R"({"request":{"method":"GET","url":"_changes?wait=0"}}]})");
    EXPECT_TRUE(bundle.says(R"("status":"400 Bad Request")"));
}

TEST_F(ChangesTest, RefusalsAreInTheRepresentationAskedFor) {
    const Headers xml{{"Accept", "application/fhir+xml"}};
    for (const Answer& answer :
         {send("GET", "/_changes?after=x", {}, xml), send("GET", "/_changes?wait=0", {}, xml),
          send("GET", "/_changes?after=x&_format=xml")}) {
        EXPECT_GE(answer.status, 400);
        EXPECT_TRUE(answer.content_type.starts_with("application/fhir+xml")) << answer.body;
    }
    EXPECT_TRUE(send("GET", "/_changes?after=x&_format=ndjson")
                    .content_type.starts_with("application/fhir+json"));
}

TEST_F(ChangesTest, TheFormatIsNegotiated) {
    for (const char* accept : {"application/fhir+ndjson", "application/x-ndjson", "*/*",
                               "text/event-stream;q=0.5, application/ndjson"}) {
        put_patient("a");
        EXPECT_EQ(send("GET", "/_changes?wait=0", {}, {{"Accept", accept}}).content_type,
                  "application/fhir+ndjson")
            << accept;
    }
    for (const char* format : {"ndjson", "application/fhir%2Bndjson", "application/fhir+ndjson"}) {
        const std::string target = fmt::format("/_changes?wait=0&_format={}", format);
        EXPECT_EQ(send("GET", target).status, 200) << format;
    }
}

// ---- Server-Sent Events: the source, read as by net ----

std::string drain(BodySource& source) {
    std::string text;
    do {
        Body slice;
        EXPECT_TRUE(source.next(slice)) << "a stream of events has no end";
        text += slice.str();
    } while (!source.waits_after());
    return text;
}

std::string ids(const std::string& text) {
    static const std::regex kIds(R"(id: (\d+)\n\n)");
    std::string out;
    for (std::sregex_iterator at(text.begin(), text.end(), kIds), end; at != end; ++at) {
        out += (out.empty() ? "" : " ") + (*at)[1].str();
    }
    return out;
}

TEST_F(ChangesTest, ACommitIsOneEvent) {
    fill();
    const auto source = change_events(service(), "http://test/fhir", ChangeReader(store(), {}, {}));
    const std::string text = drain(*source);
    EXPECT_EQ(places(text), "1/1 2/4 3/4 4/4 5/5 6/6");
    EXPECT_EQ(ids(text), "1 4 5 6");
    EXPECT_EQ(source->waits_after(), std::optional(Position{6}));
    EXPECT_TRUE(source->endless());
    EXPECT_EQ(drain(*source), "") << "nothing is new";
    put_patient("e");
    EXPECT_EQ(ids(drain(*source)), "7");
}

TEST_F(ChangesTest, EventsGoOnAfterTheirLastId) {
    fill();
    const auto source =
        change_events(service(), "http://test/fhir", ChangeReader(store(), {4}, {}));
    EXPECT_EQ(ids(drain(*source)), "5 6");
}

TEST_F(ChangesTest, EventsOfATypeHaveTheIdsOfTheirCommits) {
    fill();
    const auto type = *find_resource_type("Observation");
    const auto source =
        change_events(service(), "http://test/fhir", ChangeReader(store(), {}, {type}));
    EXPECT_EQ(ids(drain(*source)), "6");
}

}  // namespace
}  // namespace annals::core
