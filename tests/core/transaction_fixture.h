// Shared by tests of transactions: entries, and checks of their answers.
//
// Threads: plain functions.

#pragma once

#include "tests/core/bundle_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::core {

inline std::string observation_of(std::string_view id, std::string_view subject) {
    std::string text = R"({"resourceType":"Observation","status":"final","code":{"text":"c"})";
    if (!id.empty()) {
        text += R"(,"id":")" + std::string(id) + '"';
    }
    return text + R"(,"subject":{"reference":")" + std::string(subject) + R"("}})";
}

inline std::string full_url(std::string_view url) {
    return R"("fullUrl":")" + std::string(url) + '"';
}

/// "Patient/1" from ".../Patient/1/_history/2".
inline std::string name_in(const Json& bundle, std::size_t index) {
    std::string location = bundle.entry(index)["response"]["location"].string();
    location = location.substr(0, location.find("/_history/"));
    return location.substr(kBase.size() + 1);
}

inline std::string subject_of(TestService& server, const std::string& name) {
    return Json(server.get("/" + name).body).root()["subject"]["reference"].string();
}

inline void expect_failure(const Received& answer, std::string_view code,
                           std::string_view diagnostics) {
    EXPECT_EQ(answer.status, 400);
    const Json outcome(answer.body);
    EXPECT_EQ(outcome.issue("code"), code);
    EXPECT_NE(outcome.issue("diagnostics").find(diagnostics), std::string::npos)
        << outcome.issue("diagnostics");
}

}  // namespace annals::core
