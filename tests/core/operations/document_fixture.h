// DocumentFixture: Compositions and the documents made from them.
//
// Threads: the test's.

#pragma once

#include "codec/json/document.h"
#include "core/definitions.h"
#include "core/validation/validate.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

class DocumentFixture : public ServiceFixture {
  protected:
    int put(std::string_view type, std::string_view id, std::string_view rest) {
        return send("PUT", fmt::format("/{}/{}", type, id),
                    fmt::format(R"({{"resourceType":"{}","id":"{}"{}}})", type, id, rest),
                    {{"Content-Type", "application/fhir+json"}})
            .status;
    }

    int put_composition(std::string_view id, std::string_view rest) {
        return put("Composition", id,
                   fmt::format(R"(,"status":"final","type":{{"text":"Summary"}},"title":"Summary",)"
                               R"("date":"2026-01-01","text":{{"status":"generated",)"
                               R"("div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"}}{})",
                               rest));
    }

    struct Read {
        json::Document document;
        std::vector<std::string> names;  ///< "Type/id/version" of the entries
    };

    Read read(const Answer& answer) {
        EXPECT_EQ(answer.status, 200) << answer.body;
        json::Parser parser;
        Read out{*parser.parse(answer.body), {}};
        for (const json::Value entry : out.document.root()["entry"].elements()) {
            const json::Value resource = entry["resource"];
            const std::string name =
                fmt::format("{}/{}", resource["resourceType"].string(), resource["id"].string());
            EXPECT_EQ(entry["fullUrl"].string(), fmt::format("{}/{}", kBaseUrl, name));
            out.names.push_back(name + "/" + resource["meta"]["versionId"].string());
        }
        EXPECT_TRUE(out.document.root()["type"].equals("document"));
        return out;
    }

    std::string issues(std::string_view text) {
        json::Parser parser;
        const auto document = parser.parse(text);
        validation::Options options;
        options.refuse_unknown_elements = true;
        std::string out;
        for (const core::Issue& issue :
             validation::validate(document->root(), service().definitions(), options).issues) {
            if (issue.severity != "information" && issue.severity != "warning") {
                out += fmt::format("{} {}: {}\n", issue.code, issue.expression, issue.diagnostics);
            }
        }
        return out;
    }
};

}  // namespace annals::test
