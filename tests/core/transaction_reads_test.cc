// Reads in a transaction: they see the state that it leaves, and are tried before it is applied.

#include "tests/core/transaction_fixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

TEST(Transaction, JudgesItsReadsByTheStateAfter) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const Json bundle(
        server
            .submit(bundle_of("transaction",
                              {entry_of("GET", "Patient/1"), entry_of("GET", "Patient/1/_history"),
                               entry_of("PUT", "Patient/1", patient_json("1"))}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200 200");
    EXPECT_EQ(bundle.entry(0)["response"]["etag"].string(), "W/\"2\"");
    EXPECT_EQ(bundle.entry(1)["resource"]["entry"].size(), 2U);
    expect_failure(server.submit(bundle_of("transaction", {entry_of("GET", "Patient/1"),
                                                           entry_of("DELETE", "Patient/1")})),
                   "deleted", "Bundle.entry[0] GET Patient/1: 410 ");
    EXPECT_EQ(server.get("/Patient/1").status, 200);
}

TEST(Transaction, ReadsWhatOnlyItsOwnWritesMakeReadable) {
    TestService server;
    server.put("/ValueSet/before", R"({"resourceType":"ValueSet","id":"before","status":"active",
        "url":"http://x/before","compose":{"include":[{"system":"http://x/codes"}]}})");
    const std::string codes = R"({"resourceType":"CodeSystem","id":"codes","status":"active",
        "url":"http://x/codes","content":"complete","concept":[{"code":"a"}]})";
    const std::string values =
        R"({"resourceType":"ValueSet","status":"active","url":"http://x/values",
        "compose":{"include":[{"system":"http://x/codes"}]}})";
    const std::string document = R"({"resourceType":"Composition","id":"1","status":"final",
        "type":{"text":"t"},"date":"2020","title":"t","author":[{"reference":"Patient/1"}]})";
    const Json bundle(
        server
            .submit(bundle_of(
                "transaction",
                {entry_of("PUT", "CodeSystem/codes", codes), entry_of("POST", "ValueSet", values),
                 entry_of("PUT", "Patient/1", patient_json("1")),
                 entry_of("PUT", "Composition/1", document),
                 entry_of("GET", "ValueSet/$expand?url=http://x/values|1"),
                 entry_of("GET", "ValueSet/before/$expand"),
                 entry_of("GET", "CodeSystem/codes/_history/1"),
                 entry_of("GET", "CodeSystem/codes/_history"),
                 entry_of("GET", "CodeSystem/$lookup?system=http://x/codes&code=a"),
                 entry_of("GET", "Observation?code:in=http://x/values"),
                 entry_of("GET", "Observation?code:below=http://x/codes|a"),
                 entry_of("GET", "Composition/$document?id=1"),
                 entry_of("GET", "$diff?from=http://test/fhir/Patient/1/_history/1&to=Patient/1"),
                 entry_of("GET", "CodeSystem/$lookup?system=http://x/codes&code=none"),
                 entry_of("GET", "Observation?code:in=ValueSet/before")}))
            .body);
    // What fails even then fails alone, because the transaction is done.
    EXPECT_EQ(bundle.statuses(), "201 201 201 201 404 200 200 200 200 200 200 200 200 404 200");
    EXPECT_EQ(bundle.entry(5)["resource"]["expansion"]["contains"].size(), 1U);
    EXPECT_EQ(bundle.entry(11)["resource"]["entry"].size(), 2U);
}

TEST(Transaction, AsksOperationsAboutWhatItPutsRight) {
    TestService server;
    const auto values_of = [](std::string_view more) {
        return fmt::format(
            R"({{"resourceType":"ValueSet","id":"v","status":"active","url":"http://x/v",
            "compose":{{"include":[{{"system":"http://x/absent"{}}}]}}}})",
            more);
    };
    server.put("/ValueSet/v", values_of(""));
    EXPECT_EQ(server.get("/ValueSet/v/$expand").status, 422);
    const std::string right = values_of(R"(,"concept":[{"code":"a"}])");
    const Json bundle(
        server
            .submit(bundle_of("transaction", {entry_of("GET", "ValueSet/$expand?url=http://x/v"),
                                              entry_of("PUT", "ValueSet/v", right)}))
            .body);
    EXPECT_EQ(bundle.statuses(), "200 200");
}

