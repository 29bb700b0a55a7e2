// Requests that look at stored bodies before they write or answer, while these have to be read from the device.

#include "core/access.h"
#include "core/search/execute.h"
#include "core/search/ordered_walk.h"
#include "core/search/terms.h"
#include "tests/core/unread_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

using std::chrono_literals::operator""s;

core::Config by_default() {
    return {};
}

/// A request that has to look at stored bodies before it writes or answers.
struct Looking {
    const char* name;
    const char* method;
    std::string target;
    std::string body;
    int status;
    const char* says;
    int records;  ///< at least this many are read
    core::Config (*config)() = by_default;
    const char* patient = "";  ///< not empty: the sender's scopes are this patient's
    const char* if_none_exist = "";

    friend void PrintTo(const Looking& looking, std::ostream* out) {
        *out << looking.method << ' ' << looking.target;
    }
};

class UnreadLooking : public UnreadApart, public testing::WithParamInterface<Looking> {
  protected:
    /// The first record is waited for by itself; for the others, it is enough that somebody had them read.
    static constexpr int kReadsOfARecord = 3;

    void fill() {
        const std::string filler = kFiller + ",";
        put("Patient/a", R"("gender":"male")");
        put("Observation/tagged", filler + R"("meta":{"tag":[{"code":"t1"}]},"status":"final",)"
                                           R"("code":{"text":"x"})");
        put("Observation/tagged2", filler + R"("meta":{"tag":[{"code":"t2"}]},"status":"final",)"
                                            R"("code":{"text":"x"})");
        put("Composition/c", filler + R"("status":"final","type":{"text":"t"},"date":"2026",)"
                                      R"("author":[{"reference":"Organization/o"}],"title":"t",)"
                                      R"("subject":{"reference":"Patient/b"})");
        put("GraphDefinition/g",
            filler + R"("url":"http://x/g","name":"G","status":"active","start":"Composition",)"
                     R"("link":[{"path":"Composition.subject","target":[{"type":"Patient","link":[)"
                     R"({"path":"managingOrganization","target":[{"type":"Organization"}]}]}]}])");
        put("CodeSystem/s", filler + R"("url":"http://x/s","status":"active","content":"complete",)"
                                     R"("concept":[{"code":"k"}])");
        put("ValueSet/v", filler + R"("url":"http://x/v","status":"active",)"
                                   R"("compose":{"include":[{"system":"http://x/s"}]})");
        put("List/l", filler + R"("status":"current","mode":"working",)"
                               R"("entry":[{"item":{"reference":"Patient/b"}}])");
        put("Observation/coded", R"("status":"final","code":{"coding":[)"
                                 R"({"system":"http://x/s","code":"k"}]})");
        put("Group/g", filler + R"("type":"person","actual":true,)"
                                R"("member":[{"entity":{"reference":"Patient/b"}}])");
        EXPECT_EQ(
            send("POST", "/$closure", parameters(R"({"name":"name","valueString":"mine"})")).status,
            200);
        put("StructureDefinition/p",
            R"("url":"http://x/p","name":"P","status":"active","kind":"resource","abstract":false,)"
            R"("type":"Observation","derivation":"constraint",)"
            R"("baseDefinition":"http://hl7.org/fhir/StructureDefinition/Observation",)"
            R"("differential":{"element":[{"id":"Observation.subject",)"
            R"("path":"Observation.subject","min":1}]})");
        EXPECT_EQ(send("DELETE", "/Patient/3").status, 204);
    }

    void fill_for_a_patient() {
        put("Composition/ofa", kFiller + R"(,"status":"final","type":{"text":"t"},"date":"2026",)"
                                         R"("author":[{"reference":"Patient/a"}],"title":"t",)"
                                         R"("subject":{"reference":"Patient/a"})");
        put("Observation/beside",
            kFiller +
                R"(,"status":"final","code":{"text":"x"},"subject":{"reference":"Patient/a"},)"
                R"("performer":[{"reference":"Patient/b"}])");
        put("Encounter/e", kFiller + R"(,"status":"finished","class":{"code":"AMB"},)"
                                     R"("subject":{"reference":"Patient/a"})");
        EXPECT_EQ(send("DELETE", "/Encounter/e").status, 204);
    }

    void put(std::string_view name, std::string_view members) {
        const std::size_t slash = name.find('/');
        const Answer answer =
            send("PUT", "/" + std::string(name),
                 fmt::format(R"({{"resourceType":"{}","id":"{}",{}}})", name.substr(0, slash),
                             name.substr(slash + 1), members));
        EXPECT_LE(answer.status, 201) << name << answer.body;
    }

  public:
    static std::string parameters(std::string_view list) {
        return fmt::format(R"({{"resourceType":"Parameters","parameter":[{}]}})", list);
    }

    static std::string entry(std::string_view resource, std::string_view request) {
        return fmt::format(R"({{{}{}"request":{{{}}}}})", resource, resource.empty() ? "" : ",",
                           request);
    }

    static std::string bundle(std::string_view type, std::string_view entries) {
        return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type,
                           entries);
    }
};

TEST_P(UnreadLooking, KeepsNobodyElseWaiting) {
    fill();
    if (*GetParam().patient != '\0') {
        fill_for_a_patient();
    }
    restart(GetParam().config());
    std::atomic<int> reads = 0;
    disk_->on_will_read([&] {
        ++reads;
        if (!held_.exchange(true)) {
            reading_.set_value();
            go_on_.get_future().wait();
        }
    });
    const core::Principal held("x", "patient/*.cruds", GetParam().patient);
    const bool is_restricted = *GetParam().patient != '\0';
    send_as(is_restricted ? &held : nullptr);
    Answer slow;
    std::thread sender([&] {
        const bool patches = GetParam().method == std::string_view("PATCH");
        const bool exports = GetParam().target.ends_with("$export");
        slow = send(
            GetParam().method, GetParam().target, GetParam().body,
            {{"Content-Type", patches ? "application/json-patch+json" : "application/fhir+json"},
             {"Prefer", exports ? "respond-async" : "return=representation"},
             {*GetParam().if_none_exist != '\0' ? "If-None-Exist" : "X-None",
              GetParam().if_none_exist}});
    });
    EXPECT_EQ(reading_.get_future().wait_for(30s), std::future_status::ready)
        << "on the network thread";
    EXPECT_EQ(send("GET", "/metadata").status, 200);
    EXPECT_EQ(put_patient("4"), is_restricted ? 404 : 201);
    go_on_.set_value();
    sender.join();
    EXPECT_EQ(slow.status, GetParam().status) << slow.body;
    EXPECT_TRUE(slow.says(GetParam().says)) << slow.body.substr(0, 2000);
    EXPECT_GE(reads, GetParam().records * kReadsOfARecord);
}

core::Config with_integrity() {
    core::Config config;
    config.integrity_on_delete = true;
    return config;
}

core::Config with_scopes() {
    core::Config config;
    config.auth.mode = "jwt";
    return config;
}

core::Config with_scopes_and_integrity() {
    core::Config config = with_scopes();
    config.integrity_on_write = true;
    return config;
}

core::Config in_full() {
    core::Config config;
    config.validation = "full";
    return config;
}

const char* const kPatch = R"([{"op":"replace","path":"/gender","value":"unknown"}])";

std::vector<Looking> lookings() {
    using Test = UnreadLooking;
    const std::string patch = fmt::format(
        R"("resource":{{"resourceType":"Binary","contentType":"application/json-patch+json","data":"{}"}})",
        "W3sib3AiOiJyZXBsYWNlIiwicGF0aCI6Ii9nZW5kZXIiLCJ2YWx1ZSI6InVua25vd24ifV0=");
    const std::string observation =
        R"("resource":{"resourceType":"Observation","status":"final","code":{"text":"new"},)"
        R"("subject":{"reference":"Patient?_id=b&gender=other"}})";
    const std::string validated =
        R"({"resourceType":"Observation","id":"1","meta":{"versionId":"9","profile":["http://x/p"]},)"
        R"("status":"final","code":{"text":"x"}})";
    const std::string new_patient = R"("resource":{"resourceType":"Patient"})";
    return {
        {"Patch", "PATCH", "/Patient/b", kPatch, 200, R"("gender":"unknown")", 1},
        {"Graphql", "POST", "/$graphql",
         R"({"query":"{Patient(id:\"b\"){gender managingOrganization{resource{language}}}}"})", 200,
         R"({"gender":"other","managingOrganization":{"resource":{"language":"en"}}})", 2},
        {"GraphqlOfAResource", "POST", "/Observation/1/$graphql",
         R"({"query":"{status subject{resource(type:Patient){gender}}}"})", 200,
         R"({"status":"final","subject":{"resource":{"gender":"male"}}})", 1},
        {"GraphqlThatFilters", "POST", "/$graphql",
         R"({"query":"{PatientList(_id:[a b c],_sort:\"_id\",fhirpath:\"gender='other'\"){id}}"})",
         200, R"([{"id":"b"},{"id":"c"}])", 3},
        {"GraphqlWithAList", "POST", "/$graphql",
         R"({"query":"{PatientList(_list:l){id gender}}"})", 200,
         R"([{"id":"b","gender":"other"}])", 2},
        {"GraphqlOfSomebodyHeld", "POST", "/Patient/b/$graphql",
         R"({"query":"{gender managingOrganization{resource(optional:true){id}}}"})", 200,
         R"({"gender":"other","managingOrganization":{"resource":null}})", 1, with_scopes, "b"},
        {"ConditionalPatch", "PATCH", "/Patient?_id=b", kPatch, 200, R"("gender":"unknown")", 1},
        {"TransactionWithPatches", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(patch, R"("method":"PATCH","url":"Patient/b")") + "," +
                          Test::entry(patch, R"("method":"PATCH","url":"Patient?_id=c")")),
         200, R"("gender":"unknown")", 2},
        {"TransactionWithConditionalCreates", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(new_patient,
                         R"("method":"POST","url":"Patient","ifNoneExist":"_id=b&gender=other")") +
                 "," +
                 Test::entry(
                     new_patient,
                     R"("method":"POST","url":"Patient","ifNoneExist":"_id=c&gender=other")")),
         200, R"("id":"c")", 2},
        {"TransactionWithCriteriaOfBodies", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(new_patient, R"("method":"POST","url":"Patient",)"
                                               R"("ifNoneExist":"_id=2&_content=Two")")),
         200, R"("id":"2")", 1},
        {"TransactionWithConditionalUpdate", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(new_patient, R"("method":"PUT","url":"Patient?_id=b")")),
         200, R"("id":"b")", 1},
        {"TransactionWithConditionalDelete", "POST", "/",
         Test::bundle("transaction", Test::entry("", R"("method":"DELETE","url":"Patient?_id=b")")),
         200, R"("204)", 1},
        {"TransactionWithConditionalReferences", "POST", "/",
         Test::bundle("transaction",
                      Test::entry(observation, R"("method":"POST","url":"Observation")")),
         200, R"("reference":"Patient/b")", 1},
        {"DeleteOfWhatIsReferredTo", "DELETE", "/Organization/o", "", 409, "Patient/b", 2,
         with_integrity},
        {"HistoryAgain", "POST", "/",
         Test::bundle(
             "history",
             Test::entry(
                 R"("fullUrl":"http://x/Patient/1","resource":{"resourceType":"Patient","id":"1",)"
                 R"("meta":{"versionId":"1"},"name":[{"family":"Other"}]})",
                 R"("method":"PUT","url":"Patient/1")")),
         200, "differs", 1},
        {"Undo", "POST", "/$undo",
         Test::parameters(R"({"name":"from","valueDecimal":12},{"name":"to","valueDecimal":12})"),
         200, R"("reference","valueString":"Patient/a")", 2},
        {"Purge", "POST", "/Patient/a/$purge", "", 200, R"("name":"versions","valueInteger":3)", 7},
        {"PurgeToTry", "POST", "/Patient/a/$purge",
         Test::parameters(R"({"name":"dryRun","valueBoolean":true})"), 200, "sha256", 7},
        {"Document", "GET", "/Composition/c/$document", "", 200, R"("id":"b")", 3},
        {"DocumentByAGraph", "GET", "/Composition/c/$document?graph=http://x/g", "", 200,
         R"("id":"o")", 4},
        {"Diff", "GET", "/Patient/a/$diff", "", 200, "gender", 2},
        {"DiffOfTwo", "GET", "/$diff?from=Patient/b&to=Patient/c", "", 200, "Parameters", 2},
        {"Meta", "GET", "/Patient/a/$meta", "", 200, "versionId", 1},
        {"MetaOfAVersion", "GET", "/Patient/a/_history/1/$meta", "", 200, "versionId", 1},
        {"MetaOfAType", "GET", "/Observation/$meta", "", 200, "t2", 2},
        {"MetaAdd", "POST", "/Patient/a/$meta-add",
         Test::parameters(R"({"name":"meta","valueMeta":{"tag":[{"code":"t3"}]}})"), 200, "t3", 1},
        {"Validate", "GET", "/Patient/a/$validate", "", 200, "OperationOutcome", 1},
        {"Closure", "POST", "/$closure",
         Test::parameters(R"({"name":"name","valueString":"mine"},)"
                          R"({"name":"version","valueString":"0"})"),
         200, "ConceptMap", 1},
        {"RestoreVersion", "POST", "/Patient/a/$restore",
         Test::parameters(R"({"name":"version","valueString":"1"})"), 200, R"("gender":"other")",
         2},
        {"SearchOfAList", "GET", "/Patient?_list=l&_elements=id", "", 200, R"("id":"b")", 2},
        {"SearchInAValueSet", "GET", "/Observation?code:in=http://x/v", "", 200, R"("id":"coded")",
         3},
        {"ExportOfAGroup", "GET", "/Group/g/$export", "", 202, "", 1},
        {"ReadByAPatient", "GET", "/Patient/a", "", 200, "male", 1, with_scopes, "a"},
        {"VersionReadByAPatient", "GET", "/Patient/a/_history/2", "", 200, "male", 1, with_scopes,
         "a"},
        {"HistoryOfAPatient", "GET", "/Patient/a/_history", "", 200, "male", 2, with_scopes, "a"},
        {"HistoryForAPatient", "GET", "/Patient/_history", "", 200, "male", 6, with_scopes, "a"},
        {"UpdateByAPatient", "PUT", "/Patient/a", R"({"resourceType":"Patient","id":"a"})", 200,
         R"("versionId":"3")", 1, with_scopes, "a"},
        {"DeleteByAPatient", "DELETE", "/Observation/1", "", 204, "", 1, with_scopes, "a"},
        {"CreateThatRefersByAPatient", "POST", "/Observation",
         R"({"resourceType":"Observation","status":"final","code":{"text":"x"},)"
         R"("subject":{"reference":"Patient/a"},"hasMember":[{"reference":"Observation/1"}]})",
         201, R"("id")", 1, with_scopes_and_integrity, "a"},
        {"TransactionByAPatient", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(R"("resource":{"resourceType":"Patient","id":"a","gender":"unknown"})",
                         R"("method":"PUT","url":"Patient/a")")),
         200, R"("gender":"unknown")", 1, with_scopes, "a"},
        {"ExpandByUrl", "GET", "/ValueSet/$expand?url=http://x/v", "", 200, R"("code":"k")", 2},
        {"Lookup", "GET", "/CodeSystem/$lookup?system=http://x/s&code=k", "", 200, "display", 2},
        {"Expand", "GET", "/ValueSet/v/$expand", "", 200, R"("code":"k")", 1},
        {"Digest", "GET", "/$digest", "", 200, "Patient/a/_history/1", 10},
        {"ConditionalCreateByAList", "POST", "/Patient", R"({"resourceType":"Patient"})", 200,
         R"("id":"b")", 2, by_default, "", "_list=l"},
        {"ConditionalUpdateByAList", "PUT", "/Patient?_list=l", R"({"resourceType":"Patient"})",
         200, R"("id":"b")", 2},
        {"ConditionalPatchByAList", "PATCH", "/Patient?_list=l", kPatch, 200,
         R"("gender":"unknown")", 2},
        {"ConditionalDeleteByAValueSet", "DELETE", "/Observation?code:in=http://x/v", "", 204, "",
         3},
        {"TransactionWithCriteriaOfAList", "POST", "/",
         Test::bundle("transaction", Test::entry(new_patient, R"("method":"POST","url":"Patient",)"
                                                              R"("ifNoneExist":"_list=l")")),
         200, R"("id":"b")", 2},
        {"TransactionWithConditionalReferencesByAList", "POST", "/",
         Test::bundle(
             "transaction",
             Test::entry(R"("resource":{"resourceType":"Observation","status":"final",)"
                         R"("code":{"text":"new"},"subject":{"reference":"Patient?_list=l"}})",
                         R"("method":"POST","url":"Observation")")),
         200, R"("reference":"Patient/b")", 2},
        {"LastnOfAValueSet", "GET", "/Observation/$lastn?patient=b&code:in=http://x/v", "", 200,
         "searchset", 2},
        {"CreateValidatedInFull", "POST", "/Observation", validated, 422, "at least 1 of subject",
         1, in_full},
        {"UpdateValidatedInFull", "PUT", "/Observation/1", validated, 422, "at least 1 of subject",
         1, in_full},
        {"PatchValidatedInFull", "PATCH", "/Observation/coded",
         R"([{"op":"add","path":"/meta/profile","value":["http://x/p"]}])", 422,
         "at least 1 of subject", 2, in_full},
        {"TransactionValidatedInFull", "POST", "/",
         Test::bundle("transaction", Test::entry("\"resource\":" + validated,
                                                 R"("method":"PUT","url":"Observation/1")")),
         400, "at least 1 of subject", 1, in_full},
        {"HistoryValidatedInFull", "POST", "/",
         Test::bundle("history",
                      Test::entry(R"("fullUrl":"http://x/Observation/1","resource":)" + validated,
                                  R"("method":"PUT","url":"Observation/1")")),
         200, "at least 1 of subject", 1, in_full},
        {"IncludeForAPatient", "GET", "/Composition?_id=ofa&_include=Composition:subject", "", 200,
         R"("gender":"male")", 2, with_scopes, "a"},
        {"IncludeOfWhatIsNotShownToAPatient", "GET",
         "/Observation?_id=beside&_include=Observation:performer", "", 200, "beside", 2,
         with_scopes, "a"},
        {"DiffOfWhatIsNotShownToAPatient", "GET", "/$diff?from=Patient/b&to=Patient/a", "", 404,
         "Patient/b does not exist", 1, with_scopes, "a"},
        {"DiffByAPatient", "GET", "/Patient/a/$diff", "", 200, "gender", 2, with_scopes, "a"},
        {"DiffOfTwoByAPatient", "GET", "/$diff?from=Patient/a/_history/1&to=Patient/a", "", 200,
         "gender", 2, with_scopes, "a"},
        {"HistoryOfWhatWasDeletedForAPatient", "GET", "/Encounter/_history", "", 200, "DELETE", 2,
         with_scopes, "a"},
        {"DocumentForAPatient", "GET", "/Composition/ofa/$document", "", 200, R"("gender":"male")",
         2, with_scopes, "a"},
        {"EverythingForAPatient", "GET", "/Patient/a/$everything", "", 200, R"("id":"ofa")", 2,
         with_scopes, "a"},
    };
}

