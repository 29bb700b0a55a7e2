// Calls every operation of the table with what no sane client sends:
// it is refused with an OperationOutcome, and the server survives.

#include "codec/json/document.h"
#include "core/operations/operations.h"
#include "core/operations/signatures.h"
#include "tests/support/child_process.h"
#include "tests/support/http_exchange.h"
#include "tests/support/temporary_directory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals {
namespace {

using core::Operation;

/// Bodies that every operation refuses.
std::vector<std::string> unfit_bodies() {
    return {
        "{",
        "[]",
        "null",
        "\xff\xfe{}",
        std::string(100'000, '['),
        R"({"resourceType":"Parameters","parameter":{}})",
        R"({"resourceType":"Parameters","parameter":[{}]})",
        R"({"resourceType":"Parameters","parameter":[{"name":"no-such-thing","valueString":"x"}]})",
        R"({"resourceType":"Parameters","parameter":[{"name":"a","valueString":"x","valueCode":"y"}]})",
        R"({"resourceType":"Parameters","parameter":[{"name":"a","name":"b"}]})",
        R"({"resourceType":"NoSuchThing"})",
    };
}

/// Values that some parameters may accept.
std::vector<std::string> odd_values() {
    return {"",
            "%00",
            "%ff%fe",
            "%E2%80%AE",
            "-1",
            "0",
            "99999999999999999999",
            "1e999",
            "9999-99-99",
            "2026-02-30T25:61:61Z",
            "..%2F..%2F..%2Fetc%2Fpasswd",
            "%27%22%3C%3E%3B%24%7B%7D",
            "http%3A%2F%2F%5B%3A%3A1",
            "urn%3Auuid%3A",
            "Patient%2F1%2F_history%2F99999999999999999999",
            "*",
            "%7C%7C%7C",
            "(((((((((((((((((a%2B)%2B)%2B)%2B",
            std::string(5000, 'a')};
}

class HostileOperations : public testing::TestWithParam<std::size_t> {
  protected:
    HostileOperations()
        : server_(ANNALS_BINARY, directory_ / "data"),
          operation_(core::operations()[GetParam()]),
          signature_(core::find_signature(operation_.definition)) {
        EXPECT_FALSE(server_.url().empty()) << server_.process().errors();
    }

    test::HttpResponse send(std::string_view method, const std::string& target,
                            const std::string& body = {}) {
        return test::exchange(
            static_cast<std::uint16_t>(server_.port()), method, "/fhir" + target, body,
            {{"Content-Type", "application/fhir+json"}, {"Prefer", "respond-async"}});
    }

    /// The types that the operation is for; one of them if it is for all.
    std::vector<std::string> types() const {
        if (operation_.types.empty()) {
            return {"Patient"};
        }
        std::vector<std::string> types;
        std::string_view list = operation_.types;
        while (!list.empty()) {
            types.emplace_back(list.substr(0, list.find(' ')));
            list.remove_prefix(std::min(list.size(), types.back().size() + 1));
        }
        return types;
    }

    /// Finds the paths at which it can be called, and at which of them by GET.
    void find_targets() {
        const auto add = [&](core::OperationLevel level, const std::string& path) {
            if ((operation_.levels & level) != 0) {
                targets_.push_back(path + "/" + std::string(operation_.name));
                by_get_.push_back((operation_.by_get & level) != 0);
            }
        };
        add(core::kOnSystem, "");
        for (const std::string& type : types()) {
            add(core::kOnType, "/" + type);
            add(core::kOnInstance, fmt::format("/{}/1", type));
            add(core::kOnVersion, fmt::format("/{}/1/_history/1", type));
        }
    }

    /// Restores the resources it is called on, whatever the previous call did.
    void put_back() {
        for (const std::string& type : types()) {
            const std::string elements =
                type == "Composition"
                    ? R"(,"status":"final","type":{"text":"a"},"title":"a","date":"2026","author":[{"reference":"Patient/1"}])"
                : type == "Encounter" ? R"(,"status":"planned","class":{"code":"AMB"})"
                : type == "Group"     ? R"(,"type":"person","actual":true)"
                : type == "ConceptMap" || type == "ValueSet"
                    ? R"(,"status":"active","url":"http://example.org/1")"
                : type == "CodeSystem"
                    ? R"(,"status":"active","content":"complete","url":"http://example.org/1")"
                : type == "DocumentReference"
                    ? R"(,"status":"current","content":[{"attachment":{"title":"a"}}])"
                : type == "Observation" ? R"(,"status":"final","code":{"text":"a"})"
                                        : "";
            const auto put =
                send("PUT", fmt::format("/{}/1", type),
                     fmt::format(R"({{"resourceType":"{}","id":"1"{}}})", type, elements));
            EXPECT_TRUE(put.status == 200 || put.status == 201) << put.body;
        }
    }

    static void expect_refused(const test::HttpResponse& response, const std::string& what) {
        SCOPED_TRACE(what.substr(0, 300) + "\n" + response.body.substr(0, 600));
        EXPECT_GE(response.status, 400);
        EXPECT_LT(response.status, 500);
        json::Parser parser;
        const auto outcome = parser.parse(response.body);
        ASSERT_TRUE(outcome);
        EXPECT_TRUE(outcome->root()["resourceType"].equals("OperationOutcome"));
    }

    static void expect_survived(const test::HttpResponse& response, const std::string& what) {
        EXPECT_GE(response.status, 200) << what.substr(0, 300);
        EXPECT_LT(response.status, 500) << what.substr(0, 300) << response.body.substr(0, 600);
    }

    test::TemporaryDirectory directory_;
    test::RunningServer server_;
    const Operation& operation_;
    const core::Signature* signature_;
    std::vector<std::string> targets_;
    std::vector<bool> by_get_;
};

TEST_P(HostileOperations, RefuseWhatTheyDoNotTake) {
    find_targets();
    ASSERT_FALSE(targets_.empty());
    put_back();
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const std::string& target = targets_[i];
        for (const std::string& body : unfit_bodies()) {
            if (operation_.name == "$validate") {
                expect_survived(send("POST", target, body),
                                body);  // it reports the faults
                continue;
            }
            expect_refused(send("POST", target, body), "POST " + target + " " + body);
        }
        expect_refused(send("POST", target + "?no-such-thing=1"), "POST " + target);
        expect_refused(send(by_get_[i] ? "GET" : "PUT", target + "?no-such-thing=1"), target);
        expect_refused(send("DELETE", target), "DELETE " + target);
        // A value of a type that no operation accepts.
        std::string_view parameters =
            signature_ == nullptr ? std::string_view() : signature_->parameters;
        while (const auto parameter = core::next_parameter(parameters)) {
            if (operation_.name == "$validate" && parameter->name == "resource") {
                continue;
            }
            const std::string body = fmt::format(
                R"({{"resourceType":"Parameters","parameter":[{{"name":"{}","valueTiming":{{}}}}]}})",
                parameter->name);
            expect_refused(send("POST", target, body), "POST " + target + " " + body);
        }
    }
    EXPECT_EQ(send("GET", "/metadata").status, 200);
}

TEST_P(HostileOperations, SurviveOddValues) {
    find_targets();
    put_back();
    std::string_view parameters =
        signature_ == nullptr ? std::string_view() : signature_->parameters;
    while (const auto parameter = core::next_parameter(parameters)) {
        if (!parameter->is_primitive()) {
            continue;
        }
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            put_back();
            for (const std::string& value : odd_values()) {
                const std::string target =
                    fmt::format("{}?{}={}", targets_[i], parameter->name, value);
                expect_survived(send(by_get_[i] ? "GET" : "POST", target), target);
            }
        }
    }
    EXPECT_TRUE(server_.process().running());
    EXPECT_EQ(send("GET", "/metadata").status, 200);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HostileOperations, testing::Range<std::size_t>(0, core::operations().size()),
    [](const auto& info) {
        const Operation& operation = core::operations()[info.param];
        std::string name;
        for (const char c : fmt::format("{}{}", operation.name, operation.types)) {
            name += c == '-' ? "_" : c == '$' || c == ' ' ? "" : std::string(1, c);
        }
        return fmt::format("{}{}", name, info.param);
    });

}  // namespace
}  // namespace annals
