// What a search includes: what matches refer to and what refers to them, also by canonical URLs.

#include "core/interactions/search_includes.h"

#include "core/search/snapshot.h"
#include "core/search/view.h"
#include "tests/core/search/search_fixture.h"
#include "tests/support/commits.h"

#include <asio/post.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

TEST_F(Search, LeadsToAnyTypeByAParameterThatNamesNone) {
    for (const auto& [id, base, expression] :
         {std::tuple{"asked", "QuestionnaireResponse", "QuestionnaireResponse.questionnaire"},
          std::tuple{"run-by", "Patient", "Patient.managingOrganization"}}) {
        put("SearchParameter", id,
            fmt::format(
                R"("url":"http://p/{0}","name":"n","status":"active","description":"d","code":"{0}","base":["{1}"],"type":"reference","expression":"{2}")",
                id, base, expression));
    }
    put("Questionnaire", "q", R"("url":"http://q","status":"active")");
    put("QuestionnaireResponse", "r", R"("status":"completed","questionnaire":"http://q")");
    put("Organization", "whole", R"("name":"Whole")");
    put("Organization", "part", R"("name":"Part","partOf":{"reference":"Organization/whole"})");
    put("Patient", "p", R"("managingOrganization":{"reference":"Organization/part"})");
    service().indexing().wait_until_idle();
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:asked").included,
              Names{"Questionnaire/q"});
    EXPECT_EQ(get("/Patient?run-by:below=whole").matches, Names{"Patient/p"});
    EXPECT_EQ(get("/Patient?run-by=part&run-by:Organization.name=part").matches,
              Names{"Patient/p"});
}

TEST_F(Search, IncludesWhatMatchesReferTo) {
    put("Organization", "o", R"("name":"Root")");
    put("Organization", "p", R"("name":"Part","partOf":{"reference":"Organization/o"})");
    put("Patient", "a", R"("managingOrganization":{"reference":"Organization/p"})");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"text":"y"},"subject":{"reference":"Patient/a"})");
    Searchset page = get("/Observation?_include=Observation:subject");
    EXPECT_EQ(page.matches, (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(page.included, Names{"Patient/a"});
    EXPECT_EQ(page.total, 2U);
    EXPECT_EQ(get("/Observation?_include=*").included, Names{"Patient/a"});
    EXPECT_EQ(get("/Observation?_include=Observation:patient").included, Names{"Patient/a"});
    EXPECT_EQ(get("/Observation?_include=Observation:subject:Patient").included,
              Names{"Patient/a"});
    EXPECT_TRUE(get("/Observation?_include=Observation:subject:Group").included.empty());
    page =
        get("/Observation?_include=Observation:subject&_include:iterate=Patient:organization&"
            "_include:iterate=Organization:partof");
    EXPECT_EQ(page.included, (Names{"Patient/a", "Organization/p", "Organization/o"}));
    EXPECT_TRUE(get("/Observation?_include=Patient:organization").included.empty());

    EXPECT_EQ(get("/Patient?_revinclude=Observation:subject").included,
              (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(get("/Patient?_revinclude=*").included, (Names{"Observation/y", "Observation/x"}));
    EXPECT_EQ(
        get("/Organization?_id=o&_revinclude=Organization:partof&"
            "_revinclude:iterate=Patient:organization&_revinclude:iterate=Observation:subject")
            .included,
        (Names{"Organization/p", "Patient/a", "Observation/y", "Observation/x"}));
}

TEST_F(Search, IncludesWhatRefersByTheParameterThatIsNamedAlone) {
    put("Patient", "a", "");
    put("Group", "g", R"("type":"person","actual":true)");
    put("Observation", "subject",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "performer",
        R"("status":"final","code":{"text":"x"},"performer":[{"reference":"Patient/a"}])");
    put("Observation", "group",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Group/g"})");
    put("Encounter", "e",
        R"("status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/a"})");
    EXPECT_EQ(get("/Patient?_revinclude=Observation:subject").included,
              Names{"Observation/subject"});
    EXPECT_EQ(get("/?_type=Patient,Group&_revinclude=Observation:subject").included,
              (Names{"Observation/group", "Observation/subject"}));
    EXPECT_EQ(get("/?_type=Patient,Group&_revinclude=Observation:subject:Group").included,
              Names{"Observation/group"});
}

TEST_F(Search, GoesOnFromWhatIsIncludedThreeTimes) {
    put("Organization", "o0", R"("name":"o0")");
    for (int i = 1; i < 7; ++i) {
        put("Organization", fmt::format("o{}", i),
            fmt::format(R"("name":"o{0}","partOf":{{"reference":"Organization/o{1}"}})", i, i - 1));
    }
    EXPECT_EQ(get("/Organization?_id=o6&_include:iterate=Organization:partof").included,
              (Names{"Organization/o5", "Organization/o4", "Organization/o3", "Organization/o2"}));
    EXPECT_EQ(get("/Organization?_id=o0&_revinclude:iterate=Organization:partof").included,
              (Names{"Organization/o1", "Organization/o2", "Organization/o3", "Organization/o4"}));
}

TEST_F(Search, IncludesNothingTwiceAndNothingDeleted) {
    put("Patient", "a", "");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"},"performer":[{"reference":"Patient/a"},{"reference":"Patient/b"}])");
    EXPECT_EQ(
        get("/Observation?_include=Observation:subject&_include=Observation:performer").included,
        Names{"Patient/a"});
    send("DELETE", "/Patient/a");
    EXPECT_TRUE(get("/Observation?_include=*").included.empty());
}

TEST_F(Search, IncludesInTheOrderOfWhatRefersAndThenOfTheIncludes) {
    for (const std::string_view id : {"a", "b"}) {
        put("Patient", id, "");
        put("Practitioner", id, "");
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/{0}"}},"performer":[{{"reference":"Practitioner/{0}"}}])",
                id));
    }
    EXPECT_EQ(
        get("/Observation?_include=Observation:performer&_include=Observation:subject").included,
        (Names{"Practitioner/b", "Patient/b", "Practitioner/a", "Patient/a"}));
    EXPECT_EQ(
        get("/Observation?_include=Observation:subject&_include=Observation:performer").included,
        (Names{"Patient/b", "Practitioner/b", "Patient/a", "Practitioner/a"}));
}