TEST(Transaction, ExpandsWhatItsOwnWritesMakeWhole) {
    TestService server;
    const auto codes_of = [](std::string_view version, std::string_view content) {
        return fmt::format(R"({{"resourceType":"CodeSystem","id":"c","status":"active",
            "url":"http://x/c","version":"{}",{}}})",
                           version, content);
    };
    const auto values_of = [](std::string_view id, std::string_view more) {
        return fmt::format(R"({{"resourceType":"ValueSet","id":"{}","status":"active",
            "url":"http://x/{}"{}}})",
                           id, id, more);
    };
    const std::string all = R"(,"compose":{"include":[{"system":"http://x/c"}]})";
    const std::string inner = R"(,"compose":{"include":[{"valueSet":["http://x/w"]}]})";
    const std::string whole = codes_of("2", R"("content":"complete","concept":[{"code":"a"}])");
    server.put("/ValueSet/v", values_of("v", all));
    server.put("/ValueSet/w", values_of("w", ""));
    server.put("/ValueSet/u", values_of("u", inner));
    for (const auto& [url, write] : std::vector<std::pair<std::string, std::string>>{
             {"ValueSet/v/$expand?system-version=http://x/c|2", "CodeSystem/c"},
             {"ValueSet/v/$expand", "CodeSystem/c"},
             {"Observation?code:in=http://x/v", "CodeSystem/c"},
             {"ValueSet/u/$expand", "ValueSet/w"}}) {
        const bool has_codes = write == "ValueSet/w";
        const std::string body = has_codes ? values_of("w", all) : whole;
        server.put("/CodeSystem/c",
                   has_codes ? whole : codes_of("1", R"("content":"not-present")"));
        EXPECT_GE(server.get("/" + url).status, 400) << url;
        const Json bundle(server
                              .submit(bundle_of("transaction", {entry_of("GET", url),
                                                                entry_of("PUT", write, body)}))
                              .body);
        EXPECT_EQ(bundle.statuses(), "200 200") << url;
    }
}

TEST(Transaction, FailsByReadsThatLackWhatItDoesNotWrite) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string values =
        R"({"resourceType":"ValueSet","id":"v","status":"active","url":"http://x/v"})";
    for (const auto& [url, code] : std::vector<std::pair<std::string, std::string>>{
             {"ValueSet/$expand?url=http://x/other", "not-found"},
             {"Observation?code:in=http://x/other", "invalid"},
             {"Patient?birthdate=http", "invalid"},
             // The fault names what is written, but writing it doesn't help.
             {"Patient?_count=ValueSet/v", "invalid"},
             // What is written or deleted won't have these, either.
             {"ValueSet/v/_history/2", "not-found"},
             {"ValueSet/v/_history?_since=http", "invalid"},
             {"ValueSet/v/$none", "invalid"},
             {"Observation/$lastn?patient=ValueSet/v", "required"},
             {"Patient/1/Observation?date=http", "invalid"},
             {"$diff?from=Patient/1/_history/1&to=Patient/1/_history/2", "not-found"}}) {
        expect_failure(
            server.submit(bundle_of("transaction",
                                    {entry_of("GET", url), entry_of("PUT", "ValueSet/v", values),
                                     entry_of("DELETE", "Patient/1")})),
            code, "Bundle.entry[0] GET " + url);
    }
    EXPECT_EQ(server.get("/ValueSet/v").status, 404);
}

