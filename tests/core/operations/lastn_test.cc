// $lastn: which observations of each kind are the last.

#include "core/operations/lastn.h"

#include "tests/core/bundle_fixture.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

class Lastn : public testing::Test {
  protected:
    void add(std::string_view id, std::string_view code, std::string_view effective) {
        add_coded(id, fmt::format(R"({{"code":"{}"}})", code), effective);
    }

    void add_coded(std::string_view id, std::string_view codings, std::string_view effective) {
        add_made(id, codings, fmt::format(R"("effectiveDateTime":"{}")", effective));
    }

    void add_made(std::string_view id, std::string_view codings, std::string_view when) {
        const Received answer = server_.put(
            fmt::format("/Observation/{}", id),
            fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final","code":)"
                        R"({{"coding":[{}]}},"subject":{{"reference":"Patient/p"}},{}}})",
                        id, codings, when));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }

    Received ask(std::string query) {
        return server_.send({HttpMethod::get, "/Observation/$lastn", std::move(query)});
    }

    std::string found(std::string query) { return ids_of_all(ask(std::move(query))); }

    TestService server_;
};

TEST_F(Lastn, KeepsWhatTiesWithTheLastOneKept) {
    add("old", "weight", "2020-01-01");
    add("a", "weight", "2022-01-01");
    add("b", "weight", "2022-01-01T00:00:00Z");
    add("new", "weight", "2023-01-01");
    add("h1", "height", "2021-06-01");
    add("h2", "height", "2021-06-01");
    EXPECT_EQ(found("patient=p&code=weight"), "new");
    EXPECT_EQ(found("patient=p&code=weight&max=2"), "new b a");
    EXPECT_EQ(found("patient=p&code=weight&max=3"), "new b a");
    EXPECT_EQ(found("patient=p&code=weight&max=4"), "new b a old");
    EXPECT_EQ(found("patient=p&code=weight,height"), "new h2 h1");
}

TEST_F(Lastn, JoinsKindsWhicheverWasWrittenFirst) {
    add_coded("first", R"({"code":"a"})", "2020-01-01");
    add_coded("last", R"({"code":"c"})", "2023-01-01");
    EXPECT_EQ(found("patient=p&code=a,b,c"), "last first");
    add_coded("second", R"({"code":"a"},{"code":"b"})", "2021-01-01");
    add_coded("third", R"({"code":"b"},{"code":"c"})", "2022-01-01");
    EXPECT_EQ(found("patient=p&code=a,b,c"), "last");
    EXPECT_EQ(found("patient=p&code=a,b,c&max=4"), "last third second first");
    // Only observations that match join kinds.
    EXPECT_EQ(found("patient=p&code=a,b,c&_id=first,last"), "last first");

    add_coded("joins", R"({"code":"x"},{"code":"y"})", "2020-01-01");
    add_coded("x", R"({"code":"x"})", "2021-01-01");
    add_coded("y", R"({"code":"y"})", "2022-01-01");
    EXPECT_EQ(found("patient=p&code=x,y"), "y");
    EXPECT_EQ(found("patient=p&code=x,y&max=3"), "y x joins");
}

TEST_F(Lastn, IsOrderedByWhatTellsWhenAnObservationWasMade) {
    constexpr std::string_view kCode = R"({"code":"a"})";
    add_made("instant", kCode, R"("effectiveInstant":"2021-01-01T00:00:00Z")");
    add_made("ended", kCode, R"("effectivePeriod":{"start":"2010","end":"2022"})");
    add_made("begun", kCode, R"("effectivePeriod":{"start":"2020"})");
    add_made("events", kCode, R"("effectiveTiming":{"event":["2011","2019","2012"]})");
    add_made("bounded", kCode,
             R"("effectiveTiming":{"repeat":{"boundsPeriod":{"start":"2010","end":"2018"}}})");
    add_made("issued", kCode, R"("issued":"2017-01-01T00:00:00Z")");
    add_made("written", kCode, R"("effectiveTiming":{"code":{"text":"daily"}})");
    EXPECT_EQ(found("patient=p&code=a&max=9"), "written ended instant begun events bounded issued");
}

TEST_F(Lastn, GroupsByTheTextWhatHasNoCode) {
    add_coded("weight", R"({"display":"Weight"})", "2020-01-01");
    add_coded("height", R"({"system":"s","display":"Height"},{"display":"Size"})", "2021-01-01");
    add_coded("taller", R"({"display":"Height"})", "2022-01-01");
    add_coded("age",
              R"({"display":"Weight"}],"text":"Age","extension":[{"url":"u","valueCode":"x"})",
              "2023-01-01");
    add_coded("coded", R"({"display":"Weight"},{"code":"Weight"})", "2024-01-01");
    EXPECT_EQ(found("patient=p&category:missing=true"), "coded age taller weight");
}

TEST_F(Lastn, TellsApartCodesThatAreWrittenAlike) {
    add_coded("one", R"({"system":"s","code":"a|b"})", "2020-01-01");
    add_coded("other", R"({"system":"s|a","code":"b"})", "2021-01-01");
    EXPECT_EQ(found("patient=p&code:missing=false"), "other one");
}

TEST_F(Lastn, TakesTheSearchParametersOfObservation) {
    add("w", "weight", "2022-01-01");
    add("h", "height", "2021-01-01");
    EXPECT_EQ(found("patient=p&combo-code=weight"), "w");
    EXPECT_EQ(found("subject:Patient=p&code:not=weight"), "h");
    EXPECT_EQ(found("patient=p&code-value-concept=weight$x"), "");
    EXPECT_EQ(found("patient=p&code=weight,height&_id=h&date=2021"), "h");
    EXPECT_EQ(found("patient=p&code=weight,height&value-quantity=gt5"), "");
    EXPECT_TRUE(Json(ask("patient=p&combo-code=weight").body)
                    .root()["link"]
                    .raw()
                    .find("&combo-code=weight") != std::string_view::npos);

    for (const char* query : {"patient=p", "code=weight", "patient=p&date=2021"}) {
        EXPECT_EQ(Json(ask(query).body).issue("code"), "required") << query;
    }
    for (const char* more : {"_count=1", "_sort=date", "_include=*", "odd=1", "code:odd=1"}) {
        EXPECT_EQ(found(fmt::format("patient=p&code=weight&{}", more)), "400") << more;
    }
}

}  // namespace
}  // namespace annals::core
