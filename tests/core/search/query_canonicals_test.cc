// Searches for canonical references.

#include "tests/core/search/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace annals::core::search {
namespace {

TEST(ReferenceQuery, FindsCanonicalsWithAndWithoutVersion) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"q1","status":"completed",
        "questionnaire":"http://q.org/Q|1.0"})");
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"q2","status":"completed",
        "questionnaire":"http://q.org/Q"})");
    check(corpus, "QuestionnaireResponse",
          {{"questionnaire=http://q.org/Q", "q1 q2"}, {"questionnaire=http://q.org/Q|1.0", "q1"}});
}

// R4's own example, with the versions that a comparison of texts alone would confuse.
TEST(ReferenceQuery, FindsCanonicalsInVersionsBelowTheGivenOne) {
    Corpus corpus;
    for (const char* version : {"1", "1.0", "1.1-draft", "10", "2.0"}) {
        corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"v)" + std::string(version) +
                   R"(","status":"completed","questionnaire":"http://q.org/Q|)" + version +
                   R"("})");
    }
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"none","status":"completed",
        "questionnaire":"http://q.org/Q"})");
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"other","status":"completed",
        "questionnaire":"http://q.org/Q2|1.0"})");
    check(corpus, "QuestionnaireResponse",
          {{"questionnaire:below=http://q.org/Q", "v1 v1.0 v1.1-draft v10 v2.0 none"},
           {"questionnaire:below=http://q.org/Q|", "v1 v1.0 v1.1-draft v10 v2.0 none"},
           {"questionnaire:below=http://q.org/Q|1", "v1 v1.0 v1.1-draft"},
           {"questionnaire:below=http://q.org/Q|1.1", "v1.1-draft"},
           {"questionnaire:below=http://q.org/Q|1.1.0,http://q.org/Q|2", "v2.0"},
           {"questionnaire:above=http://q.org/Q|1",
            "invalid: search parameter 'questionnaire:above': an id or Type/id is needed, without "
            "a version"}});
    corpus.add(R"({"resourceType":"PlanDefinition","id":"plan","status":"draft",
        "library":["http://l.org/L|2.1"],"action":[{"definitionCanonical":"http://a.org/A|1.2"}],
        "relatedArtifact":[{"type":"depends-on","resource":"http://l.org/M|1.0"},
                           {"type":"predecessor","resource":"http://l.org/P|1.0"}]})");
    check(corpus, "PlanDefinition",
          {{"depends-on:below=http://l.org/L|2", "plan"},
           {"depends-on:below=http://l.org/M|1", "plan"},
           {"depends-on:below=http://l.org/L|1", ""},
           {"depends-on:below=http://l.org/P|1", ""},
           {"definition:below=http://a.org/A|1", "plan"},
           {"definition:below=http://a.org/A|2", ""}});
}

TEST(ReferenceQuery, FindsCanonicalsOfThisServerInVersionsBelowTheGivenOne) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* questionnaire) {
        corpus.add(fmt::format(
            R"({{"resourceType":"QuestionnaireResponse","id":"{}","status":"completed",
                 "questionnaire":"http://example.org/fhir/Questionnaire/{}"}})",
            id, questionnaire));
    };
    add("none", "q");
    add("v1", "q|1");
    add("v1.1", "q|1.1");
    add("v2", "q|2");
    add("other", "other");
    const std::string invalid = "invalid: search parameter 'questionnaire:below': ";
    const std::string no_hierarchy = invalid + "the types it refers to have no hierarchy";
    const std::string no_id = invalid + "an id or Type/id is needed, without a version";
    check(
        corpus, "QuestionnaireResponse",
        {{"questionnaire=http://example.org/fhir/Questionnaire/q", "none v1 v1.1 v2"},
         {"questionnaire:below=http://example.org/fhir/Questionnaire/q", "none v1 v1.1 v2"},
         {"questionnaire:below=http://example.org/fhir/Questionnaire/q|", "none v1 v1.1 v2"},
         {"questionnaire:below=http://example.org/fhir/Questionnaire/q|1", "v1 v1.1"},
         {"questionnaire:below=http://example.org/fhir/Location/q", no_hierarchy.c_str()},
         {"questionnaire:below=http://example.org/fhir/Questionnaire/q/_history/1", no_id.c_str()},
         {"questionnaire:below=Questionnaire/q", no_hierarchy.c_str()}});
}

}  // namespace
}  // namespace annals::core::search
