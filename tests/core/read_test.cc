#include "tests/support/service_fixture.h"

#include <fmt/format.h>

namespace annals::test {
namespace {

class Read : public ServiceFixture {};

class Vread : public ServiceFixture {};

TEST_F(Read, AnswersTheStoredBytesWithTheirVersion) {
    ASSERT_EQ(put_patient("1", "Chalmers"), 201);
    const Answer answer = send("GET", "/Patient/1");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.etag, 1U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_EQ(answer.content_location, "");
    std::string when(kInstantChars, ' ');
    write_instant(answer.last_modified, when.data());
    EXPECT_EQ(answer.body, fmt::format(R"({{"resourceType":"Patient","id":"1","meta":{{)"
                                       R"("versionId":"1","lastUpdated":"{}"}},)"
                                       R"("name":[{{"family":"Chalmers"}}]}})",
                                       when));
}

TEST_F(Read, TakesATrailingSlash) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(send("GET", "/Patient/1/").status, 200);
}

TEST_F(Read, PassesOverParametersThatItDoesNotKnow) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(send("GET", "/Patient/1?other=1").status, 200);
}

TEST_F(Read, AnswersHeadLikeGet) {
    ASSERT_EQ(put_patient("1"), 201);
    EXPECT_EQ(send("HEAD", "/Patient/1").status, 200);
    EXPECT_EQ(send("HEAD", "/Patient/1").etag, 1U);
    EXPECT_EQ(send("HEAD", "/Patient/2").status, 404);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("HEAD", "/Patient/1").status, 410);
}

TEST_F(Read, AnswersNotFoundForWhatNeverWas) {
    const Answer answer = send("GET", "/Patient/1");
    EXPECT_EQ(answer.status, 404);
    EXPECT_TRUE(answer.says(R"("code":"not-found")"));
    EXPECT_TRUE(answer.says("Patient/1 does not exist"));
    EXPECT_EQ(answer.etag, 0U);
}

TEST_F(Read, TellsIdsApartByCase) {
    ASSERT_EQ(put_patient("a"), 201);
    EXPECT_EQ(send("GET", "/Patient/A").status, 404);
}

TEST_F(Read, AnswersGoneWithTheDeletionsVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    const Answer answer = send("GET", "/Patient/1");
    EXPECT_EQ(answer.status, 410);
    EXPECT_EQ(answer.etag, 3U);
    EXPECT_TRUE(answer.has_last_modified);
    EXPECT_TRUE(answer.says(R"("code":"deleted")"));
    EXPECT_TRUE(answer.says("Patient/1 was deleted at "));
    EXPECT_TRUE(answer.says("; last content is version 2"));
}

TEST_F(Read, AnswersNotModifiedToWhoHasTheVersion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(put_patient("1"), 200);

    struct Case {
        std::string condition;
        int status;
    };

    for (const auto& [condition, status] : std::vector<Case>{{R"(W/"2")", 304},
                                                             {R"("2")", 304},
                                                             {"2", 304},
                                                             {"*", 304},
                                                             {R"(W/"1", W/"2")", 304},
                                                             {R"("1","2")", 304},
                                                             {R"("2",)", 304},
                                                             {R"(, W/"1" ,,W/"2", ,)", 304},
                                                             {R"("1" "2")", 200},
                                                             {", ,", 200},
                                                             {R"(W/"1")", 200},
                                                             {R"(W/"02")", 200},
                                                             {R"(W/"abc")", 200},
                                                             {R"(W/"2)", 200},
                                                             {"nonsense", 200}}) {
        const Answer answer = send("GET", "/Patient/1", "", {{"If-None-Match", condition}});
        EXPECT_EQ(answer.status, status) << condition;
        EXPECT_EQ(answer.etag, 2U) << condition;
        EXPECT_EQ(answer.body.empty(), status == 304) << condition;
    }
}

TEST_F(Read, ComparesIfModifiedSinceBySeconds) {
    ASSERT_EQ(put_patient("1"), 201);
    const Instant instant = send("GET", "/Patient/1").last_modified;
    const auto at = [&](std::int64_t seconds) {
        const Instant date{instant.us + seconds * 1'000'000};
        return send("GET", "/Patient/1", "", {{"If-Modified-Since", format_http_date(date)}})
            .status;
    };
    EXPECT_EQ(at(-1), 200);
    EXPECT_EQ(at(0), 304);
    EXPECT_EQ(at(1), 304);
    EXPECT_EQ(send("GET", "/Patient/1", "", {{"If-Modified-Since", "yesterday"}}).status, 200);
}

