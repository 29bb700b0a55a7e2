#include "tests/core/operations/terminology_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

namespace annals::core {
namespace {

using test::Answer;

class Closure : public test::TerminologyFixture {
  protected:
    Answer call(std::string_view more) {
        return send(
            "POST", "/$closure",
            R"({"resourceType":"Parameters","parameter":[{"name":"name","valueString":"mine"})" +
                std::string(more) + "]}");
    }

    static std::string adding(const std::vector<std::string>& codes) {
        std::string parts;
        for (const std::string& code : codes) {
            parts += R"(,{"name":"concept","valueCoding":{"system":"http://s/animals","code":")" +
                     code + R"("}})";
        }
        return parts;
    }

    /// The version, and "code<above" of each row.
    static std::string rows(const Answer& answer) {
        json::Parser parser;
        const auto body = parser.parse(answer.body);
        if (!body || answer.status != 200) {
            return codes_of(answer);
        }
        std::string out = body->root()["version"].string();
        for (const json::Value group : body->root()["group"].elements()) {
            for (const json::Value element : group["element"].elements()) {
                for (const json::Value target : element["target"].elements()) {
                    out += " " + element["code"].string() + "<" + target["code"].string();
                }
            }
        }
        return out;
    }
};

TEST_F(Closure, GrowsByWhatItIsTold) {
    EXPECT_EQ(rows(call(adding({"dog"}))), "404 not-found") << "it has to be begun";
    EXPECT_EQ(rows(call("")), "1");
    EXPECT_EQ(rows(call(adding({"dog", "rock"}))), "2");
    const Answer more = call(adding({"puppy", "animal"}));
    EXPECT_EQ(rows(more), "3 dog<animal puppy<animal puppy<dog");
    EXPECT_TRUE(more.says(R"("resourceType":"ConceptMap")"));
    EXPECT_EQ(rows(call(adding({"puppy"}))), "3") << "it is there";
    EXPECT_EQ(rows(call(adding({"poodle"}))), "4 poodle<animal poodle<dog");
    restart(Config());
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"3"})")), "4 poodle<animal poodle<dog");
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"0"})")),
              "4 dog<animal poodle<animal poodle<dog puppy<animal puppy<dog");
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"9"})")), "404 not-found");
    EXPECT_EQ(rows(call("")), "5") << "it begins anew";
    EXPECT_EQ(rows(call(adding({"puppy"}))), "6");
}

TEST_F(Closure, TakesManyConceptsAtOnce) {
    constexpr std::size_t kChain = 200;
    constexpr std::size_t kAll = 2'000;  // as many as a table may have
    std::string concepts;
    std::string parts;
    for (std::size_t i = 0; i < kAll; ++i) {
        const std::string code = "c" + std::to_string(i);
        const std::string above = i > 0 && i < kChain
                                      ? R"(,"property":[{"code":"parent","valueCode":"c)" +
                                            std::to_string(i - 1) + R"("}])"
                                      : "";
        concepts += (i > 0 ? "," : "") + (R"({"code":")" + code + R"(")" + above + "}");
        parts += R"(,{"name":"concept","valueCoding":{"system":"http://s/many","code":")" + code +
                 R"("}})";
    }
    put("CodeSystem/many", R"({"resourceType":"CodeSystem","id":"many","url":"http://s/many",
        "status":"active","content":"complete","concept":[)" +
                               concepts + "]}");
    ASSERT_EQ(rows(call("")), "1");
    const std::string added = rows(call(parts));
    EXPECT_EQ(added.substr(0, 2), "2 ");
    EXPECT_EQ(static_cast<std::size_t>(std::count(added.begin(), added.end(), '<')),
              kChain * (kChain - 1) / 2);
    EXPECT_NE(added.find(" c199<c0 "), std::string::npos);
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"1"})")), added);
    EXPECT_EQ(rows(call(parts)), "2") << "all are there";
    EXPECT_EQ(rows(call(adding({"dog"}))), "422 too-costly");
}

TEST_F(Closure, IsReadButDoesNotGrowOnAReadOnlyServer) {
    ASSERT_EQ(rows(call("")), "1");
    ASSERT_EQ(rows(call(adding({"dog", "poodle"}))), "2 poodle<dog");
    Config config;
    config.read_only = true;
    store_options_.read_only = true;
    restart(config);
    EXPECT_EQ(rows(call(adding({"rock"}))), "503 no-store");
    EXPECT_EQ(rows(call("")), "503 no-store");
    EXPECT_EQ(call("").header("Retry-After"), "") << "it will not be otherwise later";
    EXPECT_EQ(rows(call(adding({"dog"}))), "2") << "it is there";
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"1"})")), "2 poodle<dog");
}

