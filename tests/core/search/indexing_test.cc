#include "core/search/indexing.h"

#include "core/search/terms.h"
#include "tests/support/commits.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace annals::core::search {
namespace {

using test::type_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Indexing : public test::ServiceFixture {
  protected:
    /// Keys of the live versions with a term.
    std::vector<std::uint64_t> found(std::string_view of, Term term) {
        std::vector<std::uint64_t> keys;
        const auto runs = store().search(type_of(of));
        for (const auto& run : runs->runs) {
            const auto postings = run->postings(term);
            for (std::uint32_t document = 0; document < run->size(); ++document) {
                const bool is_current = run->died_at(document).value == UINT64_MAX;
                if (is_current && postings.contains(document)) {
                    keys.push_back(run->key(document));
                }
            }
        }
        return keys;
    }

    std::uint64_t key(std::string_view of, std::string_view id) {
        return store().search_key(type_of(of), id);
    }

    std::vector<std::uint64_t> families(std::string_view family) {
        return found("Patient", exact(column_of("family"), family));
    }

    std::vector<std::uint64_t> eyes(std::string_view color) {
        return found("Patient", token(column_of("eyes"), color));
    }

    const Parameter* eyes_parameter() {
        return service().indexing().parameters()->find(type_of("Patient"), "eyes");
    }

    int put_eyes(std::string_view id, std::string_view color) {
        return send("PUT", "/Patient/" + std::string(id),
                    R"({"resourceType":"Patient","id":")" + std::string(id) +
                        R"(","extension":[{"url":"http://e","valueCode":")" + std::string(color) +
                        R"("},{"url":"http://f","valueCode":"other"}]})")
            .status;
    }

    int put_parameter(std::string_view url = "http://e", std::string_view status = "active",
                      std::string_view search_type = "token") {
        return send("PUT", "/SearchParameter/eyes",
                    R"({"resourceType":"SearchParameter","id":"eyes","url":"http://p","name":"eyes",
                    "status":")" +
                        std::string(status) + R"(","description":"d","code":"eyes",
                    "base":["Patient"],"type":")" +
                        std::string(search_type) + R"(","expression":"Patient.extension(')" +
                        std::string(url) + R"(').value"})")
            .status;
    }

    /// A composite of what `definition` finds in the gender, and the date of birth.
    int put_composite(std::string_view definition) {
        return send("PUT", "/SearchParameter/eyes",
                    R"({"resourceType":"SearchParameter","id":"eyes","url":"http://p","name":"eyes",
                    "status":"active","description":"d","code":"eyes","base":["Patient"],
                    "type":"composite","expression":"Patient","component":[
                    {"definition":"http://hl7.org/fhir/SearchParameter/)" +
                        std::string(definition) + R"(","expression":"gender"},
                    {"definition":"http://hl7.org/fhir/SearchParameter/individual-birthdate",
                     "expression":"birthDate"}]})")
            .status;
    }

    /// A parameter whose expression is invalid.
    int put_bad_parameter() {
        return send("PUT", "/SearchParameter/bad",
                    R"({"resourceType":"SearchParameter","id":"bad","url":"http://bad","name":"bad",
                    "status":"active","description":"d","code":"bad","base":["Patient"],"type":"token",
                    "expression":"Patient.("})")
            .status;
    }
};

TEST_F(Indexing, FindsWhatIsCreatedUpdatedAndPatched) {
    ASSERT_EQ(put_patient("a", "Chalmers"), 201);
    EXPECT_THAT(families("Chalmers"), ElementsAre(key("Patient", "a")));
    ASSERT_EQ(put_patient("a", "Windsor"), 200);
    EXPECT_THAT(families("Chalmers"), IsEmpty());
    EXPECT_THAT(families("Windsor"), ElementsAre(key("Patient", "a")));
    ASSERT_EQ(send("PATCH", "/Patient/a",
                   R"([{"op":"replace","path":"/name/0/family","value":"Patched"}])",
                   {{"Content-Type", "application/json-patch+json"}})
                  .status,
              200);
    EXPECT_THAT(families("Patched"), ElementsAre(key("Patient", "a")));
    ASSERT_EQ(send("DELETE", "/Patient/a").status, 204);
    EXPECT_THAT(families("Patched"), IsEmpty());
}

