// Shared by tests of history bundles: entries, and posting them.

#pragma once

#include "tests/core/bundle_fixture.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::core {

inline constexpr std::string_view kInstant = "2020-01-02T03:04:05.678Z";

inline std::string version_body(std::string_view id, int version,
                                std::string_view instant = kInstant, std::string_view more = {}) {
    std::string text = R"({"resourceType":"Patient","id":")" + std::string(id) +
                       R"(","meta":{"versionId":")" + std::to_string(version) +
                       R"(","lastUpdated":")" + std::string(instant) + R"("})";
    return text + (more.empty() ? "" : "," + std::string(more)) + '}';
}

/// An entry with a version of a Patient.
inline std::string version_entry(std::string_view id, int version, std::string_view more = {}) {
    return entry_of(version == 1 ? "POST" : "PUT", version == 1 ? "Patient" : "Patient/1",
                    version_body(id, version, kInstant, more), R"("fullUrl":"http://a/x")");
}

inline std::string deletion_entry(std::string_view id, int version) {
    return R"({"fullUrl":"http://a/fhir/Patient/)" + std::string(id) + "/_history/" +
           std::to_string(version) + R"(","request":{"method":"DELETE","url":"Patient/)" +
           std::string(id) + R"("},"response":{"status":"410 Gone","etag":"W/\")" +
           std::to_string(version) + R"(\"","lastModified":")" + std::string(kInstant) + R"("}})";
}

inline Json post_history(TestService& server, const std::vector<std::string>& entries) {
    const Received answer = server.submit(bundle_of("history", entries));
    EXPECT_EQ(answer.status, 200) << answer.body;
    Json bundle(answer.body);
    EXPECT_TRUE(bundle.root()["type"].equals("batch-response"));
    EXPECT_EQ(bundle.root()["entry"].size(), entries.size());
    return bundle;
}

}  // namespace annals::core
