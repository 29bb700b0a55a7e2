// $export over requests and answers, and its job by itself where it is stopped or the disk is full.

#include "codec/json/document.h"
#include "core/bulk/export_job.h"
#include "core/bulk/export_task.h"
#include "core/jobs/jobs.h"
#include "tests/support/service_fixture.h"
#include "tests/support/sim_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>
#include <tuple>

namespace annals::core {
namespace {

using test::Answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

const test::ServiceFixture::Headers kAsync{{"Prefer", "respond-async"}};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        EXPECT_NE(end, std::string::npos) << "the last line has no end";
        lines.push_back(text.substr(begin, end - begin));
        begin = std::min(end, text.size() - 1) + 1;
    }
    return lines;
}

/// "Patient/1/2" (type, id, version), or a deletion's "-Patient/1".
std::vector<std::string> names_in(const std::string& text) {
    std::vector<std::string> names;
    json::Parser parser;
    for (const std::string& line : lines_of(text)) {
        const auto document = parser.parse(line);
        EXPECT_TRUE(document) << line;
        const json::Value root = document->root();
        if (root["resourceType"].equals("Bundle")) {
            for (const json::Value entry : root["entry"].elements()) {
                EXPECT_TRUE(entry["request"]["method"].equals("DELETE"));
                names.push_back("-" + entry["request"]["url"].string());
            }
            continue;
        }
        names.push_back(fmt::format("{}/{}/{}", root["resourceType"].string(), root["id"].string(),
                                    root["meta"]["versionId"].string()));
    }
    return names;
}

class ExportTest : public test::ServiceFixture {
  protected:
    struct Exported {
        Answer manifest;
        std::string time;
        std::vector<std::string> names;  ///< of all files of output and deleted, in order
        std::vector<std::string> urls;   ///< below the base, of all files
        std::string errors;              ///< of all files of error
    };

    std::string path_of(std::string_view url) {
        EXPECT_TRUE(url.starts_with(kBaseUrl)) << url;
        return std::string(url.substr(kBaseUrl.size()));
    }

    Answer begin(std::string_view target, std::string_view body = {}) {
        Headers headers = kAsync;
        if (!body.empty()) {
            headers.emplace_back("Content-Type", "application/fhir+json");
        }
        return send(body.empty() ? "GET" : "POST", target, body, headers);
    }

    Exported finish(const Answer& begun) {
        Exported exported;
        EXPECT_EQ(begun.status, 202) << begun.body;
        EXPECT_THAT(begun.content_location, HasSubstr("/_export-status/"));
        if (begun.status != 202) {
            return exported;
        }
        service().jobs().wait_until_idle();
        exported.manifest = send("GET", path_of(begun.content_location));
        EXPECT_EQ(exported.manifest.status, 200) << exported.manifest.body;
        json::Parser parser;
        const auto document = parser.parse(exported.manifest.body);
        EXPECT_TRUE(document);
        const json::Value root = document->root();
        exported.time = root["transactionTime"].string();
        for (const std::string_view part : {"output", "deleted", "error"}) {
            for (const json::Value file : root[part].elements()) {
                exported.urls.push_back(path_of(file["url"].string()));
                const Answer content = send("GET", exported.urls.back());
                EXPECT_EQ(content.status, 200);
                EXPECT_EQ(content.content_type, "application/fhir+ndjson");
                EXPECT_EQ(std::to_string(lines_of(content.body).size()), file["count"].raw());
                if (part == "error") {
                    exported.errors += content.body;
                    continue;
                }
                for (std::string& name : names_in(content.body)) {
                    exported.names.push_back(std::move(name));
                }
            }
        }
        return exported;
    }

    Exported run(std::string_view target, std::string_view body = {}) {
        return finish(begin(target, body));
    }

    void put(std::string_view type, std::string_view id, std::string_view members = {}) {
        const Answer answer = send("PUT", fmt::format("/{}/{}", type, id),
                                   fmt::format(R"({{"resourceType":"{}","id":"{}"{}{}}})", type, id,
                                               members.empty() ? "" : ",", members),
                                   {{"Content-Type", "application/fhir+json"}});
        ASSERT_LT(answer.status, 300) << answer.body;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // instants are milliseconds
    }

