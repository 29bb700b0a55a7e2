// Statement: a service whose descriptions of itself are examined and validated.

#pragma once

#include "codec/json/document.h"
#include "core/definitions.h"
#include "core/validation/validate.h"
#include "tests/support/archives.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace annals::core {

class Statement : public test::ServiceFixture {
  protected:
    /// All issues that full validation finds, one per line.
    std::string issues(std::string_view text) {
        json::Parser parser;
        const auto document = parser.parse(text);
        if (!document) {
            return document.error().detail;
        }
        validation::Options options;
        options.refuse_unknown_elements = true;
        options.refuse_unknown_extensions = true;
        options.refuse_markup = true;
        options.refuse_wrong_displays = true;
        std::string out;
        for (const Issue& issue :
             validation::validate(document->root(), service().definitions(), options).issues) {
            out += fmt::format("{} {} {}: {}\n", issue.severity, issue.code, issue.expression,
                               issue.diagnostics);
        }
        return out;
    }

    std::string statement() {
        const test::Answer answer = send("GET", "/metadata");
        EXPECT_EQ(answer.status, 200) << answer.body;
        return answer.body;
    }

    void expect_valid(const Config& config) {
        restart(config);
        EXPECT_THAT(issues(statement()), testing::IsEmpty());
    }

    void install_examples() {
        const std::string profile = R"({"resourceType":"StructureDefinition","id":"named",
            "url":"http://p/named","status":"active","kind":"resource","abstract":false,"type":"Patient",
            "derivation":"constraint","name":"Named",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Patient",
            "differential":{"element":[{"id":"Patient","path":"Patient"}]}})";
        const std::string extension = R"({"resourceType":"StructureDefinition","id":"e",
            "url":"http://p/extension","status":"active","kind":"complex-type","abstract":false,
            "type":"Extension","derivation":"constraint","name":"E",
            "baseDefinition":"http://hl7.org/fhir/StructureDefinition/Extension",
            "differential":{"element":[{"id":"Extension","path":"Extension"}]}})";
        const std::string guide =
            R"({"resourceType":"ImplementationGuide","id":"ig","url":"http://p/guide","status":"active"})";
        const std::string codes =
            R"({"resourceType":"CodeSystem","id":"c","url":"http://p/codes","version":"1","status":"active",
            "content":"complete","concept":[{"code":"x"}]})";
        install_package(test::make_package("p.test", "1.0.0", {profile, extension, guide, codes}));
    }
};

}  // namespace annals::core