TEST_F(Read, IsNotModifiedSinceItsSecondBefore1970Either) {
    ASSERT_EQ(send("POST", "/",
                   R"({"resourceType":"Bundle","type":"history","entry":[{"resource":)"
                   R"({"resourceType":"Patient","id":"1","meta":)"
                   R"({"versionId":"1","lastUpdated":"1969-12-31T23:59:58.5Z"}}}]})",
                   {{"Content-Type", "application/fhir+json"}})
                  .status,
              200);
    const auto at = [&](std::string_view name, std::string date) {
        return send("GET", "/Patient/1", "", {{std::string(name), std::move(date)}}).status;
    };
    EXPECT_EQ(at("If-Modified-Since", "Wed, 31 Dec 1969 23:59:57 GMT"), 200);
    EXPECT_EQ(at("If-Modified-Since", "Wed, 31 Dec 1969 23:59:58 GMT"), 304);
    EXPECT_EQ(at("If-Modified-Since", "Wed, 31 Dec 1969 23:59:59 GMT"), 304);
}

TEST_F(Read, LetsIfNoneMatchBeatIfModifiedSince) {
    ASSERT_EQ(put_patient("1"), 201);
    const std::string later = format_http_date(Instant{now().us + 100'000'000});
    EXPECT_EQ(
        send("GET", "/Patient/1", "", {{"If-None-Match", R"(W/"7")"}, {"If-Modified-Since", later}})
            .status,
        200);
}

TEST_F(Read, DoesNotAnswerNotModifiedForADeletion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1", "", {{"If-None-Match", R"(W/"2")"}}).status, 410);
}

TEST_F(Vread, AnswersEveryVersionForAYear) {
    ASSERT_EQ(put_patient("1", "First"), 201);
    ASSERT_EQ(put_patient("1", "Second"), 200);
    for (const int version : {1, 2}) {
        const Answer answer = send("GET", fmt::format("/Patient/1/_history/{}", version));
        EXPECT_EQ(answer.status, 200);
        EXPECT_EQ(answer.etag, static_cast<std::uint64_t>(version));
        EXPECT_TRUE(answer.has_last_modified);
        EXPECT_TRUE(answer.says(version == 1 ? "First" : "Second"));
        EXPECT_EQ(answer.cache_control, "public, max-age=31536000, immutable");
    }
    EXPECT_EQ(send("HEAD", "/Patient/1/_history/1").status, 200);
}

TEST_F(Vread, ReadsTheVersionsOfADeletedResourceButNotItsDeletion) {
    ASSERT_EQ(put_patient("1"), 201);
    ASSERT_EQ(send("DELETE", "/Patient/1").status, 204);
    EXPECT_EQ(send("GET", "/Patient/1/_history/1").status, 200);
    const Answer answer = send("GET", "/Patient/1/_history/2");
    EXPECT_EQ(answer.status, 410);
    EXPECT_EQ(answer.etag, 2U);
    EXPECT_TRUE(answer.says(R"("code":"deleted")"));
    EXPECT_EQ(answer.cache_control, "");
}

TEST_F(Vread, AnswersNotFoundForOtherVersions) {
    ASSERT_EQ(put_patient("1"), 201);
    for (const std::string version : {"0", "2", "01", "-1", "abc", "1.0", "99999999999999999999"}) {
        const Answer answer = send("GET", "/Patient/1/_history/" + version);
        EXPECT_EQ(answer.status, 404) << version;
        EXPECT_TRUE(answer.says(R"("code":"not-found")")) << version;
    }
    EXPECT_EQ(send("GET", "/Patient/2/_history/1").status, 404);
}

TEST_F(Vread, CanBeSwitchedOff) {
    ASSERT_EQ(put_patient("1"), 201);
    core::Config config;
    config.interactions.instance_vread = false;
    restart(config);
    const Answer answer = send("GET", "/Patient/1/_history/1");
    EXPECT_EQ(answer.status, 405);
    EXPECT_TRUE(answer.says(R"("code":"not-supported")"));
    EXPECT_FALSE(send("GET", "/metadata").says(R"({"code":"vread"})"));
}

}  // namespace
}  // namespace annals::test