    void observe(std::string_view id, std::string_view subject, std::string_view more = {}) {
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"c"}},"subject":{{"reference":"{}"}}{})",
                subject, more));
    }

    void remove(std::string_view target) {
        ASSERT_EQ(send("DELETE", target).status, 204);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
};

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
    // What a zone takes out of the years that there are.
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
    // What came since that time begins with what came after that state.
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
    // Others of a type are or, types without any are whole; commas inside of a query stay in it.
    EXPECT_THAT(run("/$export?_typeFilter=Patient%3Ffamily%3Dkunz,huber%26active%3Dfalse").names,
                ElementsAre("Observation/o/1", "Observation/p/1", "Patient/b/1", "Patient/c/1"));
    EXPECT_THAT(run("/$export?_type=Patient&_typeFilter=Patient%3Ffamily%3Dmeier,"
                    "Patient%3Ffamily%3Dkunz")
                    .names,
                ElementsAre("Patient/a/1", "Patient/b/1"));
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
    // Through all it takes 40 seconds and more.
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20));
}

TEST_F(ExportTest, OfPatientsGivesWhatIsInTheirCompartments) {
    put("Patient", "a");
    put("Patient", "b");
    put("Patient", "gone");
    put("Organization", "org", R"("name":"x")");
    put("Device", "dev");
    observe("o", "Patient/a");
    observe("performed", "Device/dev", R"(,"performer":[{"reference":"Patient/b"}])");
    observe("nobodys", "Device/dev");
    put("Condition", "c", R"("subject":{"reference":"Patient/b"})");
    const Exported all = run("/Patient/$export");
    EXPECT_THAT(all.names, ElementsAre("Condition/c/1", "Device/dev/1", "Observation/o/1",
                                       "Observation/performed/1", "Patient/a/1", "Patient/b/1",
                                       "Patient/gone/1"));
    const Exported some = run("/Patient/$export?_type=Patient,Organization,Substance");
    EXPECT_THAT(some.names, ElementsAre("Patient/a/1", "Patient/b/1", "Patient/gone/1"));
    EXPECT_THAT(some.errors, HasSubstr("Substance resources are in no patient's compartment"));
    EXPECT_THAT(some.errors, Not(HasSubstr("Organization")));

    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    remove("/Observation/o");
    remove("/Patient/gone");
    remove("/Organization/org");
    remove("/Observation/nobodys");
    EXPECT_THAT(run("/Patient/$export?_since=" + all.time).names,
                ElementsAre("-Observation/o", "-Patient/gone"));
    EXPECT_THAT(
        run("/Patient/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/b"}}]})")
            .names,
        ElementsAre("Condition/c/1", "Device/dev/1", "Observation/performed/1", "Patient/b/1"));
    EXPECT_EQ(
        begin(
            "/Patient/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/none"}}]})")
            .status,
        400);
    EXPECT_EQ(begin("/Patient/$export?patient=Patient/a").status, 400);
    EXPECT_EQ(begin("/Observation/$export").status, 400);
}

/// (g)(10) asks a Group's export for Organizations, Practitioners, Devices and Provenances.
class LinkedExportTest : public ExportTest {
  protected:
    void put_all() {
        put("Practitioner", "gp");
        put("Practitioner", "nurse");
        put("Practitioner", "signer");
        put("Practitioner", "theirs");
        put("Practitioner", "nobodys");
        put("Organization", "clinic");
        put("Organization", "ward");
        put("Organization", "nobodys");
        put("PractitionerRole", "role",
            R"("practitioner":{"reference":"Practitioner/nurse"},"organization":{"reference":"Organization/ward"})");
        put("Location", "room");
        put("Medication", "drug");
        put("Device", "meter");
        put("Device", "nobodys");
        put("Patient", "a",
            R"("generalPractitioner":[{"reference":"Practitioner/gp"}],"managingOrganization":{"reference":"Organization/clinic"})");
        put("Patient", "b");
        put("Device", "implant", R"("patient":{"reference":"Patient/a"})");
        put("Encounter", "e",
            R"("status":"finished","class":{"code":"AMB"},"subject":{"reference":"Patient/a"},)"
            R"("participant":[{"individual":{"reference":"PractitionerRole/role"}}],"location":[{"location":{"reference":"Location/room"}}])");
        put("MedicationRequest", "m",
            R"("status":"active","intent":"order","subject":{"reference":"Patient/a"},"medicationReference":{"reference":"Medication/drug"})");
        observe("o", "Patient/a", R"(,"device":{"reference":"Device/meter"})");
        observe("p", "Patient/b", R"(,"performer":[{"reference":"Practitioner/theirs"}])");
        for (const auto& [id, target, who] : {std::tuple("o", "Observation/o", "signer"),
                                              std::tuple("p", "Observation/p", "theirs"),
                                              std::tuple("n", "Practitioner/nobodys", "nobodys")}) {
            put("Provenance", id,
                fmt::format(
                    R"("target":[{{"reference":"{}"}}],"recorded":"2020-01-01T00:00:00Z","agent":[{{"who":{{"reference":"Practitioner/{}"}}}}])",
                    target, who));
        }
        put("Group", "g",
            R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/a"}}])");
    }
};