TEST(Transaction, IsNotAppliedWhereThereIsNoRoomForWhatItReads) {
    TestService server(with_little_room());
    server.put("/Patient/1", long_patient("1", 10'000));
    std::vector<std::string> entries(8, entry_of("GET", "Patient/1"));
    entries[0] = entry_of("PUT", "Patient/2", patient_json("2"));
    expect_failure(server.submit(bundle_of("transaction", entries)), "too-costly",
                   "Bundle.entry[7] GET Patient/1: 422 ");
    entries[0] = entry_of("PUT", "Patient/2", long_patient("2", 10'000));
    expect_failure(server.submit(bundle_of("transaction", entries)), "too-costly",
                   "Bundle.entry[6] GET Patient/1: 422 ");
    EXPECT_EQ(server.get("/Patient/2").status, 404);
    entries.resize(6);
    EXPECT_EQ(Json(server.submit(bundle_of("transaction", entries)).body).statuses(),
              "201 200 200 200 200 200");
}

TEST(Transaction, SaysWhatItDidWhereThereIsNoRoomForAllOfIt) {
    TestService server(with_little_room());
    std::vector<std::string> writes;
    for (const std::string id : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
        writes.push_back(entry_of("PUT", "Patient/" + id, long_patient(id, 10'000)));
    }
    const Json written(server.submit(bundle_of("transaction", writes)).body);
    EXPECT_EQ(written.statuses(), "201 201 201 201 201 201 201 201");
    EXPECT_TRUE(written.entry(5)["resource"]);
    EXPECT_FALSE(written.entry(6)["resource"]);
    EXPECT_EQ(written.entry(6)["response"]["etag"].string(), "W/\"1\"");
    EXPECT_FALSE(written.entry(6)["response"]["outcome"]);

    // The length of an answer that depends on the new state is only known once that exists.
    std::vector<std::string> reads(9, entry_of("GET", "Patient/1"));
    reads[0] = writes[0];
    const Json read(server.submit(bundle_of("transaction", reads)).body);
    EXPECT_EQ(read.statuses(), "200 200 200 200 200 200 422 422 422");
    EXPECT_EQ(read.issue(8, "code"), "too-costly");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{2});
}

TEST(Transaction, TriesItsReadsAlsoWhereItHadToBeginAnew) {
    TestService server;
    server.put("/Patient/1", patient_json("1"));
    const std::string nothing =
        R"({"resourceType":"Binary","contentType":"application/json-patch+json","data":"W10="})";
    // The patch waits for the update, which is in flight at the first attempt.
    const auto answers =
        server.send_all({{HttpMethod::put, "/Patient/1", {}, patient_json("1")},
                         {HttpMethod::post,
                          "",
                          {},
                          bundle_of("transaction", {entry_of("PATCH", "Patient/1", nothing),
                                                    entry_of("GET", "Patient/absent")})}});
    EXPECT_EQ(answers[0].status, 200) << answers[0].body;
    expect_failure(answers[1], "not-found", "Bundle.entry[1] GET Patient/absent: 404 ");
    EXPECT_EQ(server.get("/Patient/1").etag, VersionNumber{2});
}

// Requests sent at once are committed as one group, which is visible as a whole when the first is answered.
TEST(Transaction, ReadsWhatItLeftAndNothingThatWasCommittedBehindIt) {
    TestService server;
    std::vector<Sent> all;
    for (int i = 1; i <= 16; ++i) {
        const std::string id = fmt::format("{}", i);
        all.push_back({HttpMethod::post,
                       "",
                       {},
                       bundle_of("transaction", {entry_of("PUT", "Patient/" + id, patient_json(id)),
                                                 entry_of("GET", "Patient?_count=1"),
                                                 entry_of("GET", "Patient/_history?_count=1")})});
    }
    std::vector<std::string> totals;
    for (const Received& answer : server.send_all(all)) {
        ASSERT_EQ(answer.status, 200) << answer.body;
        const Json bundle(answer.body);
        totals.emplace_back(bundle.entry(1)["resource"]["total"].raw());
        EXPECT_EQ(bundle.entry(2)["resource"]["total"].raw(), totals.back());
    }
    std::ranges::sort(totals);
    EXPECT_EQ(std::ranges::adjacent_find(totals), totals.end());  // each saw one more than another
}

TEST(Transaction, ReadsAResourceAsItWasWhenItCommitted) {
    TestService server;
    server.put("/Patient/0", patient_json("0"));
    const auto answers =
        server.send_all({{HttpMethod::post,
                          "",
                          {},
                          bundle_of("transaction", {entry_of("PUT", "Patient/1", patient_json("1")),
                                                    entry_of("GET", "Patient/0")})},
                         {HttpMethod::put, "/Patient/0", {}, patient_json("0")}});
    ASSERT_EQ(answers[0].status, 200) << answers[0].body;
    const TypeId type = *find_resource_type("Patient");
    const auto written = server.store().current(type, "1");
    const auto other = server.store().current(type, "0");
    ASSERT_TRUE(written && other);
    EXPECT_EQ(Json(answers[0].body).entry(1)["response"]["etag"].string(),
              other->position < written->position ? "W/\"2\"" : "W/\"1\"");
}

}  // namespace
}  // namespace annals::core
