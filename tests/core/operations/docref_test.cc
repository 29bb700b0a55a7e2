// $docref: which documents of a patient it finds.

#include "core/operations/docref.h"

#include "tests/core/bundle_fixture.h"

#include <fmt/format.h>

namespace annals::core {
namespace {

class Docref : public testing::Test {
  protected:
    Docref() {
        add("old", "34133-9", "2020-01-02T03:04:05Z", R"("start":"2019-01-01","end":"2019-02-01")");
        add("new", "34133-9", "2021-01-02T03:04:05Z");
        add("note", "11488-4", "2022-01-02T03:04:05Z", R"("start":"2021-12-01")");
        add("gone", "34133-9", "2023-01-02T03:04:05Z", "", "superseded");
        add("theirs", "34133-9", "2023-01-02T03:04:05Z", "", "current", "q");
    }

    void add(std::string_view id, std::string_view code, std::string_view date,
             std::string_view period = {}, std::string_view status = "current",
             std::string_view patient = "p") {
        add_typed(
            id, fmt::format(R"({{"coding":[{{"system":"http://loinc.org","code":"{}"}}]}})", code),
            date, period, status, patient);
    }

    void add_typed(std::string_view id, std::string_view type, std::string_view date,
                   std::string_view period = {}, std::string_view status = "current",
                   std::string_view patient = "p") {
        const Received answer = server_.put(
            fmt::format("/DocumentReference/{}", id),
            fmt::format(
                R"({{"resourceType":"DocumentReference","id":"{}","status":"{}","date":"{}",)"
                R"("type":{},)"
                R"("subject":{{"reference":"Patient/{}"}},"content":[{{"attachment":{{"title":"a"}}}}]{}}})",
                id, status, date, type, patient,
                period.empty() ? "" : fmt::format(R"(,"context":{{"period":{{{}}}}})", period)));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }

    std::string found(std::string query) {
        return ids_of_all(
            server_.send({HttpMethod::get, "/DocumentReference/$docref", std::move(query)}));
    }

    TestService server_;
};

TEST_F(Docref, FindsTheNewestOfEachTypeWhereNoTimeIsSaid) {
    EXPECT_EQ(found("patient=p"), "note new");
    EXPECT_EQ(found("patient=Patient/p&on-demand=true"), "note new");
    EXPECT_EQ(found("patient=p&type=http://loinc.org%7C34133-9"), "new");
    EXPECT_EQ(found("patient=p&type=34133-9,11488-4"), "note new");
    EXPECT_EQ(found("patient=q"), "theirs");
    EXPECT_EQ(found("patient=nobody"), "");
}

TEST_F(Docref, TellsTypesWithoutACodeApartByTheirTexts) {
    constexpr std::string_view kDate = "2023-01-02T03:04:05Z";
    const auto add_of = [&](std::string_view id, std::string_view type, std::string_view date) {
        add_typed(id, type, date, "", "current", "r");
    };
    add_of("a", R"({"coding":[{"display":"Letter"}]})", kDate);
    add_of("b", R"({"coding":[{"display":"Letter"}]})", "2022-01-02T03:04:05Z");
    add_of("c", R"({"coding":[{"display":"Note"}]})", "2021-01-02T03:04:05Z");
    add_of("d", R"({"coding":[{"display":"Note"}],"text":"Report"})", "2020-01-02T03:04:05Z");
    add_of("e", R"({"coding":[{"display":"Note"},{"code":"Note"}]})", "2019-01-02T03:04:05Z");
    add_of("f", R"({"coding":[{"code":"Note"}]})", "2018-01-02T03:04:05Z");
    EXPECT_EQ(found("patient=r"), "a c d e");
}

TEST_F(Docref, GoesByTheTimeOfCareAndElseByWhenADocumentWasMade) {
    EXPECT_EQ(found("patient=p&start=2019-01-15"), "note new old");
    EXPECT_EQ(found("patient=p&start=2019-03-01"), "note new");
    EXPECT_EQ(found("patient=p&end=2019-01-15"), "old");
    EXPECT_EQ(found("patient=p&start=2020&end=2021-06-01T00:00:00%2B01:00"), "new");
    EXPECT_EQ(found("patient=p&start=2019&type=34133-9"), "new old");
}

TEST_F(Docref, RefusesWhatMakesNoSense) {
    for (const char* query :
         {"", "type=34133-9", "patient=a/b", "patient=p&patient=q", "patient=p&start=soon",
          "patient=p&end=2020)%20or%20(date%20ge%202000", "patient=p&on-demand=maybe",
          "patient=p&profile=http://x", "patient=p&type="}) {
        EXPECT_EQ(found(query), "400") << query;
    }
}

}  // namespace
}  // namespace annals::core