TEST_F(LinkedExportTest, OfAGroupGivesWhatItsMembersResourcesAreLinkedTo) {
    put_all();
    EXPECT_THAT(
        run("/Group/g/$export").names,
        UnorderedElementsAre("Device/implant/1", "Device/meter/1", "Encounter/e/1", "Group/g/1",
                             "Location/room/1", "Medication/drug/1", "MedicationRequest/m/1",
                             "Observation/o/1", "Organization/clinic/1", "Organization/ward/1",
                             "Patient/a/1", "Practitioner/gp/1", "Practitioner/nurse/1",
                             "Practitioner/signer/1", "PractitionerRole/role/1", "Provenance/o/1"));
    // What isn't given brings nothing.
    EXPECT_THAT(run("/Group/g/$export?_type=Patient,Practitioner,Provenance").names,
                UnorderedElementsAre("Patient/a/1", "Practitioner/gp/1"));
    EXPECT_THAT(
        run("/Group/g/$export?_type=Patient,Organization&_typeFilter=Organization%3F_id%3Dward")
            .names,
        UnorderedElementsAre("Patient/a/1"));
    EXPECT_THAT(run("/Group/g/$export?_type=Device").names,
                UnorderedElementsAre("Device/implant/1"));
    const Exported alone = run("/Group/g/$export?_type=Organization");
    EXPECT_TRUE(alone.names.empty());
    EXPECT_THAT(alone.errors, HasSubstr("Organization resources are given where"));
}

TEST_F(LinkedExportTest, OfAllPatientsGivesWhatTheirResourcesAreLinkedTo) {
    put_all();
    const Exported all = run(
        "/Patient/$export?_type=Patient,Observation,Practitioner,Organization,Device,Provenance");
    EXPECT_THAT(all.names,
                UnorderedElementsAre("Device/implant/1", "Device/meter/1", "Observation/o/1",
                                     "Observation/p/1", "Organization/clinic/1", "Patient/a/1",
                                     "Patient/b/1", "Practitioner/gp/1", "Practitioner/signer/1",
                                     "Practitioner/theirs/1", "Provenance/o/1", "Provenance/p/1"));
    put("Practitioner", "gp", R"("active":true)");
    put("Practitioner", "nobodys", R"("active":true)");
    EXPECT_THAT(run("/Patient/$export?_since=" + all.time).names,
                UnorderedElementsAre("Practitioner/gp/2"));
}

/// What is referred to is gathered on and on, from each of the types that are linked.
TEST_F(LinkedExportTest, OfVeryManyLinksLosesNone) {
    constexpr int kPatients = 1'700;
    put("Organization", "ward");
    put("Practitioner", "gp");
    put("PractitionerRole", "role", R"("organization":{"reference":"Organization/ward"})");
    std::string entries;
    for (int i = 0; i < kPatients; ++i) {
        std::string who =
            R"({"reference":"PractitionerRole/role"},{"reference":"Practitioner/gp"})";
        for (int k = 0; k < 10; ++k) {
            who += fmt::format(R"(,{{"reference":"Practitioner/{}-{}"}})", i, k);
        }
        entries += fmt::format(
            R"({}{{"resource":{{"resourceType":"Patient","generalPractitioner":[{}]}},"request":{{"method":"POST","url":"Patient"}}}})",
            i == 0 ? "" : ",", who);
    }
    ASSERT_EQ(
        send("POST", "/", R"({"resourceType":"Bundle","type":"batch","entry":[)" + entries + "]}")
            .status,
        200);
    const std::vector<std::string> names =
        run("/Patient/$export?_type=Patient,PractitionerRole,Practitioner,Organization").names;
    EXPECT_EQ(names.size(), kPatients + 3U);
    EXPECT_THAT(names, testing::IsSupersetOf({"PractitionerRole/role/1", "Practitioner/gp/1",
                                              "Organization/ward/1"}));
}

