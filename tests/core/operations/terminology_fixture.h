// TerminologyFixture: a service with a few code systems, value sets and a concept map.

#pragma once

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <string>
#include <string_view>

namespace annals::test {

class TerminologyFixture : public ServiceFixture {
  public:
    /// The codes of an expansion, separated by blanks; "status code" if the answer isn't 200.
    static std::string codes_of(const Answer& answer) {
        json::Parser parser;
        const Result<json::Document> body = parser.parse(answer.body);
        if (!body) {
            return "no JSON: " + answer.body;
        }
        if (answer.status != 200) {
            const json::Value issue = *body->root()["issue"].elements().begin();
            return std::to_string(answer.status) + " " + issue["code"].string();
        }
        std::string codes;
        for (const json::Value item : body->root()["expansion"]["contains"].elements()) {
            codes += (codes.empty() ? "" : " ") + item["code"].string();
        }
        return codes;
    }

    /// The primitive parameters of Parameters as "name=value"; else the status and the issue's code.
    static std::string said(const Answer& answer) {
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        if (!body || answer.status != 200) {
            return codes_of(answer);
        }
        std::string out;
        for (const json::Value parameter : body->root()["parameter"].elements()) {
            for (const auto [key, value] : parameter.members()) {
                if (key.raw_string().starts_with("value") && !parameter["name"].equals("message")) {
                    out += (out.empty() ? "" : " ") + parameter["name"].string() + "=" +
                           (value.is_string() ? value.string() : std::string(value.raw()));
                }
            }
        }
        return out;
    }

  protected:
    TerminologyFixture() {
        put("CodeSystem/animals",
            R"({"resourceType":"CodeSystem","id":"animals","url":"http://s/animals",
            "version":"1","name":"Animals","status":"active","content":"complete","caseSensitive":true,
            "property":[{"code":"legs","type":"integer"},{"code":"up","type":"code",
                         "uri":"http://hl7.org/fhir/concept-properties#parent"},
                        {"code":"inactive","type":"boolean"}],
            "concept":[
              {"code":"animal","display":"Animal","property":[{"code":"notSelectable","valueBoolean":true}],
               "concept":[
                {"code":"dog","display":"Dog","property":[{"code":"legs","valueInteger":4}],
                 "designation":[{"language":"de","value":"Hund"},{"language":"fr-CH","value":"Chien"}],
                 "concept":[{"code":"poodle","display":"Caniche Élégant","definition":"A dog with curls"}]},
                {"code":"bird","display":"Bird","property":[{"code":"legs","valueInteger":2}]},
                {"code":"dodo","display":"Dodo","property":[{"code":"legs","valueInteger":2},
                                                           {"code":"inactive","valueBoolean":true}]}]},
              {"code":"puppy","display":"Puppy","property":[{"code":"up","valueCode":"dog"}]},
              {"code":"rock","display":"Rock"}]})");
        put("CodeSystem/sct",
            R"({"resourceType":"CodeSystem","id":"sct","url":"http://snomed.info/sct",
            "status":"active","content":"not-present"})");
        compose("all", R"("include":[{"system":"http://s/animals"}])");
    }

    /// PUTs a definition.
    void put(std::string_view name, std::string_view body) {
        const Answer answer = send("PUT", "/" + std::string(name), body);
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    /// Stores the value set http://v/`id`.
    void compose(std::string_view id, std::string_view parts) {
        const std::string name(id);
        put("ValueSet/" + name,
            R"({"resourceType":"ValueSet","id":")" + name + R"(","url":"http://v/)" + name +
                R"(","version":"1","status":"active","compose":{)" + std::string(parts) + "}}");
    }

    /// The same with one include that has one filter on http://s/animals.
    void filter(std::string_view id, std::string_view property, std::string_view op,
                std::string_view value) {
        compose(id, R"("include":[{"system":"http://s/animals","filter":[{"property":")" +
                        std::string(property) + R"(","op":")" + std::string(op) + R"(","value":")" +
                        std::string(value) + R"("}]}])");
    }

    /// The codes of ValueSet/$expand?`query`, separated by blanks; see codes_of().
    std::string codes(std::string_view query) {
        return codes_of(send("GET", "/ValueSet/$expand?" + std::string(query)));
    }
};

}  // namespace annals::test
