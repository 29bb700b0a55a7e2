// $stats, compared with values computed by hand, over observations that count and others that don't.

#include "core/operations/stats.h"

#include "tests/core/bundle_fixture.h"
#include "tests/support/files.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>

#include <fstream>

namespace annals::core {
namespace {

class Stats : public testing::Test {
  protected:
    static std::string code(std::string_view code) {
        return fmt::format(R"("code":{{"coding":[{{"system":"http://l","code":"{}"}}]}})", code);
    }

    static std::string quantity(std::string_view value, std::string_view unit) {
        return fmt::format(R"("valueQuantity":{{"value":{},"unit":"{}","code":"{}",)"
                           R"("system":"http://unitsofmeasure.org"}})",
                           value, unit, unit);
    }

    void add(std::string_view id, std::string_view rest, std::string_view status = "final",
             std::string_view effective = "2022-01-01") {
        const Received answer = server_.put(
            fmt::format("/Observation/{}", id),
            fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"{}",)"
                        R"("subject":{{"reference":"Patient/p"}},"effectiveDateTime":"{}",{}}})",
                        id, status, effective, rest));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }

    void add_weight(std::string_view id, std::string_view value, std::string_view unit = "kg",
                    std::string_view status = "final", std::string_view effective = "2022-01-01") {
        add(id, code("weight") + "," + quantity(value, unit), status, effective);
    }

    Received get(std::string_view more) {
        return server_.send({HttpMethod::get, "/Observation/$stats",
                             fmt::format("subject=Patient/p&system=http://l&{}", more)});
    }

    Received post(std::string_view more) {
        return server_.send({HttpMethod::post,
                             "/Observation/$stats",
                             {},
                             fmt::format(R"({{"resourceType":"Parameters","parameter":[)"
                                         R"({{"name":"subject","valueUri":"Patient/p"}},)"
                                         R"({{"name":"statistic","valueCode":"count"}},)"
                                         R"({{"name":"statistic","valueCode":"sum"}},{}]}})",
                                         more)});
    }

    static json::Value first(json::Value list) { return *list.elements().begin(); }

    /// "weight: 1 kg, -; height: ...": codes, and the values and units of the components; then the sources' ids.
    static std::string said(const Received& answer) {
        if (answer.status != 200) {
            return std::to_string(answer.status);
        }
        const Json parameters(answer.body);
        std::string text;
        for (const json::Value parameter : parameters.root()["parameter"].elements()) {
            const json::Value resource = parameter["resource"];
            text += text.empty() ? "" : "; ";
            if (parameter["name"].equals("source")) {
                text += resource["id"].string();
                continue;
            }
            text += first(resource["code"]["coding"])["code"].string() + ":";
            std::string_view before = " ";
            for (const json::Value component : resource["component"].elements()) {
                const json::Value value = component["valueQuantity"];
                text += before;
                text += value ? value["value"].raw() : "-";
                if (!value["code"].equals("1")) {
                    text += (value["code"] ? " " : "") + value["code"].string();
                }
                before = ", ";
            }
        }
        return text;
    }