TEST_F(ExportTest, OfAGroupGivesWhatItsMembersHave) {
    for (const char* id : {"a", "b", "c", "d"}) {
        put("Patient", id);
        observe(id, fmt::format("Patient/{}", id));
    }
    put("Group", "inner",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/d"}},{"entity":{"reference":"Group/g"}}])");
    put("Group", "g",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/a"}},{"entity":{"reference":"http://test/fhir/Patient/b"}},)"
        R"({"entity":{"reference":"Patient/c"},"inactive":true},{"entity":{"reference":"Group/inner"}},{"entity":{"reference":"Device/x"}}])");
    EXPECT_THAT(run("/Group/g/$export?_type=Patient,Observation").names,
                ElementsAre("Observation/a/1", "Observation/b/1", "Observation/d/1", "Patient/a/1",
                            "Patient/b/1", "Patient/d/1"));
    EXPECT_THAT(
        run("/Group/g/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"_type","valueString":"Observation"},{"name":"patient","valueReference":{"reference":"Patient/b"}}]})")
            .names,
        ElementsAre("Observation/b/1"));
    EXPECT_EQ(
        begin(
            "/Group/g/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/c"}}]})")
            .status,
        400);
    const Answer none = begin("/Group/none/$export");
    EXPECT_EQ(none.status, 404);
    EXPECT_TRUE(none.says("Group/none is not known")) << none.body;
    put("Group", "empty", R"("type":"person","actual":true)");
    EXPECT_TRUE(run("/Group/empty/$export").names.empty());
    remove("/Group/empty");
    const Answer deleted = begin("/Group/empty/$export");
    EXPECT_EQ(deleted.status, 410);
    EXPECT_TRUE(deleted.says("Group/empty was deleted")) << deleted.body;
}

TEST_F(ExportTest, OfAGroupPassesOverMembersThatAreNoPatients) {
    for (const char* id : {"a", "twin"}) {
        put("Patient", id);
    }
    put("Group", "twin",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/twin"}}])");
    put("Group", "g",
        R"("type":"person","actual":true,"member":[{"entity":{"display":"somebody"}},{"entity":{"reference":"http://elsewhere/Patient/twin"}},)"
        R"({"entity":{"reference":"Device/twin"}},{"entity":{"reference":"Group/none"}},{"entity":{"reference":"Patient/a"}}])");
    EXPECT_THAT(run("/Group/g/$export?_type=Patient").names, ElementsAre("Patient/a/1"));
    remove("/Patient/a");
    EXPECT_EQ(
        begin(
            "/Group/g/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/a"}}]})")
            .status,
        400);
}

TEST_F(ExportTest, OfAGroupGoesSixteenGroupsDeep) {
    constexpr int kDeep = 16;
    for (int i = 0; i <= kDeep + 1; ++i) {
        put("Patient", fmt::format("p{}", i));
        put("Group", fmt::format("g{}", i),
            fmt::format(
                R"("type":"person","actual":true,"member":[{{"entity":{{"reference":"Patient/p{}"}}}},{{"entity":{{"reference":"Group/g{}"}}}}])",
                i, i + 1));
    }
    const auto names = run("/Group/g0/$export?_type=Patient").names;
    EXPECT_EQ(names.size(), kDeep + 1U);
    EXPECT_THAT(names, Not(testing::Contains(fmt::format("Patient/p{}/1", kDeep + 1))));
}

TEST_F(ExportTest, GivesWhatIsInACompartmentAndLinkedToItOnce) {
    put("Patient", "a");
    observe("o", "Patient/a");
    put("Provenance", "both",
        R"("target":[{"reference":"Patient/a"},{"reference":"Observation/o"}],"recorded":"2020-01-01T00:00:00Z","agent":[{"who":{"display":"x"}}])");
    EXPECT_THAT(run("/Patient/$export").names,
                ElementsAre("Observation/o/1", "Patient/a/1", "Provenance/both/1"));
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

TEST_F(ExportTest, BeginsANewFileWhereOneWouldBeTooLarge) {
    Config config;
    config.export_max_file = 1024;
    restart(config);
    for (int i = 0; i < 20; ++i) {
        put("Patient", fmt::format("p{}", i), R"("name":[{"family":"A name of some length"}])");
    }
    const Exported exported = run("/$export");
    EXPECT_EQ(exported.names.size(), 20U);
    EXPECT_GE(exported.urls.size(), 3U);
    for (const std::string& url : exported.urls) {
        EXPECT_LE(send("GET", url).body.size(), 1024U);
    }
}

TEST_F(ExportTest, GivesRangesOfItsFiles) {
    put("Patient", "a");
    const Exported exported = run("/$export");
    const std::string& url = exported.urls.at(0);
    const Answer whole = send("GET", url);
    const std::string size = std::to_string(whole.body.size());
    const auto get = [&](const std::string& range, const std::string& if_range = {}) {
        Headers headers{{"Range", range}};
        if (!if_range.empty()) {
            headers.emplace_back("If-Range", if_range);
        }
        return send("GET", url, {}, headers);
    };
    const Answer middle = get("bytes=2-5");
    EXPECT_EQ(middle.status, 206);
    EXPECT_EQ(middle.body, whole.body.substr(2, 4));
    EXPECT_EQ(middle.header("Content-Range"), "bytes 2-5/" + size);
    EXPECT_EQ(get("bytes=10-").body, whole.body.substr(10));
    EXPECT_EQ(get("bytes=-7").body, whole.body.substr(whole.body.size() - 7));
    EXPECT_EQ(get("bytes=-100000").body, whole.body);
    EXPECT_EQ(get("bytes=5-100000").body, whole.body.substr(5));
    EXPECT_EQ(get("bytes=" + size + "-").status, 416);
    EXPECT_EQ(get("bytes=-0").status, 416);
    EXPECT_EQ(get("bytes=" + size + "-").header("Content-Range"), "bytes */" + size);
    for (const char* ignored : {"bytes=5-2", "bytes=", "bytes=-", "bytes=a-b", "lines=1-2",
                                "bytes=0-1,3-4", "bytes=99999999999999999999-", "bytes=1-x"}) {
        EXPECT_EQ(get(ignored).status, 200) << ignored;
    }
    EXPECT_EQ(get("bytes=2-5", std::string(whole.header("ETag"))).status, 206);
    EXPECT_EQ(get("bytes=2-5", "\"another\"").status, 200);
    const Answer head = send("HEAD", url, {}, {{"Range", "bytes=2-5"}});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.header("Content-Range"), "");
}

