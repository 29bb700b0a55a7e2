// Shared by tests of $graphql: a store with an example, and queries of it.

#pragma once

#include "tests/core/bundle_fixture.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace annals::core {

class Graphql : public testing::Test {
  protected:
    void add(std::string_view type, std::string_view id, std::string_view members) {
        const Received answer =
            server_.put(fmt::format("/{}/{}", type, id),
                        fmt::format(R"({{"resourceType":"{}","id":"{}",{}}})", type, id, members));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }

    void add_example() {
        add("Organization", "o", R"("name":"Org")");
        add("Patient", "p",
            R"("active":true,"identifier":[{"system":"urn:s","value":"12345"}],"name":[)"
            R"({"use":"official","family":"Chalmers","given":["Peter","James"]},)"
            R"({"use":"usual","given":["Jim"]},)"
            R"({"use":"maiden","family":"Windsor","given":["Peter","James"]}],)"
            R"("birthDate":"1974-12-25","_birthDate":{"extension":[{"url":"http://t","valueString":"noon"}]},)"
            R"("managingOrganization":{"reference":"Organization/o"},)"
            R"("contained":[{"resourceType":"Practitioner","id":"gp","name":[{"family":"Doc"}]}],)"
            R"("generalPractitioner":[{"reference":"#gp"}])");
        for (int i = 1; i <= 5; ++i) {
            add("Observation", fmt::format("o{}", i),
                fmt::format(R"("status":"final","code":{{"text":"c{}"}},"subject":{{"reference":)"
                            R"("Patient/p"}},"valueQuantity":{{"value":{}.50,"unit":"mg"}})",
                            i, i));
        }
    }

    Received post(std::string path, std::string body, std::string type = "application/json") {
        return server_.send({HttpMethod::post,
                             std::move(path),
                             "",
                             std::move(body),
                             {{"Content-Type", std::move(type)}}});
    }

    /// `data`, or the first error's message and path if there are errors.
    static std::string told(const Received& answer) {
        EXPECT_EQ(answer.status, 200) << answer.body;
        const Json json(answer.body);
        for (const json::Value error : json.root()["errors"].elements()) {
            EXPECT_EQ(error["extensions"]["resource"]["resourceType"].string(), "OperationOutcome");
            return fmt::format("{} {}", error["message"].string(), error["path"].raw());
        }
        return std::string(json.root()["data"].raw());
    }

    std::string ask(std::string_view query) {
        return told(post("/$graphql", std::string(query), "application/graphql"));
    }

    std::string ask_of(std::string path, std::string_view query) {
        return told(post(path + "/$graphql", std::string(query), "application/graphql"));
    }

    std::string ask_patient(std::string_view query) { return ask_of("/Patient/p", query); }

    std::string data(std::string_view query) {
        const Received answer = post("/$graphql", std::string(query), "application/graphql");
        return std::string(Json(answer.body).root()["data"].raw());
    }

    TestService server_;
};

}  // namespace annals::core