    TestService server_;
};

TEST_F(Stats, AreOfAllNumbersOfACode) {
    for (const int value : {10, 20, 30, 40}) {
        add_weight(fmt::format("w{}", value), std::to_string(value));
    }
    const Received answer =
        get("code=weight&statistic=average&statistic=maximum&statistic=minimum&statistic=count&"
            "statistic=total-count&statistic=median&statistic=sum&statistic=variance&"
            "statistic=20-percent&statistic=4-upper&statistic=4-dev&statistic=skew");
    EXPECT_EQ(said(answer),
              "weight: 25 kg, 40 kg, 10 kg, 4, 4, 25 kg, 100 kg, 166.66666666666666 kg.kg, 16 kg, "
              "32.5 kg, 7.5 kg, 0");
    const Json parameters(answer.body);
    const json::Value statistics = first(parameters.root()["parameter"])["resource"];
    EXPECT_EQ(statistics["status"].string(), "final");
    EXPECT_EQ(statistics["subject"]["reference"].string(), "Patient/p");
    EXPECT_EQ(first(statistics["code"]["coding"])["system"].string(), "http://l");
    EXPECT_EQ(first(first(statistics["component"])["code"]["coding"])["display"].string(),
              "Average");
    // Each once, in the order they were asked for.
    EXPECT_EQ(said(get("code=weight&statistic=count&statistic=sum&statistic=count")),
              "weight: 4, 100 kg");
}

TEST_F(Stats, CountNothingButNumbers) {
    add_weight("final", "1.5");
    add_weight("amended", "2", "kg", "amended");
    add_weight("wrong", "100", "kg", "entered-in-error");
    add_weight("cancelled", "100", "kg", "cancelled");
    add("text", code("weight") + R"(,"valueString":"100")");
    add("none", code("weight"));
    add("below", code("weight") + R"(,"valueQuantity":{"value":100,"comparator":"<","unit":"kg",)"
                                  R"("system":"http://unitsofmeasure.org","code":"kg"})");
    add("modified", R"("modifierExtension":[{"url":"http://not","valueBoolean":true}],)" +
                        code("weight") + "," + quantity("100", "kg"));
    add("other", code("height") + "," + quantity("100", "kg"));
    add("elsewhere",
        R"("code":{"coding":[{"system":"http://m","code":"weight"}]},)" + quantity("100", "kg"));
    EXPECT_EQ(said(get("code=weight&statistic=sum&statistic=count&statistic=total-count&"
                       "include=true")),
              "weight: 3.5 kg, 2, 6; amended; final");
    EXPECT_EQ(said(get("code=none&statistic=sum&statistic=count&statistic=total-count")),
              "none: -, 0, 0");
    EXPECT_EQ(said(server_.send({HttpMethod::get, "/Observation/$stats",
                                 "subject=Patient/q&system=http://l&code=weight&statistic=count"})),
              "weight: 0");
}

TEST_F(Stats, TakeNoCodeForAnotherThatIsWrittenAlike) {
    const auto coded = [](const char* system, const char* code) {
        return fmt::format(R"("code":{{"coding":[{{"system":"{}","code":"{}"}}]}},)", system, code);
    };
    add("one", coded("http://l|x", "y") + quantity("1", "kg") + R"(,"component":[{)" +
                   coded("http://l", "x|y") + quantity("5", "kg") + "}]");
    EXPECT_EQ(said(server_.send({HttpMethod::get, "/Observation/$stats",
                                 "subject=Patient/p&system=http://l|x&code=y&statistic=sum"})),
              "y: 1 kg");
}

TEST_F(Stats, CountComponents) {
    add("bp", code("bp") + R"(,"component":[{)" + code("systolic") + "," +
                  quantity("120", "mm[Hg]") + "},{" + code("diastolic") + "," +
                  quantity("80", "mm[Hg]") + "}]");
    add("alone", code("systolic") + "," + quantity("130", "mm[Hg]"));
    EXPECT_EQ(said(get("code=systolic&code=diastolic&code=bp&statistic=average&statistic=count&"
                       "statistic=total-count&include=true")),
              "systolic: 125 mm[Hg], 2, 2; diastolic: 80 mm[Hg], 1, 1; bp: -, 0, 1; alone; bp");
}

TEST_F(Stats, ConvertToTheUnitOfMost) {
    add_weight("a", "70");
    add_weight("b", "71");
    add_weight("c", "72500", "g");
    EXPECT_EQ(said(get("code=weight&statistic=sum&statistic=maximum")),
              "weight: 213.5 kg, 72.5 kg");
    add_weight("d", "100", "[lb_av]");
    EXPECT_EQ(said(get("code=weight&statistic=minimum")), "weight: 45.359237 kg");
    add_weight("e", "1", "[pH]");
    add("f", code("weight") + R"(,"valueQuantity":{"value":3,"unit":"kg"})");
    add("g", code("weight") + R"(,"valueQuantity":{"value":5})");
    EXPECT_EQ(said(get("code=weight&statistic=count&statistic=total-count&statistic=maximum")),
              "weight: 4, 7, 72.5 kg; weight: 1, 7, 5; weight: 1, 7, 3; weight: 1, 7, 1 [pH]");
}

TEST_F(Stats, TellTheUnitOfMostFirstThoughItIsConverted) {
    add_weight("a", "36.5", "Cel");
    add_weight("b", "37", "Cel");
    add_weight("c", "70");
    add_weight("d", "71000", "g");
    add_weight("e", "72000000", "mg");
    EXPECT_EQ(said(get("code=weight&statistic=count&statistic=minimum")),
              "weight: 3, 70000 g; weight: 2, 36.5 Cel");
}

TEST_F(Stats, SquareAUnitWhereThereIsASquare) {
    add("a", code("glucose") + "," + quantity("1", "mg/dL"));
    add("b", code("glucose") + "," + quantity("2", "mg/dL"));
    EXPECT_EQ(said(get("code=glucose&statistic=variance&statistic=std-dev")),
              "glucose: 0.5 (mg/dL).(mg/dL), 0.7071067811865476 mg/dL");
    add("c", code("temperature") + "," + quantity("37", "Cel"));
    add("d", code("temperature") + "," + quantity("38", "Cel"));
    const Received answer = get("code=temperature&statistic=variance");
    EXPECT_EQ(said(answer), "temperature: 0.5");
    EXPECT_NE(answer.body.find(R"("unit":"Cel.Cel")"), std::string::npos);
}

TEST_F(Stats, SayWhyAValueIsMissing) {
    add_weight("a", "70");
    const Received answer = get("code=weight&statistic=std-dev");
    EXPECT_EQ(said(answer), "weight: -");
    EXPECT_NE(answer.body.find(R"("code":"not-applicable")"), std::string::npos);
}

TEST_F(Stats, AreOfATime) {
    const std::string day = R"({"name":"code","valueString":"weight"},)"
                            R"({"name":"system","valueUri":"http://l"},)";
    add_weight("before", "1", "kg", "final", "2021-12-31");
    add_weight("first", "2", "kg", "final", "2022-01-01T10:00:00Z");
    add_weight("last", "4", "kg", "final", "2022-01-31");
    add_weight("after", "8", "kg", "final", "2022-02-01");
    const Received month =
        post(day + R"({"name":"period","valuePeriod":{"start":"2022-01-01","end":"2022-01-31"}})");
    EXPECT_EQ(said(month), "weight: 2, 6 kg");
    EXPECT_NE(month.body.find(R"("effectivePeriod":{"start":"2022-01-01","end":"2022-01-31"})"),
              std::string::npos);
    EXPECT_EQ(said(post(day + R"({"name":"period","valuePeriod":{"start":"2022-01-31"}})")),
              "weight: 2, 12 kg");
    // Without a period, it is that of the observations that count.
    EXPECT_NE(get("code=weight&statistic=count")
                  .body.find(R"("effectivePeriod":{"start":"2021-12-31T00:00:00.000Z",)"
                             R"("end":"2022-02-01T00:00:00.000Z"})"),
              std::string::npos);

    add_weight("now", "16", "kg", "final", format_instant({now().us - 60'000'000}));
    add_weight("earlier", "32", "kg", "final", format_instant({now().us - 3'000'000'000}));
    EXPECT_EQ(said(get("code=weight&statistic=sum&duration=0.5")), "weight: 16 kg");
    EXPECT_EQ(said(get("code=weight&statistic=sum&duration=1")), "weight: 48 kg");
}

TEST_F(Stats, ShowTheSourcesTheLastOnesFirst) {
    add_weight("a", "1", "kg", "final", "2022-01-02");
    add_weight("b", "2", "kg", "final", "2022-01-03");
    add_weight("c", "4", "kg", "final", "2022-01-01");
    EXPECT_EQ(said(get("code=weight&statistic=sum&include=true")), "weight: 7 kg; b; a; c");
    EXPECT_EQ(said(get("code=weight&statistic=sum&include=true&limit=2")), "weight: 7 kg; b; a");
    EXPECT_EQ(said(get("code=weight&statistic=sum&include=false&limit=2")), "weight: 7 kg");
}

TEST_F(Stats, TakeCodings) {
    add("two", R"("code":{"coding":[{"system":"http://l","code":"a"},{"code":"b,c"}]},)" +
                   quantity("3", "kg"));
    EXPECT_EQ(said(post(R"({"name":"coding","valueCoding":{"system":"http://l","code":"a"}},)"
                        R"({"name":"coding","valueCoding":{"code":"b,c"}},)"
                        R"({"name":"coding","valueCoding":{"code":"b"}})")),
              "a: 1, 3 kg; b,c: 1, 3 kg; b: 0, -");
}

TEST_F(Stats, RefuseWhatIsNotAskedWell) {
    for (const char* query : {"statistic=sum", "code=weight", "code=&statistic=sum"}) {
        EXPECT_EQ(get(query).status, 400) << query;
    }
    for (const char* more :
         {"statistic=regression", "statistic=max", "odd=1", "coding=x", "period=2022", "duration=x",
          "duration=0", "duration=-1", "duration=99999999999", "duration=1&duration=2",
          "include=maybe", "include=true&limit=0", "subject=Patient/q", "system=http://m"}) {
        EXPECT_EQ(get(fmt::format("code=weight&statistic=sum&{}", more)).status, 400) << more;
    }
    for (const char* query :
         {"code=a&system=b&statistic=sum", "subject=p&code=a&system=b&statistic=sum",
          "subject=Patient/p&code=a&statistic=sum"}) {
        EXPECT_EQ(server_.send({HttpMethod::get, "/Observation/$stats", query}).status, 400)
            << query;
    }
    const std::string coding =
        R"({"name":"coding","valueCoding":{"system":"http://l","code":"a"}},)";
    for (
        const char* more :
        {R"({"name":"period","valuePeriod":{"start":"2022-02","end":"2022-01"}})",
         R"({"name":"period","valuePeriod":{"start":"soon"}})",
         R"({"name":"period","valueString":"2022"})",
         R"({"name":"period","valuePeriod":{"start":"2022"}},{"name":"duration","valueDecimal":1})",
         R"({"name":"system","valueUri":"http://l"})",
         R"({"name":"coding","valueCoding":{"system":"http://l"}})"}) {
        EXPECT_EQ(post(coding + more).status, 400) << more;
    }
}

TEST_F(Stats, AreOfSoManyCodesAndValues) {
    std::string codes;
    std::string codings;
    for (std::size_t i = 0; i < 100; ++i) {
        codes += fmt::format("&code=c{}", i);
        codings += fmt::format(R"({}{{"system":"http://l","code":"c{}"}})", i == 0 ? "" : ",", i);
    }
    const std::string component =
        fmt::format(R"({{"code":{{"coding":[{}]}},"valueQuantity":{{"value":1}}}})", codings);
    std::string components = component;
    for (std::size_t i = 1; i < 1000; ++i) {
        components.append(",").append(component);
    }
    add("many", code("x") + R"(,"component":[)" + components + "]");
    EXPECT_EQ(get("statistic=count" + codes).status, 200);
    EXPECT_EQ(get("statistic=count&code=c100" + codes).status, 413);
    add("one-more", code("c0") + "," + quantity("1", "kg"));
    EXPECT_EQ(get("statistic=count" + codes).status, 413);
}

TEST_F(Stats, AreNoLargerThanABody) {
    Config config;
    config.limits.max_body = 1500;
    TestService small(config);
    const auto ask = [&](const char* query) {
        return small
            .send({HttpMethod::get, "/Observation/$stats",
                   fmt::format("subject=Patient/p&system=http://l&statistic=count&{}", query)})
            .status;
    };
    EXPECT_EQ(ask("code=a&code=b&code=c&code=d&code=e"), 422);
    for (const char* id : {"1", "2", "3", "4", "5"}) {
        const Received answer =
            small.put(fmt::format("/Observation/{}", id),
                      fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final",{},)"
                                  R"("subject":{{"reference":"Patient/p"}},{}}})",
                                  id, code("a"), quantity("1", "kg")));
        ASSERT_EQ(answer.status, 201) << answer.body;
    }
    EXPECT_EQ(ask("code=a"), 200);
    EXPECT_EQ(ask("code=a&include=true&limit=1"), 200);
    EXPECT_EQ(ask("code=a&include=true"), 422);
}

TEST_F(Stats, TellApartSoManyUnits) {
    std::string components;
    for (std::size_t i = 0; i < 101; ++i) {
        components += fmt::format(R"({}{{{},"valueQuantity":{{"value":1,"unit":"u{}"}}}})",
                                  i == 0 ? "" : ",", code("weight"), i);
    }
    add("many", code("x") + R"(,"component":[)" + components + "]");
    EXPECT_EQ(get("code=weight&statistic=count").status, 413);
    EXPECT_EQ(said(get("code=x&statistic=count")), "x: 0");
}

class DamagedObservation : public test::ServiceFixture {};

TEST_F(DamagedObservation, IsLeftOutOfNothingThatIsComputed) {
    for (const std::string_view id : {"a", "b"}) {
        ASSERT_EQ(send("PUT", fmt::format("/Observation/{}", id),
                       fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final",)"
                                   R"("code":{{"coding":[{{"system":"http://l","code":"w"}}]}},)"
                                   R"("subject":{{"reference":"Patient/p"}},)"
                                   R"("valueQuantity":{{"value":7,"unit":"of {}"}}}})",
                                   id, id),
                       {{"Content-Type", "application/fhir+json"}})
                      .status,
                  201);
    }
    const std::string stats =
        "/Observation/$stats?subject=Patient/p&system=http://l&code=w&statistic=count";
    const std::string lastn = "/Observation/$lastn?patient=p&code=w";
    EXPECT_EQ(send("GET", stats).status, 200);
    EXPECT_EQ(send("GET", lastn).status, 200);
    const std::string path = data() + "/segments/0000000001.seg";
    const std::size_t at = test::read_whole_file(path).find("of b");
    ASSERT_NE(at, std::string::npos);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<std::streamoff>(at))
        .put('O');
    EXPECT_EQ(send("GET", "/Observation/b").status, 500);
    EXPECT_EQ(send("GET", stats).status, 500);
    EXPECT_EQ(send("GET", lastn).status, 500);
    EXPECT_EQ(send("GET", lastn + "&_id=a").status, 200);
}

}  // namespace
}  // namespace annals::core