TEST_F(ExportTest, DoesNotSendAFileAgainThatTheClientHas) {
    put("Patient", "a");
    const std::string url = run("/$export").urls.at(0);
    const std::string tag(send("GET", url).header("ETag"));
    for (const std::string& known : {tag, "W/" + tag, "\"x\", " + tag, std::string("*")}) {
        const Answer answer =
            send("GET", url, {}, {{"If-None-Match", known}, {"Range", "bytes=0-1"}});
        EXPECT_EQ(answer.status, 304) << known;
        EXPECT_EQ(answer.body, "");
        EXPECT_EQ(answer.header("ETag"), tag);
    }
    const std::string later = "Fri, 01 Jan 2100 00:00:00 GMT";
    EXPECT_EQ(send("HEAD", url, {}, {{"If-Modified-Since", later}}).status, 304);
    EXPECT_EQ(send("GET", url, {}, {{"If-Modified-Since", "Thu, 01 Jan 2015 00:00:00 GMT"}}).status,
              200);
    EXPECT_EQ(
        send("GET", url, {}, {{"If-None-Match", "\"x\""}, {"If-Modified-Since", later}}).status,
        200);
}

TEST_F(ExportTest, PutsNoFileIntoTheAnswerToABundle) {
    put("Patient", "a");
    put("Patient", "b");
    const Exported exported = run("/$export");
    for (const char* type : {"batch", "transaction"}) {
        const Answer answer = send(
            "POST", "/",
            fmt::format(
                R"({{"resourceType":"Bundle","type":"{}","entry":[{{"request":{{"method":"GET","url":"{}"}}}}]}})",
                type, exported.urls.at(0)),
            {{"Content-Type", "application/fhir+json"}});
        json::Parser parser;
        const auto document = parser.parse(answer.body);
        ASSERT_TRUE(document) << answer.body;
        const json::Value entry = *document->root()["entry"].elements().begin();
        EXPECT_TRUE(entry["response"]["status"].equals("200 OK")) << answer.body;
        EXPECT_FALSE(entry["resource"]) << answer.body;
    }
}

TEST_F(ExportTest, IsNotBegunByHead) {
    const Answer answer = send("HEAD", "/$export", {}, kAsync);
    EXPECT_EQ(answer.status, 202);
    EXPECT_EQ(answer.content_location, "");
    EXPECT_FALSE(std::filesystem::exists(data() + "/jobs"));
    EXPECT_EQ(send("HEAD", "/$export?_type=Nobody", {}, kAsync).status, 400);
    EXPECT_EQ(send("HEAD", "/$export").status, 400);
}