TEST_F(Indexing, FindsReferencesOfATransactionAsTheyAreStored) {
    const auto answer = send("POST", "", R"({"resourceType":"Bundle","type":"transaction","entry":[
        {"fullUrl":"urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0","resource":{"resourceType":"Patient",
        "id":"p","name":[{"family":"Moved"}]},"request":{"method":"PUT","url":"Patient/p"}},
        {"resource":{"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},"subject":{
        "reference":"urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"}},
        "request":{"method":"PUT","url":"Observation/o"}}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(families("Moved"), ElementsAre(key("Patient", "p")));
    EXPECT_THAT(found("Observation", reference(column_of("patient"), key("Patient", "p"))),
                ElementsAre(key("Observation", "o")));
}

TEST_F(Indexing, FindsAnAbsoluteReferenceWithoutAConfiguredBase) {
    ASSERT_EQ(send("PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},
                   "subject":{"reference":"http://test/fhir/Patient/1"}})")
                  .status,
              201);
    EXPECT_TRUE(
        send("GET", "/Observation?subject=http://test/fhir/Patient/1").says("Observation/o"));
    EXPECT_FALSE(
        send("GET", "/Observation?subject=http://test/fhir/Patient/2").says("Observation/o"));
}

TEST_F(Indexing, FindsAnAbsoluteReferenceWithItsVersionWithoutAConfiguredBase) {
    ASSERT_EQ(send("PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},
                   "subject":{"reference":"http://test/fhir/Patient/1/_history/2"}})")
                  .status,
              201);
    for (const std::string subject : {"http://test/fhir/Patient/1/_history/2",
                                      "Patient/1/_history/2", "1/_history/2", "Patient/1"}) {
        EXPECT_TRUE(send("GET", "/Observation?subject=" + subject).says("Observation/o"))
            << subject;
    }
    EXPECT_FALSE(send("GET", "/Observation?subject=Patient/1/_history/1").says("Observation/o"));
}

TEST_F(Indexing, IsAskedByASearchParameterThatIsReady) {
    ASSERT_EQ(put_eyes("a", "blue"), 201);
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    service().indexing().wait_until_idle();
    EXPECT_TRUE(send("GET", "/Patient?eyes=blue").says("Patient/a"));
    EXPECT_TRUE(send("GET", "/metadata").says(R"("name":"eyes")"));
}

TEST_F(Indexing, FollowsATransactionThatErasesASearchParameterAndBringsAnother) {
    core::Config config;
    config.hard_delete = true;
    restart(config);
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    const auto answer = send("POST", "", R"({"resourceType":"Bundle","type":"transaction","entry":[
        {"request":{"method":"DELETE","url":"SearchParameter/eyes"}},
        {"resource":{"resourceType":"SearchParameter","id":"hair","url":"http://h","name":"hair",
        "status":"active","description":"d","code":"hair","base":["Patient"],"type":"token",
        "expression":"Patient.extension('http://h').value"},
        "request":{"method":"PUT","url":"SearchParameter/hair"}}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(eyes_parameter(), nullptr);
    EXPECT_NE(service().indexing().parameters()->find(type_of("Patient"), "hair"), nullptr);
}

TEST_F(Indexing, FindsWhatAHistoryBundleBrings) {
    const auto answer = send("POST", "", R"({"resourceType":"Bundle","type":"history","entry":[
        {"fullUrl":"http://x/Patient/h","resource":{"resourceType":"Patient","id":"h","meta":{"versionId":"7",
        "lastUpdated":"2020-01-01T00:00:00Z"},"name":[{"family":"Past"}]},
        "request":{"method":"PUT","url":"Patient/h"},"response":{"status":"200"}}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(families("Past"), ElementsAre(key("Patient", "h")));
}

TEST_F(Indexing, FindsTheSameAfterARestart) {
    ASSERT_EQ(put_patient("a", "Chalmers"), 201);
    ASSERT_EQ(put_parameter(), 201);
    service().indexing().wait_until_idle();
    ASSERT_EQ(put_eyes("b", "blue"), 201);
    restart(core::Config());
    EXPECT_THAT(families("Chalmers"), ElementsAre(key("Patient", "a")));
    EXPECT_THAT(eyes("blue"), ElementsAre(key("Patient", "b")));
    ASSERT_NE(eyes_parameter(), nullptr);
    EXPECT_TRUE(eyes_parameter()->ready);
}

TEST_F(Indexing, IndexesAnewWhereTheTimeZoneIsAnother) {
    ASSERT_EQ(send("PUT", "/Observation/day",
                   R"({"resourceType":"Observation","id":"day","status":"final",
                   "code":{"text":"x"},"effectiveDateTime":"2019-11-01"})")
                  .status,
              201);
    const auto before_utc = [this] {
        const auto answer = send("GET", "/Observation?date=le2019-10-31T23:00:00Z&_count=0");
        return answer.body.find("\"total\":1") != std::string::npos;
    };
    EXPECT_FALSE(before_utc());
    Config config;
    config.search_time_zone = "Australia/Sydney";
    restart(config);
    EXPECT_TRUE(before_utc());
    restart(config);
    EXPECT_TRUE(before_utc());
    restart(Config());
    EXPECT_FALSE(before_utc());
}

TEST_F(Indexing, IndexesAnewWhereTheBaseIsAnother) {
    ASSERT_EQ(put_patient("a", "Chalmers"), 201);
    ASSERT_EQ(send("PUT", "/Observation/o",
                   R"({"resourceType":"Observation","id":"o","status":"final","code":{"text":"x"},
                   "subject":{"reference":"http://test/fhir/Patient/a"}})")
                  .status,
              201);
    const auto is_link = [this] {
        return send("GET", "/Observation?subject:Patient.family=chalmers").says("Observation/o");
    };
    EXPECT_FALSE(is_link());
    Config config;
    config.base_url = "http://test/fhir";
    restart(config);
    EXPECT_TRUE(is_link());
    restart(config);
    EXPECT_TRUE(is_link());
    restart(Config());
    EXPECT_FALSE(is_link());
}