TEST_F(Search, IncludesNothingThatMatches) {
    put("Organization", "whole", R"("name":"Whole")");
    put("Organization", "part", R"("name":"Part","partOf":{"reference":"Organization/whole"})");
    const Searchset page =
        get("/Organization?_include=Organization:partof&_revinclude=Organization:partof");
    EXPECT_EQ(page.matches, (Names{"Organization/part", "Organization/whole"}));
    EXPECT_TRUE(page.included.empty());
}

TEST_F(Search, IncludesTheVersionThatAReferenceNames) {
    put_named("a", "First");
    put_named("a", "Second");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a/_history/1"})");
    EXPECT_NE(get("/Observation?_include=Observation:subject").text.find("First"),
              std::string::npos);
}

TEST_F(Search, IncludesNothingForWhatIsNoVersion) {
    put_named("a", "First");
    put_named("a", "Second");
    for (const std::string_view version : {"abc", "01", "3"}) {
        put("Observation", "x",
            fmt::format(
                R"("status":"final","code":{{"text":"x"}},"subject":{{"reference":"Patient/a/_history/{}"}})",
                version));
        EXPECT_TRUE(get("/Observation?_include=Observation:subject").included.empty()) << version;
    }
}

TEST_F(Search, IncludesWhatACanonicalUrlNames) {
    put("Questionnaire", "q1", R"("url":"http://example.org/q","version":"1","status":"active")");
    put("Questionnaire", "q2", R"("url":"http://example.org/q","version":"2","status":"active")");
    put("Questionnaire", "other", R"("url":"http://example.org/other","status":"active")");
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q|1","status":"completed")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q1"});
    // Without a version, the one written last is meant.
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q","status":"completed")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q2"});
}

