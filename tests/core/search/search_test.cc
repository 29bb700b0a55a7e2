// Searches over HTTP requests and answers: what is found, counted and warned of, and by which routes.

#include "codec/json/document.h"
#include "core/representation.h"
#include "core/search/execute.h"
#include "core/search/plan.h"
#include "core/search/snapshot.h"
#include "tests/core/search/search_fixture.h"
#include "tests/support/commits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {
namespace {

TEST_F(Search, FindsWhatWasWrittenNewestFirst) {
    put_named("a", "Chalmers");
    put_named("b", "Windsor");
    put_named("c", "Chalmersson");
    EXPECT_EQ(get("/Patient?family=chalmers").matches, (Names{"Patient/c", "Patient/a"}));
    const Searchset all = get("/Patient");
    EXPECT_EQ(all.matches, (Names{"Patient/c", "Patient/b", "Patient/a"}));
    EXPECT_EQ(all.total, 3U);
    EXPECT_EQ(all.links.size(), 1U);
}

TEST_F(Search, SeesUpdatesAndDeletionsAtOnce) {
    put_named("a", "Chalmers");
    put_named("a", "Windsor");
    EXPECT_TRUE(get("/Patient?family=chalmers").matches.empty());
    EXPECT_EQ(get("/Patient?family=windsor").matches, Names{"Patient/a"});
    send("DELETE", "/Patient/a");
    EXPECT_TRUE(get("/Patient").matches.empty());
    EXPECT_EQ(get("/Patient").total, 0U);
    put_named("a", "Windsor");
    EXPECT_EQ(get("/Patient?family=windsor").matches, Names{"Patient/a"});
}

TEST_F(Search, CountsAsAsked) {
    for (int i = 0; i < 30; ++i) {
        put_named(fmt::format("p{}", i), i % 2 == 0 ? "Chalmers" : "Windsor");
    }
    EXPECT_EQ(get("/Patient").total, 30U);
    EXPECT_EQ(get("/Patient").matches.size(), 20U);
    EXPECT_EQ(get("/Patient?_total=none").total, std::nullopt);
    EXPECT_EQ(get("/Patient?_total=accurate&family=windsor").total, 15U);
    for (const char* const none :
         {"/Patient?_count=0", "/Patient?_summary=count", "/Patient?_count=0&_total=none"}) {
        const Searchset page = get(none);
        EXPECT_EQ(page.total, 30U);
        EXPECT_TRUE(page.matches.empty());
        EXPECT_EQ(page.links.size(), 1U);
    }
    const Searchset most = get("/Patient?_count=5000");
    EXPECT_EQ(most.matches.size(), 30U);
    EXPECT_NE(most.links.at("self").find("_count=1000"), std::string::npos);
}

TEST_F(Search, TakesAListThatIsDeletedForAnEmptyOne) {
    put_named("a", "Chalmers");
    put("List", "l",
        R"("status":"current","mode":"working","entry":[{"item":{"reference":"Patient/a"}}])");
    EXPECT_EQ(get("/Patient?_list=l").matches, Names{"Patient/a"});
    ASSERT_EQ(send("DELETE", "/List/l").status, 204);
    EXPECT_EQ(get("/Patient?_list=l").matches, Names{});
    EXPECT_EQ(get("/Patient?_list=l").status, 200);
}

TEST_F(Search, SearchesByFormsAndSystemWide) {
    put_named("a", "Chalmers");
    put("Practitioner", "b", R"("name":[{"family":"Chalmers"}])");
    const Headers form{{"Content-Type", "application/x-www-form-urlencoded"}};
    Searchset page =
        read(send("POST", "/Patient/_search?_count=5", "family=chalmers&_sort=_id", form));
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    EXPECT_EQ(page.links.at("self"), "/Patient?_count=5&family=chalmers&_sort=_id");
    EXPECT_EQ(
        send("POST", "/Patient/_search", "{}", {{"Content-Type", "application/fhir+json"}}).status,
        415);
    const Answer refused =
        send("POST", "/Patient/_search/", "{}", {{"Content-Type", "application/fhir+json"}});
    EXPECT_EQ(refused.status, 415);
    EXPECT_EQ(refused.header("Accept"), "application/x-www-form-urlencoded");
    const Answer large =
        send("POST", "/Patient/_search", std::string(core::kFormBytesMax + 1, 'x'), form);
    EXPECT_EQ(large.status, 413);
    EXPECT_TRUE(large.says("The parameters of the search are too long")) << large.body;
    EXPECT_EQ(read(send("POST", "/Patient/_search")).matches, Names{"Patient/a"});
    EXPECT_EQ(send("POST", "/Patient/_search", R"({"family":"nobody"})").status, 415);
    EXPECT_EQ(send("POST", "/Patient/_search", "<Parameters/>").status, 415);
    page = read(send("POST", "/Patient/_search", "family=nobody"));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.matches, Names{});
    page = get("/?_type=Patient,Practitioner&_lastUpdated=gt2000");
    EXPECT_EQ(page.matches, (Names{"Practitioner/b", "Patient/a"}));
    page = get("/?_count=1");
    EXPECT_EQ(page.matches, Names{"Practitioner/b"});
    EXPECT_EQ(page.total, 2U);
    page = get(page.links.at("next"));
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    EXPECT_EQ(get(page.links.at("previous")).matches, Names{"Practitioner/b"});
    EXPECT_EQ(read(send("POST", "/_search", "_type=Patient", form)).matches, Names{"Patient/a"});
    EXPECT_TRUE(send("POST", "/Patient/_search", "_format=xml", form).body.starts_with("<"));
}

