#include "core/interactions/bundle.h"

#include "tests/core/bundle_fixture.h"

namespace annals::core {
namespace {

TEST(Bundle, IsRefusedAsAWholeWhenItIsNoBundleToSubmit) {
    TestService server;
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "invalid"},
        {"[]", "structure"},
        {"{}", "required"},
        {R"({"resourceType":"Patient"})", "invalid"},
        {R"({"resourceType":"Bundle"})", "required"},
        {R"({"resourceType":"Bundle","type":1})", "structure"},
        {R"({"resourceType":"Bundle","type":"transactions"})", "value"},
        {R"({"resourceType":"Bundle","type":"batch","entry":{}})", "structure"},
        {bundle_of("collection", {}), "invalid"},
        {bundle_of("searchset", {}), "invalid"},
        {bundle_of("document", {}), "invalid"},
        {bundle_of("message", {}), "invalid"},
        {R"({"resourceType":"Bundle","type":"batch","entry":[)", "invalid"},
        {R"({"resourceType":"Bundle","type":"batch","type":"batch"})", "invalid"},
        {bundle_of("batch", {entry_of("POST", "Patient", std::string(200, '['))}), "invalid"},
    };
    for (const auto& [body, code] : cases) {
        const Answer answer = server.submit(body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_EQ(Json(answer.body).issue("code"), code) << body;
    }
}

TEST(Bundle, MayBeEmpty) {
    TestService server;
    for (const std::string type : {"batch", "transaction", "history"}) {
        const Answer answer = server.submit(bundle_of(type, {}));
        EXPECT_EQ(answer.status, 200);
        const Json bundle(answer.body);
        EXPECT_EQ(bundle.root()["entry"].size(), 0U);
        EXPECT_EQ(bundle.root()["type"].string(),
                  type == "transaction" ? "transaction-response" : "batch-response");
    }
}

TEST(Bundle, IsRefusedBeyondTheLimitOfEntries) {
    Config config;
    config.limits.max_bundle_entries = 50'000;
    TestService server(config);
    for (const std::string_view type : {"batch", "transaction", "history"}) {
        const Answer answer = server.submit(
            bundle_of(type, std::vector<std::string>(50'001, entry_of("GET", "Patient/1"))));
        EXPECT_EQ(answer.status, 413);
        EXPECT_EQ(Json(answer.body).issue("code"), "too-costly");
    }
}

TEST(Bundle, OfTypeHistoryIsRefusedWhereItIsSwitchedOff) {
    Config by_body;
    by_body.allow_history_bundles = false;
    Config by_interaction;
    by_interaction.interactions.system_history_bundle = false;
    for (const Config& config : {by_body, by_interaction}) {
        TestService server(config);
        const Answer answer = server.submit(bundle_of("history", {}));
        EXPECT_EQ(answer.status, 405);
        EXPECT_EQ(Json(answer.body).issue("code"), "not-supported");
        EXPECT_EQ(server.submit(bundle_of("batch", {})).status, 200);
    }
}

TEST(Bundle, IsRefusedInAnotherMediaType) {
    TestService server;
    EXPECT_EQ(server
                  .send({HttpMethod::post,
                         "",
                         {},
                         bundle_of("batch", {}),
                         {{"Content-Type", "text/plain"}}})
                  .status,
              415);
}

}  // namespace
}  // namespace annals::core
