// Two patients' data, and principals whose scopes cover one of them.

#pragma once

#include "core/access.h"
#include "core/target.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

namespace annals::core {

using test::Answer;
using ::testing::HasSubstr;
using ::testing::Not;

inline const test::ServiceFixture::Headers kJson{{"Content-Type", "application/fhir+json"}};

/// Occurs in all resources of the other patient, and in no request.
inline constexpr std::string_view kMark = "Zzyzx";

inline std::string observation(std::string_view id, std::string_view patient, std::string_view text,
                               std::string_view category = "laboratory") {
    return fmt::format(
        R"({{"resourceType":"Observation","id":"{}","status":"final","category":[{{"coding":[{{"code":"{}"}}]}}],)"
        R"("code":{{"coding":[{{"code":"c"}}],"text":"{}"}},"subject":{{"reference":"Patient/{}"}},)"
        R"("identifier":[{{"value":"i-{}"}}],"effectiveDateTime":"2026-01-02","meta":{{"tag":[{{"code":"{}"}}]}}}})",
        id, category, text, patient, id, text);
}

inline std::string entry(std::string_view method, std::string_view url,
                         std::string_view resource = {}) {
    return fmt::format(R"({{{}"request":{{"method":"{}","url":"{}"}}}})",
                       resource.empty() ? "" : fmt::format(R"("resource":{},)", resource), method,
                       url);
}

inline std::string bundle(std::string_view type, std::string_view entries) {
    return fmt::format(R"({{"resourceType":"Bundle","type":"{}","entry":[{}]}})", type, entries);
}

class ScopesTest : public test::ServiceFixture {
  protected:
    ScopesTest() { open({}); }

    void open(Config config) {
        config.auth.mode = "jwt";
        restart(config);
        send_as(&everybody_);
    }

    void put(std::string_view path, std::string_view body) {
        const Answer answer = send("PUT", path, body, kJson);
        ASSERT_LT(answer.status, 300) << path << answer.body;
    }

    /// Patient m is mine, t is theirs. Each has a history, a deleted resource, and one that was the other's before. If `theirs` is
    /// not t, others have as much, but by other names, and nothing of it refers to what is mine.
    void fill(const std::string& theirs = "t") {
        send_as(&everybody_);
        const std::string mark = theirs == "t" ? std::string(kMark) : theirs;
        const std::string they_refer_to = theirs == "t" ? "m-o1" : theirs + "-o1";
        for (const std::string& id : {std::string("m"), theirs}) {
            const std::string text = id == "m" ? "mine" : mark;
            const std::string refers_to = id == "m" ? "m-o1" : they_refer_to;
            put(fmt::format("/Patient/{}", id),
                fmt::format(
                    R"({{"resourceType":"Patient","id":"{}","name":[{{"family":"{}"}}],"identifier":[{{"value":"n-{}"}}]}})",
                    id, text, id));
            put(fmt::format("/Encounter/{}-e", id),
                fmt::format(
                    R"({{"resourceType":"Encounter","id":"{}-e","status":"finished","class":{{"code":"AMB"}},)"
                    R"("type":[{{"text":"{}"}}],"subject":{{"reference":"Patient/{}"}}}})",
                    id, text, id));
            for (int i = 1; i <= 3; ++i) {
                const std::string name = fmt::format("{}-o{}", id, i);
                put("/Observation/" + name, observation(name, id, text));
            }
            put(fmt::format("/Observation/{}-o1", id),
                observation(fmt::format("{}-o1", id), id, text, "vital-signs"));
            put(fmt::format("/Observation/{}-gone", id),
                observation(fmt::format("{}-gone", id), id, text));
            send("DELETE", fmt::format("/Observation/{}-gone", id));
            put(fmt::format("/List/{}-l", id),
                fmt::format(
                    R"({{"resourceType":"List","id":"{}-l","status":"current","mode":"working","title":"{}",)"
                    R"("subject":{{"reference":"Patient/{}"}},"entry":[{{"item":{{"reference":"Observation/{}"}}}}]}})",
                    id, text, id, refers_to));
            put(fmt::format("/Composition/{}-c", id),
                fmt::format(
                    R"({{"resourceType":"Composition","id":"{}-c","status":"final","type":{{"text":"{}"}},"date":"2026",)"
                    R"("author":[{{"reference":"Patient/{}"}}],"title":"{}","subject":{{"reference":"Patient/{}"}},)"
                    R"("section":[{{"title":"s","text":{{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">x</div>"}},)"
                    R"("entry":[{{"reference":"Observation/{}"}}]}}]}})",
                    id, text, id, text, id, refers_to));
        }
        // Theirs refers to mine, and mine to theirs.
        put(fmt::format("/Observation/{}-of-m", theirs),
            fmt::format(
                R"({{"resourceType":"Observation","id":"{0}-of-m","status":"final","code":{{"text":"{1}"}},)"
                R"("subject":{{"reference":"Patient/{0}"}},"hasMember":[{{"reference":"Observation/{2}"}}]}})",
                theirs, mark, they_refer_to));
        put("/Observation/m-of-t",
            R"({"resourceType":"Observation","id":"m-of-t","status":"final","code":{"text":"mine"},)"
            R"("subject":{"reference":"Patient/m"},"hasMember":[{"reference":"Observation/t-o1"}]})");
        // Theirs at first, mine now.
        put("/Observation/moved", observation("moved", theirs, mark));
        put("/Observation/moved", observation("moved", "m", "mine"));
        // Neither patient's.
        put("/Practitioner/p",
            R"({"resourceType":"Practitioner","id":"p","name":[{"family":"Doc"}]})");
        send_as(&mine_);
    }

    static std::string graphql(std::string_view path, std::string_view query) {
        return fmt::format("{}$graphql?query={}", path, percent_encode(query));
    }

    /// The total in an answer.
    static int total(const Answer& answer) {
        const std::size_t at = answer.body.find(R"("total":)");
        return at == std::string::npos ? -1 : std::atoi(answer.body.c_str() + at + 8);
    }

    Principal everybody_{"e", "system/*.cruds"};
    Principal mine_{"x", "patient/*.cruds", "m"};
    Principal theirs_{"x", "patient/*.cruds", "t"};
};

}  // namespace annals::core