TEST_F(Search, SearchesCompartments) {
    put("Patient", "a", "");
    put("Patient", "b", "");
    put("Observation", "x",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/b"})");
    put("Observation", "z",
        R"("status":"amended","code":{"text":"x"},"performer":[{"reference":"Patient/a"}])");
    EXPECT_EQ(get("/Patient/a/Observation").matches, (Names{"Observation/z", "Observation/x"}));
    EXPECT_EQ(get("/Patient/a/Observation?status=final").matches, Names{"Observation/x"});
    EXPECT_EQ(get("/Patient/a/*").matches, (Names{"Observation/z", "Observation/x", "Patient/a"}));
    EXPECT_EQ(get("/Patient/a/*?_type=Patient").matches, Names{"Patient/a"});
    EXPECT_EQ(get("/Patient/a/Observation?_count=1").links.at("self"),
              "/Patient/a/Observation?_count=1");
    EXPECT_EQ(get("/Observation/x/Patient").status, 404);
    EXPECT_EQ(get("/Patient/a/Organization").status, 404);
}

TEST_F(Search, TakesConditionsForPartOfCompartments) {
    put("Condition", "c",
        R"("subject":{"reference":"Patient/a"},"encounter":{"reference":"Encounter/e"},"asserter":{"reference":"Practitioner/p"})");
    EXPECT_EQ(get("/Patient/a/Condition").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Patient/a/*").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Encounter/e/Condition").matches, Names{"Condition/c"});
    EXPECT_EQ(get("/Practitioner/p/Condition").matches, Names{"Condition/c"});
}

TEST_F(Search, FindsContainedResources) {
    put("MedicationRequest", "r",
        R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"#m"},"contained":[{"resourceType":"Medication","id":"m","code":{"coding":[{"code":"aspirin"}]}}])");
    put("Medication", "s", R"("code":{"coding":[{"code":"aspirin"}]})");
    EXPECT_EQ(get("/Medication?code=aspirin").matches, Names{"Medication/s"});
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=true").matches,
              Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=both").matches,
              (Names{"Medication/s", "MedicationRequest/r"}));
    const Searchset page = get("/Medication?code=aspirin&_contained=true&_containedType=contained");
    EXPECT_EQ(page.matches, Names{"Medication/m"});
    EXPECT_NE(page.text.find("MedicationRequest/r#m"), std::string::npos);
    EXPECT_TRUE(get("/Medication?code=other&_contained=true").matches.empty());
    EXPECT_EQ(get("/Medication?_id=m&_contained=true").matches, Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/Medication?_id=m,s&_contained=both").matches,
              (Names{"Medication/s", "MedicationRequest/r"}));
    EXPECT_EQ(get("/Medication?_id=m,s&_contained=both&_containedType=contained").matches,
              (Names{"Medication/s", "Medication/m"}));
    EXPECT_TRUE(get("/Medication?_id=r&_contained=true").matches.empty());
}

TEST_F(Search, FindsContainedResourcesHoweverTheirContainersWereWritten) {
    put("MedicationRequest", "r",
        R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"#m"}, "cont\u0061ined" : [ { "id" : "m" , "status":"active", "resourceType" : "Medic\u0061tion"}])");
    put("Medication", "s",
        R"("ingredient":[{"itemReference":{"reference":"#i"}}],"contained":[{"resourceType":"Medication","id":"i","status":"active"}])");
    put("Medication", "t", R"("ingredient":[{"itemReference":{"reference":"Medication/s"}}])");
    const Names both{"Medication/s", "MedicationRequest/r"};
    EXPECT_EQ(get("/Medication?status=active&_contained=true").matches, both);
    EXPECT_EQ(get("/?_type=Medication,Substance&status=active&_contained=true").matches, both);
    EXPECT_TRUE(get("/Substance?status=active&_contained=true").matches.empty());
}

TEST_F(Search, TakesNoLongerForContainedResourcesThatReferToEachOther) {
    // It used to take time that grows with the square of their number.
    std::string outward;
    std::string inward;
    std::string links;
    for (int i = 0; i < 10'000; ++i) {
        const auto add = [&](std::string& all, std::string_view reference) {
            all += fmt::format(
                R"({}{{"resourceType":"Patient","id":"p{}","link":[{{"other":{{"reference":"{}"}},"type":"seealso"}}]}})",
                i == 0 ? "" : ",", i, reference);
        };
        add(outward, "Patient/p0");
        add(inward, "#p0");
        links += fmt::format(R"({}{{"other":{{"reference":"#p{}"}},"type":"seealso"}})",
                             i == 0 ? "" : ",", i);
    }
    const auto time = [&](const std::string& path) {
        const std::clock_t begin = std::clock();
        const Searchset page = get(path);
        const std::clock_t end = std::clock();
        EXPECT_EQ(page.status, 200) << path;
        EXPECT_EQ(page.matches, Names{}) << path;
        return end - begin;
    };
    put("Patient", "a", fmt::format(R"("contained":[{}],"link":[{}])", outward, links));
    ASSERT_EQ(get("/Patient").matches, Names{"Patient/a"});
    const std::clock_t usual = time("/Patient?_contained=true&family=x");
    put("Patient", "a", fmt::format(R"("contained":[{}],"link":[{}])", inward, links));
    for (const char* const path :
         {"/Patient?_contained=true&family=x", "/Patient?link:Patient.family=x",
          "/Patient?_contained=true&link:Patient.family=x"}) {
        EXPECT_LT(time(path), 25 * usual) << path;
    }
}

TEST_F(Search, AsksNobodyOutsideAboutWhatIsContained) {
    put("Patient", "other", R"("gender":"female")");
    const std::string link = R"("link":[{"other":{"reference":"Patient/other"},"type":"seealso"}])";
    put("Patient", "a", R"("gender":"male",)" + link);
    put("Observation", "inner",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"#p"},"contained":[{"resourceType":"Patient","id":"p",)" +
            link + "}]");
    put("Observation", "outer",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"Patient/other"})");
    EXPECT_EQ(get("/Observation?subject:Patient._has:Patient:link:gender=male").matches,
              Names{"Observation/outer"});
    EXPECT_EQ(get("/Patient?_has:Patient:link:gender=male&_contained=both").matches,
              Names{"Patient/other"});
}

TEST_F(Search, GoesOnFromWhatIsContainedInOneOfFew) {
    put("Practitioner", "d", R"("name":[{"family":"Day"}])");
    put("Observation", "o",
        R"("status":"final","code":{"text":"x"},"subject":{"reference":"#p"},"contained":[{"resourceType":"Patient","id":"p","generalPractitioner":[{"reference":"Practitioner/d"}]}])");
    EXPECT_EQ(get("/Observation?_id=o&subject:Patient.general-practitioner:Practitioner.family=day")
                  .matches,
              Names{"Observation/o"});
    EXPECT_TRUE(
        get("/Observation?_id=o&subject:Patient.general-practitioner:Practitioner.family=night")
            .matches.empty());
}

TEST_F(Search, GoesOnFromOneOfFewThatRefersToVeryMany) {
    std::string members;
    for (int i = 0; i < 1100; ++i) {
        members +=
            fmt::format(R"({}{{"entity":{{"reference":"Patient/{}"}}}})", i == 0 ? "" : ",", i);
    }
    put_named("1050", "Day");
    put("Group", "g", R"("type":"person","actual":true,"member":[)" + members + "]");
    EXPECT_EQ(get("/Group?_id=g&member:Patient.family=day").matches, Names{"Group/g"});
    EXPECT_TRUE(get("/Group?_id=g&member:Patient.family=night").matches.empty());
}

TEST_F(Search, CountsWithoutWhatTheLastWriteReplaced) {
    for (int i = 0; i < 32; ++i) {
        put("Patient", std::to_string(i), R"("gender":"male","birthDate":"1970-01-01")");
    }
    put("Patient", "5", R"("gender":"male","birthDate":"1970-01-01")");
    for (const char* criteria : {"", "gender=male&", "gender=male,female&", "birthdate=1970&"}) {
        EXPECT_EQ(get(fmt::format("/Patient?{}_summary=count", criteria)).total, 32U) << criteria;
    }
}

TEST_F(Search, CountsContainedResourcesWhereTheyAreAnswered) {
    for (int i = 0; i < 5; ++i) {
        put("MedicationRequest", fmt::format("r{}", i),
            R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"#m"},"contained":[{"resourceType":"Medication","id":"m","code":{"coding":[{"code":"aspirin"}]}},{"resourceType":"Medication","id":"n","code":{"coding":[{"code":"aspirin"}]}},{"resourceType":"Medication","id":"o"}])");
    }
    put("Medication", "s", R"("code":{"coding":[{"code":"aspirin"}]})");
    const std::string url = "/Medication?code=aspirin&_containedType=contained&_contained=";
    EXPECT_EQ(get(url + "true").total, 10U);
    EXPECT_EQ(get(url + "true").matches.size(), 10U);
    EXPECT_EQ(get(url + "both").total, 11U);
    EXPECT_EQ(get(url + "true&_summary=count").total, 10U);
    EXPECT_EQ(get(url + "both&_count=0").total, 11U);
    EXPECT_FALSE(get(url + "true&_count=2").total.has_value());
    EXPECT_FALSE(get(url + "true&_total=none").total.has_value());
    EXPECT_EQ(get("/Medication?code=aspirin&_contained=true").total, 5U) << "what contains them";

    Searchset page = get(url + "true&_count=2&_total=accurate&_sort=_lastUpdated");
    EXPECT_EQ(page.total, 10U);
    std::size_t shown = page.matches.size();
    while (page.links.contains("next")) {
        page = get(page.links.at("next"));
        EXPECT_EQ(page.total, 10U);
        shown += page.matches.size();
    }
    EXPECT_EQ(shown, 10U);
}

TEST_F(Search, ChainsIntoAndOutOfContainedResources) {
    put("Organization", "maker", R"("name":"Bayer")");
    const auto order = [&](std::string_view id, std::string_view code, std::string_view maker) {
        put("MedicationRequest", id,
            fmt::format(
                R"("status":"active","intent":"order","subject":{{"reference":"Patient/a"}},"medicationReference":{{"reference":"#m"}},"contained":[{{"resourceType":"Medication","id":"m","code":{{"coding":[{{"code":"{}"}}]}},"manufacturer":{{"reference":"{}"}}}},{{"resourceType":"Organization","id":"o","name":"Roche"}}])",
                code, maker));
    };
    order("r", "aspirin", "Organization/maker");
    order("s", "aspirin", "#o");
    order("t", "other", "Organization/maker");
    EXPECT_EQ(get("/MedicationRequest?medication.code=aspirin").matches,
              (Names{"MedicationRequest/s", "MedicationRequest/r"}));
    EXPECT_EQ(get("/MedicationRequest?medication.code=aspirin").total, 2U);
    EXPECT_EQ(get("/MedicationRequest?medication.manufacturer.name=bayer&medication.code=aspirin")
                  .matches,
              Names{"MedicationRequest/r"});
    EXPECT_EQ(get("/MedicationRequest?medication.manufacturer.name=roche&_sort=authoredon").matches,
              Names{"MedicationRequest/s"});
    EXPECT_EQ(get("/Patient/a/MedicationRequest?medication.code=other").status, 200);
    EXPECT_EQ(get("/Medication?manufacturer.name=bayer&_contained=true").matches,
              (Names{"MedicationRequest/t", "MedicationRequest/r"}));
    EXPECT_EQ(
        get("/Medication?manufacturer.name=roche&_contained=true&_containedType=contained").matches,
        Names{"Medication/m"});
    // A write's condition is decided in the same way.
    const Answer again = send(
        "POST", "/MedicationRequest",
        R"({"resourceType":"MedicationRequest","status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationCodeableConcept":{"text":"x"}})",
        {{"If-None-Exist", "medication.code=other"}});
    EXPECT_EQ(again.status, 200);
    EXPECT_TRUE(again.says(R"("id":"t")"));
}

TEST_F(Search, WarnsOfWhatItPassesOver) {
    put_named("a", "Chalmers");
    const Searchset page = get("/Patient?family=chalmers&nonsense=1");
    EXPECT_EQ(page.matches, Names{"Patient/a"});
    ASSERT_EQ(page.warnings.size(), 1U);
    EXPECT_NE(page.warnings[0].find("nonsense"), std::string::npos);
    EXPECT_EQ(page.links.at("self"), "/Patient?family=chalmers");
    EXPECT_EQ(get("/Patient?nonsense=1", {{"Prefer", "handling=strict"}}).status, 400);
}

TEST_F(Search, ChainsAndReverseChains) {
    put_named("a", "Chalmers");
    put_named("b", "Windsor");
    put("Observation", "x",
        R"("status":"final","code":{"coding":[{"code":"c1"}]},"subject":{"reference":"Patient/a"})");
    put("Observation", "y",
        R"("status":"final","code":{"coding":[{"code":"c2"}]},"subject":{"reference":"Patient/b"})");
    EXPECT_EQ(get("/Observation?subject:Patient.family=chalmers").matches, Names{"Observation/x"});
    EXPECT_EQ(get("/Patient?_has:Observation:patient:code=c2").matches, Names{"Patient/b"});
    put("Observation", "x",
        R"("status":"final","code":{"coding":[{"code":"c1"}]},"subject":{"reference":"Patient/b"})");
    EXPECT_TRUE(get("/Observation?subject:Patient.family=chalmers").matches.empty());
}

TEST_F(Search, FindsAbsoluteReferencesBelowTheRequestsBase) {
    put("Patient", "1", "");
    const auto observe = [&](std::string_view id, std::string_view subject) {
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"{}"}})",
                        subject));
    };
    observe("relative", "Patient/1");
    observe("absolute", fmt::format("{}/Patient/1", kBaseUrl));
    observe("elsewhere", "http://elsewhere/fhir/Patient/1");
    const std::vector<std::string> both = {"Observation/absolute", "Observation/relative"};
    for (const std::string_view asked :
         {"subject=Patient/1", "subject=1", "subject:Patient=1", "subject={}/Patient/1"}) {
        EXPECT_EQ(get("/Observation?" + fmt::format(fmt::runtime(asked), kBaseUrl)).matches, both)
            << asked;
    }
    EXPECT_EQ(get("/Observation?_id=absolute&_include=Observation:subject").included,
              std::vector<std::string>{"Patient/1"});
}

TEST_F(Search, EndsWhatTakesTooLong) {
    std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)";
    for (int i = 0; i < 3000; ++i) {
        batch += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","language":"{}"}},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
            i == 0 ? "" : ",", i, std::string(5000, 'x'), i);
    }
    ASSERT_EQ(send("POST", "/", batch + "]}").status, 200);
    core::Config config;
    config.limits.request_timeout = std::chrono::milliseconds(1);
    restart(config);
    // This reads every body.
    const Answer answer = send("GET", "/Medication?code=x&_contained=true");
    EXPECT_EQ(answer.status, 503);
    EXPECT_TRUE(answer.says(R"("code":"timeout")"));
    EXPECT_EQ(send("GET", "/Patient?_id=p7").status, 200);
}

TEST_F(Search, MayEndItsTurnAfterEachBody) {
    for (int i = 0; i < 20; ++i) {
        put("Patient", std::to_string(i), "");
    }
    std::size_t looked = 0;
    const core::search::Plan plan =
        core::search::verified(core::search::everything(), [&looked](json::Value) {
            ++looked;
            return true;
        });
    core::search::Snapshot snapshot(store());
    core::search::Execution execution(snapshot, type_of("Patient"), plan);
    execution.want({});
    // Every turn is over before it begins.
    const core::search::Pace pace{std::chrono::microseconds(1)};
    for (bool done = false; !done;) {
        const std::size_t before = looked;
        const Result<bool> advanced = execution.advance(pace);
        ASSERT_TRUE(advanced);
        done = *advanced;
        EXPECT_LE(looked - before, 1U);
    }
    EXPECT_EQ(looked, 20U);
}

TEST_F(Search, ChecksOnlyBodiesThatContainTheTextOfTheCheck) {
    put("Patient", "a", R"("language":"de")");
    put("Patient", "b", R"("gender":"male")");
    std::size_t looked = 0;
    const core::search::Plan plan = core::search::verified(
        core::search::everything(),
        [&looked](json::Value) {
            ++looked;
            return true;
        },
        R"("language":)");
    core::search::Snapshot snapshot(store());
    core::search::Execution execution(snapshot, type_of("Patient"), plan);
    execution.want({});
    ASSERT_TRUE(execution.advance(core::search::Pace()));
    EXPECT_EQ(execution.count(), 1U);
    EXPECT_EQ(looked, 1U);
}

TEST_F(Search, AnswersInsideOfABatch) {
    put_named("a", "Chalmers");
    const Answer answer = send(
        "POST", "/",
        R"({"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"GET","url":"Patient?family=chalmers"}}]})");
    json::Parser parser;
    const auto document = parser.parse(answer.body);
    ASSERT_TRUE(document.has_value());
    const json::Value result = (*document->root()["entry"].elements().begin())["resource"];
    EXPECT_TRUE(result["type"].equals("searchset"));
    EXPECT_EQ(result["total"].raw(), "1");
}

TEST_F(Search, LooksAsAsked) {
    put_named("a", "Chalmers", "1990-01-01");
    const std::string text = get("/Patient?_elements=birthDate").text;
    EXPECT_EQ(text.find("Chalmers"), std::string::npos);
    EXPECT_NE(text.find("SUBSETTED"), std::string::npos);
    EXPECT_TRUE(send("GET", "/Patient?_format=xml").body.starts_with("<"));
    EXPECT_EQ(send("HEAD", "/Patient").status, 200);
}

TEST_F(Search, FindsByNamesThatWereSentWithEscapes) {
    EXPECT_EQ(
        send("PUT", "/Patient/1",
             R"({"resourceType":"Patient","id":"1","n\u0061me":[{"f\u0061mily":"Okafor"}],)"
             R"("identifi\u0065r":[{"v\u0061lue":"x"}],"m\u0065ta":{"t\u0061g":[{"code":"t"}]}})")
            .status,
        201);
    for (const std::string criteria : {"family=okafor", "identifier=x", "_tag=t"}) {
        EXPECT_EQ(get("/Patient?" + criteria).matches, std::vector<std::string>{"Patient/1"});
    }
    EXPECT_TRUE(send("GET", "/Patient/1?_elements=name").says("Okafor"));
}

}  // namespace
}  // namespace annals::test
