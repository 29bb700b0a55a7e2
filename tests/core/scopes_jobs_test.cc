// Scopes and jobs: who may learn of a job that somebody has begun.

#include "tests/core/scopes_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

TEST_F(ScopesTest, LeaveToWhoBeganItAJobOfAnotherPart) {
    fill();
    const Answer begun =
        send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
             {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string status = begun.content_location.substr(kBaseUrl.size());
    const Principal same("x", "patient/*.cruds", "m");
    send_as(&same);
    EXPECT_NE(send("GET", status).status, 404);
    // Both have the same name.
    send_as(&theirs_);
    EXPECT_EQ(send("GET", status).status, 404);
    EXPECT_EQ(send("DELETE", status).status, 404);

    // The same for a token that permits less than the one that began the job; what it permits besides doesn't matter.
    const Principal wide("w", "system/*.s system/Observation.r");
    send_as(&wide);
    const Answer wider =
        send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
             {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(wider.status, 202) << wider.body;
    const std::string of_wider = wider.content_location.substr(kBaseUrl.size());
    for (const auto& [scopes, seen] : std::vector<std::pair<std::string_view, bool>>{
             {"", false},
             {"openid", false},
             {"system/*.s", false},
             {"system/Observation.rs", false},
             {"user/*.rs", true},
             {"system/*.s system/Observation.read", true}}) {
        const Principal again("w", scopes);
        send_as(&again);
        EXPECT_EQ(send("GET", of_wider).status != 404, seen) << scopes;
    }

    // What is done to the whole store is not learned of with scopes of what a person may do, also not by who began it.
    for (const std::string_view scopes : {"system/*.cruds", "user/*.cruds system/*.cud"}) {
        const Principal administrator("a", scopes);
        send_as(&administrator);
        const Answer of_all =
            send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
                 {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
        ASSERT_EQ(of_all.status, 202) << of_all.body;
        const std::string of_system = of_all.content_location.substr(kBaseUrl.size());
        const Principal person("a", "user/*.cruds");
        send_as(&person);
        EXPECT_EQ(send("GET", of_system).status, 404) << scopes;
        EXPECT_EQ(send("DELETE", of_system).status, 404) << scopes;
        send_as(&administrator);
        EXPECT_NE(send("GET", of_system).status, 404) << scopes;
    }

    // Of others' jobs only administrators learn.
    for (const auto& [scopes, seen] : std::vector<std::pair<std::string_view, bool>>{
             {"user/*.cruds", false}, {"system/*.cruds", true}}) {
        const Principal other("o", scopes);
        send_as(&other);
        EXPECT_EQ(send("GET", of_wider).status != 404, seen) << scopes;
    }

    // Two callers without names are not the same.
    const Principal nameless("", "patient/*.cruds", "m");
    send_as(&nameless);
    const Answer another =
        send("POST", "/", bundle("batch", entry("GET", "Observation/m-o1")),
             {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(another.status, 202) << another.body;
    EXPECT_EQ(send("GET", another.content_location.substr(kBaseUrl.size())).status, 404);
}

TEST_F(ScopesTest, DoNotLetOthersQuestionsAboutAJobCount) {
    std::string lines;
    for (int i = 0; i < 20'000; ++i) {
        lines += "{\"resourceType\":\"Patient\"}\n";
    }
    send_as(&everybody_);
    const Answer begun =
        send("POST", "/$import", lines,
             {{"Content-Type", "application/fhir+ndjson"}, {"Prefer", "respond-async"}});
    ASSERT_EQ(begun.status, 202) << begun.body;
    const std::string status = begun.content_location.substr(kBaseUrl.size());
    send_as(&theirs_);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(send("GET", status).status, 404) << i;
    }
    send_as(&everybody_);
    EXPECT_NE(send("GET", status).status, 429);
}

}  // namespace
}  // namespace annals::core
