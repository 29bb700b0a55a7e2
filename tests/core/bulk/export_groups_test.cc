// $export of patients and groups: what is in their compartments, and what that refers to.

#include "core/bulk/export_scope.h"
#include "core/definitions.h"
#include "tests/core/bulk/export_fixture.h"
#include "tests/support/cpu_of.h"
#include "tests/support/longest_pause.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace annals::core {
namespace {

using test::Answer;
using test::cpu_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

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
    EXPECT_THAT(some.errors,
                HasSubstr("Substance resources are not in the compartment of any patient"));
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

class LargeGroupExportTest : public ExportTest {
  protected:
    LargeGroupExportTest() {
        std::string members;
        for (int i = 0; i < 10'000; ++i) {
            members += fmt::format(R"({}{{"entity":{{"reference":"Patient/p{}"}}}})",
                                   i == 0 ? "" : ",", i);
        }
        put("Group", "g", fmt::format(R"("type":"person","actual":true,"member":[{}])", members));
        task_.level = ExportTask::Level::group;
        task_.group = "g";
    }

    Result<ExportScope> find(const std::function<bool()>& stopping) {
        search::Snapshot snapshot(store(), store().last_position());
        return find_scope(task_, snapshot, service().indexing().parameters(),
                          service().definitions().carried(), kBaseUrl, stopping);
    }

    ExportTask task_;
};

TEST_F(LargeGroupExportTest, IsBegunWithoutThePlansThatTheJobMakesOneByOne) {
    Result<ExportScope> scope = Error{Errc::internal};
    const auto find_it = [&] {
        scope = find([] { return false; });
        ASSERT_TRUE(scope);
    };
    const auto make_plans = [&] {
        ASSERT_GT(scope->searched.size(), 10U);
        for (const ExportScope::Searched& one : scope->searched) {
            static_cast<void>(scope->plan(one));
        }
    };
    const auto begin = [&] {
        // HEAD tells whether the job could begin, without starting one.
        ASSERT_EQ(send("HEAD", "/Group/g/$export", {}, kAsync).status, 202);
    };
    const std::clock_t found = cpu_of(find_it);
    const std::clock_t planned = cpu_of(make_plans);
    EXPECT_LT(found * 2, planned);
    EXPECT_LT(cpu_of(begin) * 2, planned);
}

TEST_F(LargeGroupExportTest, StopsWhileItFindsOutWhatToExport) {
    task_.filters = {"Patient?active=true", "Observation?status=final"};
    int looks = 0;
    ASSERT_TRUE(find([&] {
        ++looks;
        return false;
    }));
    EXPECT_GE(looks, 3);  // the Group, and each filter
    for (int stop = 0; stop < looks; ++stop) {
        int look = 0;
        const Result<ExportScope> scope = find([&] { return look++ == stop; });
        ASSERT_FALSE(scope);
        EXPECT_EQ(scope.error().code, Errc::timeout);
        EXPECT_EQ(look, stop + 1);
    }
}

TEST_F(ExportTest, IsBegunInTurnsOfAGroupWithManyGroupsInIt) {
    put("Patient", "p");
    std::string patients = R"({"entity":{"reference":"Patient/p"}})";
    for (int i = 1; i < 5'000; ++i) {
        patients += R"(,{"entity":{"reference":"Patient/p"}})";
    }
    std::string groups;
    for (int i = 0; i < 40; ++i) {
        put("Group", fmt::format("g{}", i),
            fmt::format(R"("type":"person","actual":true,"member":[{}])", patients));
        groups +=
            fmt::format(R"({}{{"entity":{{"reference":"Group/g{}"}}}})", i == 0 ? "" : ",", i);
    }
    put("Group", "all", fmt::format(R"("type":"person","actual":true,"member":[{}])", groups));
    Request request;
    request.method = HttpMethod::head;
    request.path = "/Group/all/$export";
    request.base_url = kBaseUrl;
    request.headers.push_back({"Prefer", "respond-async"});
    test::expect_turns(service(), request, 202);
}

TEST_F(ExportTest, IsBegunInTurnsWithManyFilters) {
    std::string codes;
    for (int i = 0; i < 1000; ++i) {
        codes += fmt::format(R"({}{{"code":"c{}"}})", i == 0 ? "" : ",", i);
    }
    put("ValueSet", "v",
        fmt::format(
            R"("url":"http://v","status":"active","compose":{{"include":[{{"system":"http://s","concept":[{}]}}]}})",
            codes));
    Request request;
    request.method = HttpMethod::head;
    request.path = "/$export";
    request.base_url = kBaseUrl;
    std::string query;
    for (int i = 0; i < 200; ++i) {
        query += fmt::format("{}_typeFilter=Observation?code:in=http://v", i == 0 ? "" : "&");
    }
    request.query = query;
    request.headers.push_back({"Prefer", "respond-async"});
    test::expect_turns(service(), request, 202);
}

TEST_F(LinkedExportTest, OfAGroupGivesWhatItsMembersResourcesAreLinkedTo) {
    put_all();
    EXPECT_THAT(
        run("/Group/g/$export").names,
        UnorderedElementsAre("Device/implant/1", "Device/meter/1", "Encounter/e/1", "Group/g/1",
                             "Location/room/1", "Medication/drug/1", "MedicationRequest/m/1",
                             "Observation/o/1", "Organization/clinic/1", "Organization/ward/1",
                             "Patient/a/1", "Practitioner/gp/1", "Practitioner/nurse/1",
                             "Practitioner/signer/1", "PractitionerRole/role/1", "Provenance/o/1"));
    // What isn't exported brings nothing along.
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
    EXPECT_THAT(alone.errors, HasSubstr("Organization resources are exported only if"));
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

/// References are gathered in several stages, from each of the linked types.
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

TEST_F(ExportTest, OfCertainPatientsGivesNoneThatOnlyLinksToThem) {
    put("Patient", "a");
    put("Organization", "org");
    const std::string links = R"("link":[{"other":{"reference":"Patient/a"},"type":"seealso"}],)"
                              R"("managingOrganization":{"reference":"Organization/org"})";
    put("Patient", "other", links);
    put("Patient", "member", links);
    observe("o", "Patient/a");
    put("Group", "g",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/a"}}])");
    put("Group", "both",
        R"("type":"person","actual":true,"member":[{"entity":{"reference":"Patient/a"}},)"
        R"({"entity":{"reference":"Patient/member"}}])");
    EXPECT_THAT(
        run("/Group/g/$export").names,
        UnorderedElementsAre("Group/g/1", "Group/both/1", "Observation/o/1", "Patient/a/1"));
    EXPECT_THAT(run("/Group/both/$export?_type=Patient,Organization").names,
                UnorderedElementsAre("Organization/org/1", "Patient/a/1", "Patient/member/1"));
    EXPECT_THAT(
        run("/Patient/$export",
            R"({"resourceType":"Parameters","parameter":[{"name":"patient","valueReference":{"reference":"Patient/a"}},{"name":"_type","valueString":"Patient"}]})")
            .names,
        ElementsAre("Patient/a/1"));
    EXPECT_THAT(run("/Patient/$export?_type=Patient").names,
                UnorderedElementsAre("Patient/a/1", "Patient/member/1", "Patient/other/1"));
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

}  // namespace
}  // namespace annals::core