TEST_F(Closure, RefusesWhatItDoesNotKnow) {
    ASSERT_EQ(call("").status, 200);
    EXPECT_EQ(rows(call(adding({"cat"}))), "404 not-found");
    EXPECT_EQ(rows(call(R"(,{"name":"concept","valueCoding":{"code":"dog"}})")), "400 required");
    EXPECT_EQ(rows(call(R"(,{"name":"concept","valueCoding":{"system":"http://s/animals"}})")),
              "400 required");
    EXPECT_EQ(rows(call(adding({"dog"}) + R"(,{"name":"version","valueString":"1"})")),
              "400 invalid");
    EXPECT_EQ(codes_of(send("POST", "/$closure", R"({"resourceType":"Parameters"})")),
              "400 required");
    EXPECT_EQ(send("GET", "/$closure?name=mine").status, 405);
}

TEST_F(Closure, TakesUnitsWhichAreAboveNoOthers) {
    const auto of = [](std::string_view system, std::string_view code) {
        return fmt::format(R"(,{{"name":"concept","valueCoding":{{"system":"{}","code":"{}"}}}})",
                           system, code);
    };
    constexpr std::string_view kUnits = "http://unitsofmeasure.org";
    ASSERT_EQ(rows(call("")), "1");
    EXPECT_EQ(rows(call(of(kUnits, "mg") + adding({"dog"}) + of(kUnits, "kg"))), "2");
    EXPECT_EQ(rows(call(of(kUnits, "mg"))), "2") << "it is there";
    EXPECT_EQ(rows(call(adding({"animal"}))), "3 dog<animal");
    EXPECT_EQ(rows(call(of(kUnits, "nonsense"))), "404 not-found");
    // Languages have parts (en-GB is English), and which of them subsume others isn't known.
    EXPECT_EQ(rows(call(of("urn:ietf:bcp:47", "en"))), "404 not-found");
}

TEST_F(Closure, IsNotStartedOverByAConceptInTheQuery) {
    ASSERT_EQ(rows(call("")), "1");
    ASSERT_EQ(rows(call(adding({"dog"}))), "2");
    EXPECT_EQ(codes_of(send("POST", "/$closure?name=mine&concept=puppy", "")), "400 invalid");
    EXPECT_EQ(rows(call(adding({"puppy"}))), "3 puppy<dog");
}

TEST_F(Closure, TellsOnlyWhatIsAboveWhatInTheSystemsApart) {
    put("CodeSystem/pets",
        R"({"resourceType":"CodeSystem","id":"pets","url":"http://s/pets","status":"active",
        "content":"complete","concept":[{"code":"animal","concept":[{"code":"cat"},
        {"code":"dog"}]}]})");
    const auto of_pets = [](const std::string& code) {
        return R"(,{"name":"concept","valueCoding":{"system":"http://s/pets","code":")" + code +
               R"("}})";
    };
    ASSERT_EQ(rows(call("")), "1");
    EXPECT_EQ(rows(call(adding({"dog"}) + of_pets("animal"))), "2") << "of two systems";
    const Answer both = call(adding({"animal"}) + of_pets("cat") + adding({"rock"}));
    EXPECT_EQ(rows(both), "3 dog<animal cat<animal");
    const auto group = [](std::string_view system, std::string_view code) {
        return fmt::format(
            R"({{"source":"{}","target":"{}","element":[{{"code":"{}","target":[{{"code":"animal",)"
            R"("equivalence":"subsumes"}}]}}]}})",
            system, system, code);
    };
    EXPECT_TRUE(both.body.ends_with(fmt::format(
        R"("group":[{},{}]}})", group("http://s/animals", "dog"), group("http://s/pets", "cat"))))
        << both.body;
    EXPECT_EQ(rows(call(of_pets("dog"))), "4 dog<animal");
    EXPECT_FALSE(call(adding({"rock"})).says("group"));
    EXPECT_FALSE(call(adding({"rock"})).says(R"("id")")) << "that is the stored one's";
}

TEST_F(Closure, HasEndedWhereItsMapIsDeleted) {
    ASSERT_EQ(rows(call("")), "1");
    ASSERT_EQ(rows(call(adding({"dog"}))), "2");
    const Answer found = send("GET", "/ConceptMap?_summary=false");
    const std::size_t at = found.body.find(R"("id":"closure-)");
    ASSERT_NE(at, std::string::npos);
    const std::string id = found.body.substr(at + 6, 40);
    const std::uint64_t position = call(adding({"rock"})).position;
    EXPECT_EQ(position, store().last_position().value);
    ASSERT_EQ(send("DELETE", "/ConceptMap/" + id).status, 204);
    EXPECT_EQ(rows(call(adding({"animal"}))), "404 not-found");
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"2"})")), "404 not-found");
    EXPECT_EQ(rows(call("")), "5") << "it begins anew";
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"4"})")), "404 not-found")
        << "which was its deletion";
    EXPECT_EQ(rows(call(adding({"animal", "dog"}))), "6 dog<animal");
}

TEST_F(Closure, LosesNothingOfWhatSeveralAddAtOnce) {
    ASSERT_EQ(rows(call("")), "1");
    std::vector<std::future<Answer>> calls;
    for (const std::string code : {"animal", "dog", "poodle", "puppy"}) {
        calls.push_back(
            std::async(std::launch::async, [this, code] { return call(adding({code})); }));
    }
    for (std::future<Answer>& one : calls) {
        EXPECT_EQ(one.get().status, 200);
    }
    EXPECT_EQ(rows(call(R"(,{"name":"version","valueString":"1"})")),
              "5 dog<animal poodle<animal poodle<dog puppy<animal puppy<dog");
}

}  // namespace
}  // namespace annals::core