INSTANTIATE_TEST_SUITE_P(Answers, UnreadLooking, testing::ValuesIn(lookings()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(UnreadApart, IsNotReadByAWalkInOrderIfTheIndexDecidesWhateverTheOrderOfTheCriteria) {
    using namespace core::search;
    constexpr int kMale = 10;
    for (int i = 0; i < 3 * kMale; ++i) {
        const std::string id = fmt::format("n{}", i);
        ASSERT_EQ(send("PUT", "/Patient/" + id,
                       fmt::format(R"({{"resourceType":"Patient","id":"{}","gender":"{}",{}}})", id,
                                   i % 3 == 0 ? "male" : "female", kFiller))
                      .status,
                  201);
    }
    const TypeId type = *find_resource_type("Patient");
    const Plan male = carrying({token(column_of("gender"), "male")});
    const Plan female = carrying({token(column_of("gender"), "female")});
    const Plan known =
        carrying({token(column_of("gender"), "male"), token(column_of("gender"), "female")});
    for (const std::string which :
         {"body, male", "male, body", "body of a male", "female, or body"}) {
        SCOPED_TRACE(which);
        restart_on(disk_);  // nothing is known to be in memory
        std::size_t looked = 0;
        const Plan body = verified(everything(), [&looked](json::Value patient) {
            EXPECT_EQ(patient["gender"].string(), "male");
            ++looked;
            return true;
        });
        const Plan plan = which == "body, male"       ? all_of(body, male)
                          : which == "male, body"     ? all_of(male, body)
                          : which == "body of a male" ? verified(male, body.check)
                                                      : all_of(known, any_of(female, body));
        Snapshot snapshot(store());
        Execution execution(snapshot, type, plan);
        execution.want({.before = Position{0}});
        ASSERT_TRUE(execution.advance(Pace()));
        const SortKey key{nullptr, "_lastUpdated", true};
        OrderedWalk walk(snapshot, execution, {&key, 1}, {}, 3 * kMale + 1);
        std::vector<Position> unread;
        Pace pace(std::chrono::hours(1), unread);
        pace.begin_turn();
        std::size_t fetched = 0;
        for (bool done = false; !done;) {
            const Result<bool> advanced = walk.advance(pace);
            ASSERT_TRUE(advanced);
            done = *advanced;
            fetched += std::exchange(unread, {}).size();
        }
        EXPECT_EQ(looked, kMale + 0U);
        EXPECT_EQ(fetched, looked);
        EXPECT_EQ(walk.matches().size(), which == "female, or body" ? 3 * kMale : looked);
    }
}

TEST_F(UnreadApart, IsFetchedManyAtATimeByAWalkInOrder) {
    constexpr int kAdded = 97;  // besides three
    for (int i = 0; i < kAdded; ++i) {
        const std::string id = fmt::format("n{}", i);
        ASSERT_EQ(send("PUT", "/Patient/" + id,
                       fmt::format(R"({{"resourceType":"Patient","id":"{}","birthDate":"{}",{}}})",
                                   id, 1900 + i * 7 % kAdded, kFiller))
                      .status,
                  201);
    }
    core::search::Parameter birthdate;
    birthdate.type = schema::SearchType::date;
    birthdate.column = core::search::column_of("birthdate");
    for (const bool by_time : {true, false}) {
        for (const bool descending : {true, false}) {
            restart_on(disk_);  // nothing is known to be in memory
            std::vector<std::string> looked;
            const core::search::Plan plan =
                core::search::verified(core::search::everything(), [&looked](json::Value patient) {
                    looked.emplace_back(patient["birthDate"].string());
                    return looked.size() % 25 == 0;
                });
            core::search::Snapshot snapshot(store());
            core::search::Execution execution(snapshot, *find_resource_type("Patient"), plan);
            execution.want({.before = Position{0}});
            ASSERT_TRUE(execution.advance(core::search::Pace()));
            const core::search::SortKey key{by_time ? nullptr : &birthdate,
                                            by_time ? "_lastUpdated" : "birthdate", descending};
            core::search::OrderedWalk walk(snapshot, execution, {&key, 1}, {}, 10);
            std::vector<Position> unread;
            core::search::Pace pace(std::chrono::hours(1), unread);
            pace.begin_turn();
            std::size_t fetched = 0;
            int fetches = 0;
            for (bool done = false; !done; ++fetches) {
                const Result<bool> advanced = walk.advance(pace);
                ASSERT_TRUE(advanced);
                done = *advanced;
                fetched += std::exchange(unread, {}).size();
            }
            EXPECT_EQ(fetches, 3) << "two, and the end";
            EXPECT_GE(fetched, std::size_t{kAdded});
            EXPECT_EQ(walk.matches().size(), looked.size() / 25);
            EXPECT_EQ(looked.size(), by_time ? kAdded + 6U : kAdded);
            if (!by_time) {
                if (descending) {
                    std::ranges::reverse(looked);
                }
                EXPECT_TRUE(std::ranges::is_sorted(looked));
            }
        }
    }
}

}  // namespace
}  // namespace annals::test