TEST_F(ExportTest, RefusesWhatItCannotDo) {
    EXPECT_EQ(send("GET", "/$export").status, 400);
    const auto lenient = [&](std::string_view target) {
        return send("GET", target, {}, {{"Prefer", "respond-async, handling=lenient"}}).status;
    };
    for (const char* query :
         {"_outputFormat=text/csv", "_type=Nobody", "_since=yesterday", "_until=x", "unknown=1",
          "includeAssociatedData=LatestProvenanceResources", "organizeOutputBy=Patient",
          "includeHistory=perhaps", "_since=2020-01-01&_since=2021-01-01"}) {
        EXPECT_EQ(begin(fmt::format("/$export?{}", query)).status, 400) << query;
    }
    EXPECT_EQ(lenient("/$export?unknown=1&includeAssociatedData=x&_type=Patient,Nobody"), 202);
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

TEST_F(ExportTest, PassesOverWhatIsUnknownWhereThatIsAskedForAndSaysSo) {
    put("Patient", "a", R"("name":[{"family":"Kunz"}],"active":true)");
    put("Patient", "b", R"("name":[{"family":"Kunz"}],"active":false)");
    put("Patient", "c", R"("name":[{"family":"Meier"}],"active":true)");
    const auto lenient = [&](std::string_view target) {
        return send("GET", target, {}, {{"Prefer", "respond-async, handling=lenient"}});
    };
    // What is known of a filter holds all the same.
    const std::string filter =
        "/$export?_type=Patient&_typeFilter=Patient%3Ffamily%3Dkunz%26nonsense%3D1";
    EXPECT_EQ(begin(filter).status, 400);
    const Exported filtered = finish(lenient(filter));
    EXPECT_THAT(filtered.names, ElementsAre("Patient/a/1", "Patient/b/1"));
    EXPECT_THAT(filtered.errors,
                HasSubstr("_typeFilter: search parameter 'nonsense' is not known for Patient"));
    // Of what is known nothing is passed over.
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
    // Of nothing that is known, nothing: not everything.
    EXPECT_EQ(begin("/$export?_type=Nobody").status, 400);
    for (const char* target : {"/$export?_type=Nobody", "/Patient/$export?_type=Nobody"}) {
        const Exported nothing = finish(lenient(target));
        EXPECT_THAT(nothing.names, ElementsAre()) << target;
        EXPECT_THAT(nothing.errors, HasSubstr("'Nobody'"));
    }
    EXPECT_EQ(lenient("/$export?_type=Nobody&_typeFilter=Patient%3Ffamily%3Dkunz").status, 400);
}

TEST_F(ExportTest, IsForWhomeverBeganItAndForThoseWhoMayDoEverything) {
    Config config;
    config.auth.mode = "jwt";
    restart(config);
    const Principal reader("reader", "system/*.rs");
    send_as(&reader);
    const Answer begun = begin("/$export");
    ASSERT_EQ(begun.status, 202) << begun.body;
    service().jobs().wait_until_idle();
    const std::string status = path_of(begun.content_location);
    EXPECT_TRUE(send("GET", status).says(R"("requiresAccessToken":true)"));
    restart(Config());
    EXPECT_TRUE(send("GET", status).says(R"("requiresAccessToken":false)"))
        << "as the server is now, not as it was";
    restart(config);

    const Principal other("other", "system/*.rs");
    send_as(&other);
    EXPECT_EQ(send("GET", status).status, 404);
    EXPECT_EQ(send("DELETE", status).status, 404);
    const Principal lab("lab", "system/Observation.rs");
    send_as(&lab);
    EXPECT_EQ(begin("/$export").status, 403);
    EXPECT_EQ(begin("/$export?_type=Observation,Patient").status, 403);
    EXPECT_EQ(begin("/$export?_type=Observation&_typeFilter=Observation%3Fpatient.name%3Dx").status,
              403);
    EXPECT_EQ(begin("/$export?_type=Observation").status, 202);
    // Whether there is such a patient is for whom may read patients.
    const std::string_view of_one =
        R"({"resourceType":"Parameters","parameter":[{"name":"_type","valueString":"Observation"},)"
        R"({"name":"patient","valueReference":{"reference":"Patient/none"}}]})";
    EXPECT_EQ(begin("/Patient/$export", of_one).status, 403);
    const Principal both("both", "system/Observation.rs system/Patient.r");
    send_as(&both);
    EXPECT_EQ(begin("/Group/none/$export?_type=Observation").status, 403);
    EXPECT_EQ(begin("/Patient/$export", of_one).status, 400);
    send_as(nullptr);
    EXPECT_EQ(send("GET", status).status, 401);
    const Principal everything("admin", "system/*.cruds");
    send_as(&everything);
    EXPECT_EQ(send("GET", status).status, 200);
    EXPECT_EQ(send("DELETE", status).status, 202);
    EXPECT_EQ(send("GET", status).status, 404);
}

TEST_F(ExportTest, IsThereAfterARestart) {
    put("Patient", "a");
    const Answer begun = begin("/$export");
    service().jobs().wait_until_idle();
    restart(Config());
    EXPECT_THAT(finish(begun).names, ElementsAre("Patient/a/1"));
}

// ---- the job by itself ----

class ExportJobTest : public ExportTest {
  protected:
    /// So many patients, in steps of bundles.
    void fill(int count) {
        std::string entries;
        for (int i = 0; i < count; ++i) {
            entries += fmt::format(
                R"({}{{"resource":{{"resourceType":"Patient","id":"p{}","active":{}}},"request":{{"method":"PUT","url":"Patient/p{}"}}}})",
                i == 0 ? "" : ",", i, i % 3 == 0, i);
        }
        ASSERT_EQ(
            send("POST", "/",
                 fmt::format(R"({{"resourceType":"Bundle","type":"batch","entry":[{}]}})", entries),
                 {{"Content-Type", "application/fhir+json"}})
                .status,
            200);
    }

    /// Runs the job until it has asked `asks` times whether it is to stop.
    Result<JobResult> run_for(const ExportTask& task, std::string& saved, int asks,
                              test::SimFileSystem& files) {
        JobOrder order;
        order.base_url = kBaseUrl;
        order.task = task_json(task);
        JobRun run("j", order, "j", saved, files,
                   {.stopping = [&] { return asks-- <= 0; }, .say = [](const std::string&) {}});
        Result<JobResult> result = export_job(service(), run);
        saved = run.saved();
        return result;
    }
};

TEST_F(ExportJobTest, GoesOnWhereItStood) {
    Config config;
    config.export_max_file = 100'000;
    restart(config);
    fill(6000);
    ExportTask whole;
    ExportTask searched;
    searched.filters = {"Patient?active=true"};
    ExportTask earlier = searched;
    earlier.as_of = store().last_position();
    for (const ExportTask& task : {whole, searched, earlier}) {
        test::SimFileSystem once;
        ASSERT_TRUE(once.make_directory("j"));
        std::string saved;
        const auto expected = run_for(task, saved, 1'000'000, once);
        ASSERT_TRUE(expected) << expected.error().detail;

        test::SimFileSystem files;
        ASSERT_TRUE(files.make_directory("j"));
        saved.clear();
        int runs = 0;
        Result<JobResult> result = run_for(task, saved, 1, files);
        while (!result && runs < 1000) {
            ++runs;
            // What comes meanwhile is not of this snapshot.
            ASSERT_LT(put_patient(fmt::format("later{}", runs)), 300);
            result = run_for(task, saved, 1, files);
        }
        ASSERT_TRUE(result);
        EXPECT_GT(runs, 1);
        ASSERT_EQ(result->files.size(), expected->files.size());
        for (std::size_t i = 0; i < result->files.size(); ++i) {
            EXPECT_EQ(result->files[i].name, expected->files[i].name);
            EXPECT_EQ(result->files[i].count, expected->files[i].count);
            EXPECT_EQ(files.content("j/" + result->files[i].name),
                      once.content("j/" + result->files[i].name));
        }
    }
}

TEST_F(ExportJobTest, GoesOnWhereItStoodAmongWhatIsLinked) {
    for (int i = 0; i < 10; ++i) {
        put("Practitioner", fmt::format("d{}", i));
        put("Organization", fmt::format("o{}", i));
        put("Patient", fmt::format("p{}", i),
            fmt::format(
                R"("generalPractitioner":[{{"reference":"Practitioner/d{}"}}],"managingOrganization":{{"reference":"Organization/o{}"}})",
                i, i));
    }
    ExportTask task;
    task.level = ExportTask::Level::patient;
    test::SimFileSystem once;
    ASSERT_TRUE(once.make_directory("j"));
    std::string saved;
    const auto expected = run_for(task, saved, 1'000'000, once);
    ASSERT_TRUE(expected) << expected.error().detail;
    ASSERT_EQ(expected->files.size(), 3U);
    // Stopped at each step in turn, and gone on with to the end.
    for (int asks = 0;; ++asks) {
        SCOPED_TRACE(asks);
        test::SimFileSystem files;
        ASSERT_TRUE(files.make_directory("j"));
        saved.clear();
        Result<JobResult> result = run_for(task, saved, asks, files);
        if (result) {
            EXPECT_GT(asks, 10);
            break;
        }
        result = run_for(task, saved, 1'000'000, files);
        ASSERT_TRUE(result) << result.error().detail;
        ASSERT_EQ(result->files.size(), 3U);
        for (const JobFile& file : expected->files) {
            EXPECT_EQ(files.content("j/" + file.name), once.content("j/" + file.name));
        }
    }
}

TEST_F(ExportJobTest, OfASnapshotThatIsNoMoreBeginsAnew) {
    fill(5);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/Patient-1.ndjson", "of before");
    std::string saved =
        R"({"position":1000,"time":"2020-01-01T00:00:00.000Z","pass":0,"after":0,"resources":0,"files":{"done":[],"series":[],"bytes":0}})";
    const auto result = run_for(ExportTask(), saved, 1'000'000, files);
    ASSERT_TRUE(result);
    ASSERT_EQ(result->files.size(), 1U);
    EXPECT_EQ(names_in(files.content("j/Patient-1.ndjson")).size(), 5U);
}

/// It must not begin with what can't be read as 0: lines would come twice, or be cut off.
TEST_F(ExportJobTest, WhoseCheckpointIsDamagedFails) {
    fill(5);
    constexpr std::string_view kWhole =
        R"({"position":5,"time":"2020-01-01T00:00:00.000Z","pass":0,"after":2,"resources":2,"files":{"done":[{"part":"output","type":"Patient","name":"Patient-1.ndjson","count":2,"open":false}],"series":[{"part":"output","type":"Patient","stem":"Patient","number":2,"name":"Patient-2.ndjson","count":1,"bytes":3,"open":true}],"bytes":90}})";
    for (const std::string_view member :
         {R"("position":5)", R"("pass":0)", R"("after":2)", R"("resources":2)", R"("count":2)",
          R"("number":2)", R"("count":1)", R"("bytes":3)", R"("bytes":90)"}) {
        for (const std::string_view damage : {R"("x")", "-1", "1.5", "99999999999999999999"}) {
            test::SimFileSystem files;
            ASSERT_TRUE(files.make_directory("j"));
            files.set_content("j/Patient-2.ndjson", "{}\n");
            std::string saved(kWhole);
            const std::size_t at = saved.find(member) + member.find(':') + 1;
            saved.replace(at, member.size() - member.find(':') - 1, damage);
            const auto result = run_for(ExportTask(), saved, 1'000'000, files);
            ASSERT_FALSE(result) << saved;
            EXPECT_EQ(result.error().code, Errc::corrupt) << saved;
        }
    }
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_content("j/Patient-2.ndjson", "{}\n");
    std::string saved(kWhole);
    EXPECT_TRUE(run_for(ExportTask(), saved, 1'000'000, files));
}

TEST_F(ExportJobTest, OfAStateThatIsNoMoreFails) {
    fill(5);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    ExportTask task;
    task.as_of = Position{1000};
    std::string saved;
    const auto result = run_for(task, saved, 1'000'000, files);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::expired);
}