TEST_F(Indexing, MakesUpAtTheStartForWhatWasInterrupted) {
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(put_eyes("p" + std::to_string(i), "blue"), 201);
    }
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    restart(core::Config());
    EXPECT_TRUE(eyes_parameter()->ready);
    EXPECT_EQ(eyes("blue").size(), 50u);
}

TEST_F(Indexing, TakesASearchParameterAndIndexesWhatIsThere) {
    ASSERT_EQ(put_eyes("a", "blue"), 201);
    ASSERT_EQ(put_eyes("b", "brown"), 201);
    EXPECT_EQ(eyes_parameter(), nullptr);
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    service().indexing().wait_until_idle();
    EXPECT_TRUE(eyes_parameter()->ready);
    EXPECT_THAT(eyes("blue"), ElementsAre(key("Patient", "a")));
    EXPECT_THAT(eyes("other"), IsEmpty());
    ASSERT_EQ(put_eyes("c", "blue"), 201);
    EXPECT_THAT(eyes("blue"), UnorderedElementsAre(key("Patient", "a"), key("Patient", "c")));
    // What could be found without it still can.
    EXPECT_THAT(found("Patient", identity(key("Patient", "a"))), ElementsAre(key("Patient", "a")));
}

TEST_F(Indexing, TakesASearchParameterThoughNobodyWritesOrSearches) {
    ASSERT_EQ(put_eyes("a", "blue"), 201);
    ASSERT_EQ(put_parameter(), 201);
    for (int i = 0; i < 1000 && eyes("blue").empty(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(eyes("blue"), ElementsAre(key("Patient", "a")));
}

TEST_F(Indexing, FollowsAChangedSearchParameter) {
    ASSERT_EQ(put_eyes("a", "blue"), 201);
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    ASSERT_EQ(put_parameter("http://f"), 200);
    ASSERT_NE(eyes_parameter(), nullptr);
    service().indexing().wait_until_idle();
    EXPECT_TRUE(eyes_parameter()->ready);
    EXPECT_THAT(eyes("blue"), IsEmpty());
    EXPECT_THAT(eyes("other"), ElementsAre(key("Patient", "a")));
    ASSERT_EQ(put_parameter("http://f", "retired"), 200);
    EXPECT_EQ(eyes_parameter(), nullptr);
    service().indexing().wait_until_idle();
    ASSERT_EQ(put_parameter(), 200);
    ASSERT_EQ(send("DELETE", "/SearchParameter/eyes").status, 204);
    EXPECT_EQ(eyes_parameter(), nullptr);
}

TEST_F(Indexing, IsNotAskedByAChangedSearchParameterBeforeWhatIsThereIsIndexed) {
    ASSERT_EQ(put_parameter(), 201);
    const auto changed_is_ready = [&](auto change) {
        EXPECT_TRUE(eyes_parameter() != nullptr);
        service().indexing().wait_until_idle();
        EXPECT_TRUE(eyes_parameter()->ready);
        // As if a writer held the earlier parameters: nothing is reindexed in the meantime.
        const auto held = service().indexing().epoch();
        EXPECT_EQ(change(), 200);
        return eyes_parameter()->ready;
    };
    EXPECT_TRUE(changed_is_ready([&] { return put_parameter(); }));
    EXPECT_FALSE(changed_is_ready([&] { return put_parameter("http://f"); }));
    EXPECT_FALSE(changed_is_ready([&] { return put_parameter("http://f", "active", "string"); }));
    EXPECT_FALSE(changed_is_ready([&] { return put_composite("individual-gender"); }));
    EXPECT_FALSE(changed_is_ready([&] { return put_composite("Patient-active"); }));
}

TEST_F(Indexing, UsesTheParameterThatWasDefinedFirst) {
    for (const std::string_view element : {"family", "given"}) {
        ASSERT_EQ(send("PUT", fmt::format("/SearchParameter/by-{}", element),
                       fmt::format(R"({{"resourceType":"SearchParameter","id":"by-{0}",)"
                                   R"("url":"http://p/{0}","name":"n","status":"active",)"
                                   R"("description":"d","code":"called","base":["Patient"],)"
                                   R"("type":"string","expression":"Patient.name.{0}"}})",
                                   element))
                      .status,
                  201);
    }
    ASSERT_NE(service().indexing().parameters()->find(type_of("Patient"), "called"), nullptr);
    service().indexing().wait_until_idle();
    ASSERT_EQ(put_patient("p", "Chalmers"), 201);
    EXPECT_THAT(found("Patient", exact(column_of("called"), "Chalmers")),
                ElementsAre(key("Patient", "p")));
}

TEST_F(Indexing, SaysWhatIsWrongWithASearchParameter) {
    ASSERT_EQ(put_bad_parameter(), 201);
    EXPECT_EQ(service().indexing().parameters()->find(type_of("Patient"), "bad"), nullptr);
    ASSERT_EQ(service().indexing().faults().size(), 1u);
    EXPECT_EQ(service().indexing().faults()[0].expression, "SearchParameter/bad");
}

TEST_F(Indexing, IsDoneOnlyWhereSearchParametersThatNobodyHasAskedByAreAsWell) {
    ASSERT_EQ(put_eyes("a", "blue"), 201);
    ASSERT_EQ(put_parameter(), 201);
    test::Answer asked = send("GET", "/$reindex");
    for (int i = 0; i < 1000 && asked.status == 202; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        asked = send("GET", "/$reindex");
    }
    ASSERT_EQ(asked.status, 200) << asked.body;
    const auto found = send("GET", "/Patient?eyes=blue", {}, {{"Prefer", "handling=strict"}});
    EXPECT_EQ(found.status, 200) << found.body;
    EXPECT_TRUE(found.says(R"("total":1)")) << found.body;

    ASSERT_EQ(put_bad_parameter(), 201);
    asked = send("GET", "/$reindex");
    EXPECT_EQ(asked.status, 200);
    EXPECT_TRUE(asked.says("SearchParameter/bad")) << asked.body;
}

TEST_F(Indexing, IndexesAnewWhileOthersWrite) {
    for (int i = 0; i < 20; ++i) {
        ASSERT_EQ(put_eyes("before" + std::to_string(i), "blue"), 201);
    }
    std::thread writer([&] {
        for (int i = 0; i < 200; ++i) {
            put_eyes("during" + std::to_string(i), "blue");
        }
    });
    ASSERT_EQ(put_parameter(), 201);
    ASSERT_NE(eyes_parameter(), nullptr);
    writer.join();
    service().indexing().wait_until_idle();
    EXPECT_EQ(eyes("blue").size(), 220u);
}

TEST_F(Indexing, IsAskedForOneReindexAtATime) {
    ASSERT_EQ(put_patient("a", "Chalmers"), 201);
    const std::vector<TypeId> types = {type_of("Patient")};
    EXPECT_TRUE(service().indexing().reindex(types));
    service().indexing().wait_until_idle();
    EXPECT_FALSE(service().indexing().progress().running);
    EXPECT_THAT(families("Chalmers"), ElementsAre(key("Patient", "a")));
}

}  // namespace
}  // namespace annals::core::search
