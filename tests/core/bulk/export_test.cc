// $export: what it contains, as of which state, and what it refuses.

#include "core/jobs/jobs.h"
#include "tests/core/bulk/export_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace annals::core {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(ExportTest, GivesEveryLiveResourceAsItIsStored) {
    put("Patient", "a");
    put("Patient", "b");
    observe("o", "Patient/a");
    put("Patient", "a", R"("active":true)");
    put("Patient", "c");
    remove("/Patient/b");
    const Exported exported = run("/$export");
    EXPECT_THAT(exported.names, ElementsAre("Observation/o/1", "Patient/a/2", "Patient/c/1"));
    EXPECT_EQ(exported.manifest.content_type, "application/json");
    EXPECT_FALSE(exported.manifest.header("Expires").empty());
    EXPECT_TRUE(exported.manifest.says(R"("request":"http://test/fhir/$export")"));
    EXPECT_TRUE(exported.manifest.says(R"("requiresAccessToken":false)"));
    EXPECT_FALSE(exported.manifest.says("deleted"));
    const std::string stored = send("GET", "/Patient/a").body;
    EXPECT_THAT(send("GET", exported.urls[1]).body, HasSubstr(stored + "\n"));
}

TEST_F(ExportTest, OfNothingHasAnEmptyOutput) {
    const Exported exported = run("/$export");
    EXPECT_TRUE(exported.manifest.says(R"("output":[],"error":[])")) << exported.manifest.body;
}

TEST_F(ExportTest, GivesWhatChangedSinceAndWhatWasDeleted) {
    put("Patient", "a");
    put("Patient", "b");
    put("Observation", "x", R"("status":"final","code":{"text":"c"})");
    const Exported first = run("/$export");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    put("Patient", "c");
    remove("/Patient/b");
    remove("/Observation/x");
    put("Patient", "d");
    remove("/Patient/d");
    put("Patient", "d");
    EXPECT_THAT(run("/$export?_since=" + first.time).names,
                ElementsAre("Patient/c/1", "Patient/d/3", "-Patient/b", "-Observation/x"));
    EXPECT_THAT(run("/$export?_type=Patient&_since=" + first.time).names,
                ElementsAre("Patient/c/1", "Patient/d/3", "-Patient/b"));
    EXPECT_THAT(run("/$export?_until=" + first.time).names, ElementsAre("Patient/a/1"));
    const Exported none = run("/$export?_since=2999-01-01");
    EXPECT_TRUE(none.names.empty());
    // Instants that their zone moves out of the range of years.
    EXPECT_EQ(run("/$export?_since=0001-01-01T00:00:00%2B14:00").names,
              run("/$export?_since=1900").names);
    EXPECT_EQ(run("/$export?_until=9999-12-31T23:59:59-14:00").names, run("/$export").names);
}

TEST_F(ExportTest, OfEachStateGivesWhatWasThereThen) {
    struct State {
        std::vector<std::string> all;
        std::vector<std::string> of_patients;
    };

    std::map<std::uint64_t, State> states;
    const auto note = [&] {
        states[store().last_position().value] = {run("/$export").names,
                                                 run("/Patient/$export").names};
    };
    note();
    put("Patient", "a");
    note();
    observe("o", "Patient/a");
    note();
    put("Patient", "a", R"("active":true)");
    put("Organization", "org", R"("name":"x")");
    note();
    observe("o", "Organization/org");
    note();
    remove("/Patient/a");
    note();
    put("Patient", "a");
    observe("o", "Patient/a");
    note();
    ASSERT_EQ(states.size(), 7U);
    ASSERT_THAT(states.rbegin()->second.of_patients, ElementsAre("Observation/o/3", "Patient/a/4"));
    for (const auto& [position, state] : states) {
        SCOPED_TRACE(position);
        EXPECT_EQ(run(fmt::format("/$export?_asOf={}", position)).names, state.all);
        EXPECT_EQ(run(fmt::format("/Patient/$export?_asOf={}", position)).names, state.of_patients);
    }
}

TEST_F(ExportTest, OfAnEarlierStateAsksEverythingOfThatState) {
    const auto group = [&](std::string_view member) {
        put("Group", "g",
            fmt::format(
                R"("type":"person","actual":true,"member":[{{"entity":{{"reference":"Patient/{}"}}}}])",
                member));
    };
    put("Patient", "a", R"("name":[{"family":"Meier"}])");
    put("Patient", "b", R"("name":[{"family":"Kunz"}])");
    observe("o", "Patient/a");
    observe("p", "Patient/b");
    group("a");
    const std::uint64_t then = store().last_position().value;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::string instant = format_instant(now());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    put("Patient", "a", R"("name":[{"family":"Kunz"}])");
    group("b");
    remove("/Group/g");
    remove("/Patient/b");

    EXPECT_EQ(begin("/Group/g/$export").status, 410);
    EXPECT_THAT(run(fmt::format("/Group/g/$export?_asOf={}", then)).names,
                ElementsAre("Group/g/1", "Observation/o/1", "Patient/a/1"));
    EXPECT_THAT(run("/Group/g/$export?_asOf=" + instant).names,
                ElementsAre("Group/g/1", "Observation/o/1", "Patient/a/1"));
    const std::string kunz = "_type=Observation&_typeFilter=Observation%3Fpatient.family%3Dkunz";
    EXPECT_THAT(run("/$export?" + kunz).names, ElementsAre("Observation/o/1"));
    EXPECT_THAT(run(fmt::format("/$export?{}&_asOf={}", kunz, then)).names,
                ElementsAre("Observation/p/1"));
    EXPECT_THAT(
        run(fmt::format("/$export?_type=Patient,Group&includeHistory=true&_asOf={}", then + 2))
            .names,
        ElementsAre("Group/g/1", "Group/g/2", "Patient/a/1", "Patient/b/1", "Patient/a/2"));
    EXPECT_THAT(
        run("/Patient/$export",
            fmt::format(
                R"({{"resourceType":"Parameters","parameter":[{{"name":"_asOf","valueInteger":{}}},{{"name":"patient","valueReference":{{"reference":"Patient/b"}}}}]}})",
                then))
            .names,
        ElementsAre("Observation/p/1", "Patient/b/1"));
    // An export since that time begins after that state.
    const Exported earlier = run(fmt::format("/$export?_type=Patient&_asOf={}", then));
    EXPECT_THAT(run("/$export?_type=Patient&_since=" + earlier.time).names,
                ElementsAre("Patient/a/2", "-Patient/b"));

    EXPECT_EQ(begin("/Group/g/$export?_asOf=0").status, 404);
    EXPECT_EQ(begin("/Group/g/$export?_asOf=1").status, 404);
    EXPECT_TRUE(run("/Patient/$export?_asOf=0").names.empty());
    for (const char* wrong : {"x", "", "-1", "1.5", "99999999999999999999", "2026-13-01"}) {
        EXPECT_EQ(begin(fmt::format("/$export?_asOf={}", wrong)).status, 400) << wrong;
    }
    EXPECT_EQ(begin(fmt::format("/$export?_asOf={}", store().last_position().value + 1)).status,
              400);
    EXPECT_EQ(begin("/$export?_asOf=1&_asOf=1").status, 400);
}

TEST_F(ExportTest, ReachesBackBehindWhatTheIndexKeeps) {
    store_options_.search_index.positions_retained = 10;
    store_options_.search_index.pending_documents = 0;
    restart(Config());
    for (int i = 0; i < 5; ++i) {
        put("Patient", std::to_string(i), R"("name":[{"family":"Meier"}])");
        observe(std::to_string(i), fmt::format("Patient/{}", i));
    }
    const Position then = store().last_position();
    const TypeId patient = *find_resource_type("Patient");
    int round = 0;
    while (store().search(patient)->vacuumed_through <= then) {
        ASSERT_LT(++round, 3000);
        ASSERT_LT(put_patient(std::to_string(round % 5), "Kunz"), 300);
        send("GET", "/Patient?family=kunz");  // has the index take in what was written
    }
    const std::string filter = "_type=Patient&_typeFilter=Patient%3Ffamily%3Dmeier";
    EXPECT_EQ(run(fmt::format("/$export?{}&_asOf={}", filter, then.value)).names.size(), 5U);
    const std::string chained =
        "_type=Observation&_typeFilter=Observation%3Fpatient.family%3Dmeier";
    EXPECT_EQ(run(fmt::format("/$export?{}&_asOf={}", chained, then.value)).names.size(), 5U);
    EXPECT_TRUE(run("/$export?" + chained).names.empty());
    EXPECT_TRUE(run(fmt::format("/$export?{}&_asOf=0", filter)).names.empty());
}

TEST_F(ExportTest, OfVersionsGivesAllOfThem) {
    put("Patient", "a");
    put("Patient", "a", R"("active":true)");
    put("Patient", "b");
    remove("/Patient/b");
    EXPECT_THAT(run("/$export?includeHistory=true").names,
                ElementsAre("Patient/a/1", "Patient/a/2", "Patient/b/1", "-Patient/b"));
    EXPECT_THAT(run("/$export?includeHistory=true&_typeFilter=Patient%3Factive%3Dtrue").names,
                ElementsAre("Patient/a/1", "Patient/a/2", "-Patient/b"));
}

TEST_F(ExportTest, OfVersionsDeletesWhatIsDeletedOnceAndNothingThatCameBack) {
    for (const char* name : {"back", "gone"}) {
        for (int i = 0; i < 2; ++i) {
            put("Patient", name);
            remove(fmt::format("/Patient/{}", name));
        }
    }
    put("Patient", "back");
    EXPECT_THAT(run("/$export?includeHistory=true").names,
                ElementsAre("Patient/back/1", "Patient/back/3", "Patient/gone/1", "Patient/gone/3",
                            "Patient/back/5", "-Patient/gone"));
}

TEST_F(ExportTest, TakesSearchesForTypes) {
    put("Patient", "a", R"("active":true,"name":[{"family":"Meier"}])");
    put("Patient", "b", R"("active":false,"name":[{"family":"Kunz"}])");
    put("Patient", "c", R"("active":false,"name":[{"family":"Huber"}])");
    observe("o", "Patient/a");
    observe("p", "Patient/b");
    // Filters of one type are alternatives; types without filters are exported whole; commas within a query stay part of it.
    EXPECT_THAT(run("/$export?_typeFilter=Patient%3Ffamily%3Dkunz,huber%26active%3Dfalse").names,
                ElementsAre("Observation/o/1", "Observation/p/1", "Patient/b/1", "Patient/c/1"));
    EXPECT_THAT(run("/$export?_type=Patient&_typeFilter=Patient%3Ffamily%3Dmeier,"
                    "Patient%3Ffamily%3Dkunz")
                    .names,
                ElementsAre("Patient/a/1", "Patient/b/1"));
    EXPECT_THAT(run("/$export?_type=Patient,Observation&_typeFilter=Patient%3Ffamily%3Dmeier,"
                    "Patient%3Ffamily%3Dkunz,Observation%3Fpatient%3Db")
                    .names,
                ElementsAre("Observation/p/1", "Patient/a/1", "Patient/b/1"));
    EXPECT_THAT(
        run("/$export?_type=Observation&_typeFilter=Observation%3Fpatient.family%3Dkunz").names,
        ElementsAre("Observation/p/1"));
    for (const char* filter :
         {"Patient", "Nobody%3Fa%3Db", "Patient%3Fnonsense%3D1", "Patient%3Fbirthdate%3Dx",
          "Patient%3F_include%3DPatient:organization", "Patient%3F_contained%3Dtrue",
          "Patient%3F_count%3D1", "Patient%3Factive%3Dtrue%26_sort%3Dbirthdate",
          "Patient%3F_total%3Daccurate", "Patient%3F_summary%3Dtrue", "Patient%3F_elements%3Dname",
          "Patient%3F_format%3Djson", "Patient%3F_pretty%3Dtrue", "Patient%3F_cursor%3Dx",
          "Patient%3F_contained%3Dfalse"}) {
        EXPECT_EQ(begin(fmt::format("/$export?_typeFilter={}", filter)).status, 400) << filter;
    }
    EXPECT_EQ(begin("/$export?_type=Patient&_typeFilter=Basic%3Fcode%3Da").status, 400);
}

TEST_F(ExportTest, LooksForTheNextFilterBehindACommaAndNotThroughAllThatFollows) {
    std::string body = R"({"resourceType":"Parameters","parameter":[{"name":"_typeFilter",)"
                       R"("valueString":"Patient?family=a)";
    for (int i = 0; i < 1'000'000; ++i) {
        body += ",a";
    }
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(begin("/$export", body + "\"}]}").status, 413);
    // Searching everything that follows takes 40 seconds or more.
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST_F(ExportTest, OfTheSystemWarnsOfNoTypeThatPatientsHaveNot) {
    put("Organization", "org");
    const Exported exported = run("/$export?_type=Organization");
    EXPECT_THAT(exported.names, ElementsAre("Organization/org/1"));
    EXPECT_EQ(exported.errors, "");
}

TEST_F(ExportTest, LeavesOutElements) {
    put("Patient", "a", R"("active":true,"gender":"male","birthDate":"2000-01-01")");
    const Exported exported = run("/$export?_elements=Patient.gender");
    const std::string line = send("GET", exported.urls[0]).body;
    EXPECT_THAT(line, HasSubstr(R"("gender":"male")"));
    EXPECT_THAT(line, HasSubstr("SUBSETTED"));
    EXPECT_THAT(line, testing::Not(HasSubstr("birthDate")));
    std::string names = "id";
    for (int i = 1; i < 1'000; ++i) {
        names += fmt::format(",n{}", i);
    }
    EXPECT_EQ(begin("/$export?_elements=" + names).status, 202);
    EXPECT_EQ(begin("/$export?_elements=" + names + "&_elements=more").status, 400);
}

TEST_F(ExportTest, RefusesWhatItCannotDo) {
    EXPECT_EQ(send("GET", "/$export").status, 400);
    const auto lenient = [&](std::string_view target) {
        return send("GET", target, {}, {{"Prefer", "respond-async, handling=lenient"}}).status;
    };
    for (const char* query :
         {"_outputFormat=text/csv", "_type=Nobody", "_type=Patient,", "_type=Patient,,Group",
          "_type=,Patient", "_type=,", "_type=", "_since=yesterday", "_until=x", "unknown=1",
          "includeAssociatedData=LatestProvenanceResources", "organizeOutputBy=Patient",
          "includeHistory=perhaps", "_since=2020-01-01&_since=2021-01-01"}) {
        EXPECT_EQ(begin(fmt::format("/$export?{}", query)).status, 400) << query;
    }
    EXPECT_EQ(lenient("/$export?unknown=1&includeAssociatedData=x&_type=Patient,Nobody,"), 202);
    for (const char* format :
         {"application/fhir%2Bndjson", "application/fhir+ndjson", "application/ndjson", "ndjson"}) {
        service().jobs().wait_until_idle();
        EXPECT_EQ(begin(fmt::format("/$export?_outputFormat={}", format)).status, 202) << format;
    }
}

TEST_F(ExportTest, QuotesOnlyTheBeginningOfWhatItRefuses) {
    const std::string name(5'000, 'x');
    for (const std::string& parameter :
         {fmt::format(R"("name":"_outputFormat","valueString":"{}")", name),
          fmt::format(R"("name":"_type","valueString":"{}")", name),
          fmt::format(R"("name":"patient","valueReference":{{"reference":"{}"}})", name),
          fmt::format(R"("name":"{}","valueString":"a")", name)}) {
        const Answer refused = begin(
            "/Patient/$export",
            fmt::format(R"({{"resourceType":"Parameters","parameter":[{{{}}}]}})", parameter));
        EXPECT_EQ(refused.status, 400) << parameter.substr(0, 40);
        EXPECT_LT(refused.body.size(), 500U) << parameter.substr(0, 40);
    }
}

TEST_F(ExportTest, TakesReferencesToPatientsOfThisServerOnly) {
    put("Patient", "a");
    const auto status = [&](std::string_view reference) {
        service().jobs().wait_until_idle();
        return begin("/Patient/$export",
                     fmt::format(R"({{"resourceType":"Parameters","parameter":[{{"name":"patient",)"
                                 R"("valueReference":{{"reference":"{}"}}}}]}})",
                                 reference))
            .status;
    };
    EXPECT_EQ(status("Patient/a"), 202);
    EXPECT_EQ(status(fmt::format("{}/Patient/a", kBaseUrl)), 202);
    for (const char* reference : {"a", "Patient", "Patient/", "Patient/a_b", "Patient/a/_history/1",
                                  "Patient/a/_history/", "Patient/a#b", "/Patient/a", "Group/a",
                                  "http://elsewhere/fhir/Patient/a", "urn:uuid:Patient/a"}) {
        EXPECT_EQ(status(reference), 400) << reference;
    }
}

TEST_F(ExportTest, PassesOverWhatIsUnknownWhereThatIsAskedForAndSaysSo) {
    put("Patient", "a", R"("name":[{"family":"Kunz"}],"active":true)");
    put("Patient", "b", R"("name":[{"family":"Kunz"}],"active":false)");
    put("Patient", "c", R"("name":[{"family":"Meier"}],"active":true)");
    const auto lenient = [&](std::string_view target) {
        return send("GET", target, {}, {{"Prefer", "respond-async, handling=lenient"}});
    };
    // The known part of a filter still applies.
    const std::string filter =
        "/$export?_type=Patient&_typeFilter=Patient%3Ffamily%3Dkunz%26nonsense%3D1";
    EXPECT_EQ(begin(filter).status, 400);
    const Exported filtered = finish(lenient(filter));
    EXPECT_THAT(filtered.names, ElementsAre("Patient/a/1", "Patient/b/1"));
    EXPECT_THAT(filtered.errors,
                HasSubstr("_typeFilter: search parameter 'nonsense' is not known for Patient"));
    // Faults in what is known are never passed over.
    for (const char* wrong :
         {"Patient%3Fbirthdate%3Dx", "Patient%3Ffamily:nonsense%3Dx", "Patient%3F_sort%3Dfamily",
          "Nobody%3Fx%3D1", "Patient%3F_include%3DPatient:organization"}) {
        EXPECT_EQ(lenient(fmt::format("/$export?_typeFilter={}", wrong)).status, 400) << wrong;
    }
    const Exported exported =
        finish(lenient("/$export?_type=Patient,Nobody&unknown=1&includeAssociatedData=x"));
    EXPECT_EQ(exported.names.size(), 3U);
    for (const char* told : {"'Nobody'", "'unknown'", "includeAssociatedData is not supported"}) {
        EXPECT_THAT(exported.errors, HasSubstr(told));
    }
    // If no type is known, nothing is exported, rather than everything.
    EXPECT_EQ(begin("/$export?_type=Nobody").status, 400);
    for (const char* target : {"/$export?_type=Nobody", "/Patient/$export?_type=Nobody"}) {
        const Exported nothing = finish(lenient(target));
        EXPECT_THAT(nothing.names, ElementsAre()) << target;
        EXPECT_THAT(nothing.errors, HasSubstr("'Nobody'"));
    }
    EXPECT_EQ(lenient("/$export?_type=Nobody&_typeFilter=Patient%3Ffamily%3Dkunz").status, 400);
}

}  // namespace
}  // namespace annals::core