TEST_F(Search, IncludesNothingThatHasTheUrlAsItsEndpoint) {
    put("Subscription", "s",
        R"("status":"off","reason":"x","criteria":"Patient?active=true","channel":{"type":"rest-hook",
           "endpoint":"http://example.org/lib"})");
    put("Library", "l",
        R"("url":"http://example.org/lib","status":"active","type":{"text":"logic"})");
    put("Measure", "m", R"("status":"active","library":["http://example.org/lib"])");
    EXPECT_EQ(get("/Measure?_include=Measure:depends-on").included, Names{"Library/l"});
}

TEST_F(Search, IncludesCanonicalUrlsAmongAllReferences) {
    put("Patient", "a", "");
    put("Questionnaire", "q1", R"("url":"http://example.org/q","version":"1","status":"active")");
    put("Questionnaire", "q2", R"("url":"http://example.org/q","version":"2","status":"active")");
    put("QuestionnaireResponse", "r",
        R"("questionnaire":"http://example.org/q|1","status":"completed","subject":{"reference":"Patient/a"})");
    const Names both{"Patient/a", "Questionnaire/q1"};
    EXPECT_EQ(get("/QuestionnaireResponse?_include=*").included, both);
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:*").included, both);
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:*:Questionnaire").included,
              Names{"Questionnaire/q1"});
    EXPECT_TRUE(get("/QuestionnaireResponse?_include=Observation:*").included.empty());
}

class CanonicalSearch : public Search {
  protected:
    void put_response(std::string_view id, std::string_view questionnaire,
                      std::string_view status) {
        put("QuestionnaireResponse", id,
            fmt::format(R"("questionnaire":"{}","status":"{}")", questionnaire, status));
    }

    // Stores two versions of a questionnaire, another one, and responses to them.
    void put_all() {
        put("Questionnaire", "q1",
            R"("url":"http://example.org/q","version":"1","title":"Quest","status":"active")");
        put("Questionnaire", "q2",
            R"("url":"http://example.org/q","version":"2","title":"Later","status":"active")");
        put("Questionnaire", "other",
            R"("url":"http://example.org/other","title":"Other","status":"active")");
        put_response("first", "http://example.org/q|1", "completed");
        put_response("second", "http://example.org/q|2", "in-progress");
        put_response("any", "http://example.org/q", "amended");
        put_response("by-id", "Questionnaire/q1", "stopped");
        put_response("none", "http://example.org/other|1", "entered-in-error");
    }

    void expect_followed() {
        const auto name = [](std::vector<std::string> ids) {
            for (std::string& id : ids) {
                id.insert(0, "QuestionnaireResponse/");
            }
            return ids;
        };
        const Names of_first = name({"by-id", "any", "first"});
        const Names of_second = name({"any", "second"});
        const auto referrers = [&](std::string_view id) {
            return get(fmt::format(
                           "/Questionnaire?_id={}&_revinclude=QuestionnaireResponse:questionnaire",
                           id))
                .included;
        };
        EXPECT_EQ(referrers("q1"), of_first);
        EXPECT_EQ(referrers("q2"), of_second);
        EXPECT_TRUE(referrers("other").empty());
        EXPECT_EQ(get("/Questionnaire?_id=q2&_revinclude=*").included, of_second);

        EXPECT_EQ(get("/QuestionnaireResponse?questionnaire.title=quest").matches, of_first);
        EXPECT_EQ(get("/QuestionnaireResponse?questionnaire:Questionnaire.title=later").matches,
                  of_second);
        EXPECT_TRUE(get("/QuestionnaireResponse?questionnaire.title=other").matches.empty());

        // For a given questionnaire, responses are looked up by its names.
        EXPECT_EQ(
            get("/Questionnaire?_id=q2&_has:QuestionnaireResponse:questionnaire:status=in-progress")
                .matches,
            Names{"Questionnaire/q2"});
        EXPECT_TRUE(
            get("/Questionnaire?_id=q1&_has:QuestionnaireResponse:questionnaire:status=in-progress")
                .matches.empty());

        const auto answered = [&](std::string_view status) {
            return get(fmt::format(
                           "/Questionnaire?_has:QuestionnaireResponse:questionnaire:status={}",
                           status))
                .matches;
        };
        EXPECT_EQ(answered("completed"), Names{"Questionnaire/q1"});
        EXPECT_EQ(answered("in-progress"), Names{"Questionnaire/q2"});
        EXPECT_EQ(answered("amended"), (Names{"Questionnaire/q2", "Questionnaire/q1"}));
        EXPECT_EQ(answered("stopped"), Names{"Questionnaire/q1"});
        EXPECT_TRUE(answered("entered-in-error").empty());
    }
};

TEST_F(CanonicalSearch, LeadsFromWhatIsNamedToWhatNamesIt) {
    put_all();
    expect_followed();
    send("DELETE", "/Questionnaire/q1");
    EXPECT_TRUE(get("/QuestionnaireResponse?questionnaire.title=quest").matches.empty());
    put("Questionnaire", "q2", R"("url":"http://example.org/moved","status":"active")");
    EXPECT_TRUE(
        get("/Questionnaire?_revinclude=QuestionnaireResponse:questionnaire").included.empty());
    EXPECT_TRUE(get("/Questionnaire?_has:QuestionnaireResponse:questionnaire:status=amended")
                    .matches.empty());
}

TEST_F(CanonicalSearch, FindsFewAmongMany) {
    for (int i = 0; i < 60; ++i) {
        put("Questionnaire", fmt::format("m{}", i),
            fmt::format(R"("url":"http://example.org/m{}","status":"active")", i));
        put_response(fmt::format("m{}", i), fmt::format("http://example.org/m{}|1", i),
                     "in-progress");
        put_response(fmt::format("n{}", i), fmt::format("http://example.org/n{}", i),
                     "in-progress");
    }
    put_all();
    expect_followed();
}

TEST_F(CanonicalSearch, GoesOnFromWhatWasIncluded) {
    put_all();
    put("PlanDefinition", "p",
        R"("url":"http://example.org/p","version":"7","status":"active","action":[{"definitionCanonical":"http://example.org/q|1"}])");
    put("CarePlan", "c",
        R"("status":"active","intent":"plan","subject":{"reference":"Patient/a"},"instantiatesCanonical":["http://example.org/p|7"])");
    put("CarePlan", "before",
        R"("status":"active","intent":"plan","subject":{"reference":"Patient/a"},"instantiatesCanonical":["http://example.org/p|6"])");
    EXPECT_EQ(get("/Questionnaire?_id=q1&_revinclude=PlanDefinition:definition&"
                  "_revinclude:iterate=CarePlan:instantiates-canonical")
                  .included,
              (Names{"PlanDefinition/p", "CarePlan/c"}));
    EXPECT_EQ(
        get("/CarePlan?instantiates-canonical:PlanDefinition.definition:Questionnaire.title=quest")
            .matches,
        Names{"CarePlan/c"});
}

TEST_F(Search, IncludesWhatACanonicalNamesByItsId) {
    put("Questionnaire", "q", R"("status":"active")");
    put("QuestionnaireResponse", "r", R"("status":"completed","questionnaire":"Questionnaire/q")");
    EXPECT_EQ(get("/QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire").included,
              Names{"Questionnaire/q"});
}

TEST_F(Search, SaysWhenThereIsTooMuchToInclude) {
    put("Patient", "a", "");
    for (int i = 0; i < 1005; ++i) {
        put("Observation", fmt::format("o{}", i),
            R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    }
    const Searchset page = get("/Patient?_revinclude=Observation:subject");
    EXPECT_EQ(page.included.size(), 1000U);
    ASSERT_EQ(page.warnings.size(), 1U);
    EXPECT_NE(page.warnings[0].find("1000"), std::string::npos);
}

class IncludeTurns : public Search {
  protected:
    using Shows = std::function<bool(const storage::VersionInfo&)>;

    // What `include` finds for the resources of a type with these ids. Its turns are over before they begin.
    std::optional<core::Included> find(const core::search::Include& include, std::string_view type,
                                       const std::vector<std::string>& ids, Shows shows) {
        std::vector<storage::VersionInfo> matches;
        for (const std::string& id : ids) {
            matches.push_back(store().current(type_of(type), id).value());
        }
        core::search::Snapshot snapshot(store());
        core::Turns turns(loop(), std::chrono::steady_clock::time_point::max(),
                          std::chrono::milliseconds(-1));
        const core::IncludeContext context{.service = service(),
                                           .snapshot = snapshot,
                                           .parameters = service().indexing().parameters(),
                                           .view = core::search::unrestricted(),
                                           .base_url = kBaseUrl,
                                           .includes = std::span(&include, 1),
                                           .shows = std::move(shows),
                                           .looks = false,
                                           .as_of = false,
                                           .turns = turns};
        std::optional<core::Included> found;
        std::promise<void> done;
        bool is_done = false;
        std::function<void()> other = [&] {
            if (is_done) {
                done.set_value();
                return;
            }
            ++turns_of_others_;
            asio::post(loop().context(), other);
        };
        loop().post([&] {
            core::spawn(loop(), "include", run(context, matches, found, is_done));
            asio::post(loop().context(), other);
        });
        done.get_future().wait();
        return found;
    }

    core::search::Include include_of(std::string_view type, std::string_view code, bool reverse) {
        const TypeId source = type_of(type);
        core::search::Include include;
        include.source = source;
        include.parameter = service().indexing().parameters()->find(source, code);
        include.reverse = reverse;
        return include;
    }

    int turns_of_others_ = 0;

  private:
    static asio::awaitable<void> run(const core::IncludeContext& context,
                                     std::span<const storage::VersionInfo> matches,
                                     std::optional<core::Included>& found, bool& is_done) {
        Result<core::Included> included = co_await core::find_included(context, matches);
        if (included) {
            found = *std::move(included);
        }
        is_done = true;
    }
};

TEST_F(IncludeTurns, GiveWayWhileReferrersAreLookedFor) {
    constexpr int kPatients = 100;
    std::vector<std::string> ids;
    for (int i = 0; i < kPatients; ++i) {
        ids.push_back(fmt::format("p{}", i));
        put("Patient", ids.back(), "");
    }
    put("Observation", "o",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/p7"})");
    const auto found = find(include_of("Observation", "subject", true), "Patient", ids,
                            [](const storage::VersionInfo&) { return true; });
    ASSERT_TRUE(found);
    EXPECT_EQ(found->versions.size(), 1U);
    // Once for each as something that may refer, and once as something that may be referred to.
    EXPECT_GE(turns_of_others_, 2 * kPatients);
}

TEST_F(IncludeTurns, LookForNoMoreCanonicalsThanAreIncluded) {
    constexpr int kLibraries = 1100;
    std::string entries;
    std::string urls;
    for (int i = 0; i < kLibraries; ++i) {
        const char* const comma = i == 0 ? "" : ",";
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"Library","url":"http://l/{}","status":"active","type":{{"text":"t"}}}},"request":{{"method":"POST","url":"Library"}}}})",
            comma, i);
        urls += fmt::format(R"({}"http://l/{}")", comma, i);
    }
    ASSERT_EQ(
        send("POST", "", R"({"resourceType":"Bundle","type":"batch","entry":[)" + entries + "]}")
            .status,
        200);
    put("Measure", "m", fmt::format(R"("status":"active","library":[{}])", urls));
    std::size_t asked = 0;
    const auto found = find(include_of("Measure", "depends-on", false), "Measure", {"m"},
                            [&](const storage::VersionInfo&) { return ++asked > 0; });
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->cut_short);
    EXPECT_EQ(found->versions.size(), core::kIncludedMax);
    EXPECT_EQ(asked, core::kIncludedMax + 1);
}

}  // namespace
}  // namespace annals::test