TEST_F(ExportJobTest, IsWholeWhereverThePowerIsCut) {
    Config config;
    config.export_max_file = 2000;
    restart(config);
    fill(50);
    remove("/Patient/p7");
    ExportTask task;
    task.since = Instant{0};
    for (std::uint64_t call = 1;; ++call) {
        auto files = std::make_unique<test::SimFileSystem>();
        ASSERT_TRUE(files->make_directory("j"));
        files->power_off_at(call);
        std::string saved;
        Result<JobResult> result = run_for(task, saved, 1'000'000, *files);
        const bool cut = !result;
        if (cut) {
            files = files->after_power_cut(call);
            // As the state on the disk says; what was never saved is done anew.
            saved = saved.empty() || !files->exists("j/state.json")
                        ? ""
                        : read_state(files->content("j/state.json"))->saved;
            result = run_for(task, saved, 1'000'000, *files);
        }
        ASSERT_TRUE(result) << call;
        std::vector<std::string> names;
        for (const JobFile& file : result->files) {
            for (std::string& name : names_in(files->content("j/" + file.name))) {
                names.push_back(std::move(name));
            }
        }
        EXPECT_EQ(names.size(), 50U) << call;
        EXPECT_EQ(std::count(names.begin(), names.end(), "-Patient/p7"), 1) << call;
        if (!cut) {
            EXPECT_GT(call, 10U);
            break;
        }
    }
}

TEST_F(ExportJobTest, FailsWhenTheDiskIsFullAndHarmsNothing) {
    fill(200);
    test::SimFileSystem files;
    ASSERT_TRUE(files.make_directory("j"));
    files.set_space(5000);
    std::string saved;
    const auto result = run_for(ExportTask(), saved, 1'000'000, files);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::no_store);
    EXPECT_LT(put_patient("after"), 300);
}

TEST(ExportTask, IsReadBackAsItWasWritten) {
    ExportTask task;
    task.level = ExportTask::Level::group;
    task.group = "g";
    task.types = {*find_resource_type("Observation"), *find_resource_type("Patient")};
    task.since = Instant{1'234'567'000};
    task.filters = {"Patient?name=\"x\"\\"};
    task.elements = {"Patient.name"};
    task.patients = {"a", "b"};
    task.history = true;
    task.as_of = Position{77};
    task.strict = false;
    const auto read = parse_export_task(task_json(task));
    ASSERT_TRUE(read);
    EXPECT_EQ(task_json(*read), task_json(task));
    EXPECT_EQ(read->filters, task.filters);
    EXPECT_EQ(read->since, task.since);
    EXPECT_EQ(read->as_of, task.as_of);
    EXPECT_FALSE(read->until);
}

TEST(ExportTask, IsNotReadWithANumberThatIsNone) {
    ExportTask task;
    task.as_of = Position{77};
    std::string json = task_json(task);
    json.replace(json.find("77"), 2, "\"x\"");
    EXPECT_FALSE(parse_export_task(json));
}

}  // namespace
}  // namespace annals::core
