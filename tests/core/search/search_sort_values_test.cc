// What resources are sorted by, where only their bodies tell.

#include "tests/core/search/search_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::test {
namespace {

TEST_F(Search, SortsByEachCodingOfAConcept) {
    put("Observation", "a", R"("status":"final","code":{"coding":[{"code":"m"},{"code":"z"}]})");
    put("Observation", "b", R"("status":"final","code":{"coding":[{"code":"n"},{"code":"b"}]})");
    put("Observation", "c", R"("status":"final","code":{"coding":[{"display":"x"},{"code":"c"}]})");
    put("Observation", "d", R"("status":"final","code":{"text":"y"})");
    EXPECT_EQ(get("/Observation?_sort=code").matches,
              (Names{"Observation/b", "Observation/c", "Observation/a", "Observation/d"}));
    EXPECT_EQ(get("/Observation?_sort=-code").matches,
              (Names{"Observation/a", "Observation/d", "Observation/b", "Observation/c"}));
}

TEST_F(Search, SortsByTheTextOrDisplayOfWhatHasNoCode) {
    const auto put_coded = [&](std::string_view id, std::string_view code) {
        put("Observation", id, fmt::format(R"("status":"final","code":{})", code));
    };
    put_coded("code", R"({"text":"a","coding":[{"code":"m","display":"a"}]})");
    put_coded("text", R"({"text":"k","coding":[{"display":"z"}]})");
    put_coded("display", R"({"coding":[{"display":"p"},{"system":"urn:s","display":"i"}]})");
    put_coded("none", R"({"coding":[{"system":"urn:s"}]})");
    EXPECT_EQ(
        get("/Observation?_sort=code").matches,
        (Names{"Observation/display", "Observation/text", "Observation/code", "Observation/none"}));
    EXPECT_EQ(
        get("/Observation?_sort=-code").matches,
        (Names{"Observation/display", "Observation/code", "Observation/text", "Observation/none"}));
    const auto put_subject = [&](std::string_view id, std::string_view subject) {
        put("Condition", id, fmt::format(R"("subject":{})", subject));
    };
    put_subject("reference", R"({"reference":"Patient/1","display":"Z"})");
    put_subject("display", R"({"display":"Anna"})");
    put_subject("identifier", R"({"identifier":{"value":"1"}})");
    EXPECT_EQ(get("/Condition?_sort=subject").matches,
              (Names{"Condition/display", "Condition/reference", "Condition/identifier"}));
}

TEST_F(Search, SortsByTheFirstOfSeveralValuesInThatDirection) {
    put("Patient", "both",
        R"("name":[{"family":"Adam"},{"family":"Zoe"}],"identifier":[{"value":"9"},{"value":"1"}])");
    put("Patient", "mid", R"("name":[{"family":"Mike"}],"identifier":[{"value":"5"}])");
    const auto put_observation = [&](std::string_view id, std::string_view values) {
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"x"}},"component":[{}])", values));
    };
    const auto component = [](int value) {
        return fmt::format(R"({{"code":{{"text":"y"}},"valueQuantity":{{"value":{}}}}})", value);
    };
    put_observation("both", component(9) + "," + component(1));
    put_observation("mid", component(5));
    const auto put_plan = [&](std::string_view id, std::string_view activities) {
        put("CarePlan", id,
            fmt::format(
                R"("status":"active","intent":"plan","subject":{{"reference":"Patient/1"}},"activity":[{}])",
                activities));
    };
    const auto activity = [](std::string_view start, std::string_view end) {
        return fmt::format(
            R"({{"detail":{{"status":"scheduled","scheduledPeriod":{{"start":"{}","end":"{}"}}}}}})",
            start, end);
    };
    put_plan("both",
             activity("2020-05-01", "2020-12-01") + "," + activity("2020-01-01", "2020-01-02"));
    put_plan("mid", activity("2020-06-01", "2020-06-01"));
    for (const auto& [type, key] :
         {std::pair("Patient", "family"), std::pair("Patient", "identifier"),
          std::pair("Observation", "component-value-quantity"),
          std::pair("CarePlan", "activity-date")}) {
        for (const std::string_view direction : {"", "-"}) {
            EXPECT_EQ(get(fmt::format("/{}?_sort={}{}", type, direction, key)).matches,
                      (Names{fmt::format("{}/both", type), fmt::format("{}/mid", type)}))
                << direction << key;
        }
    }
}

// FHIRPath's unions would keep only the first of these values.
TEST_F(Search, SortsByEachOfSeveralQuantitiesThatAreEqualInDifferentUnits) {
    const auto put_observation = [&](std::string_view id,
                                     const std::vector<std::pair<int, std::string_view>>& values) {
        std::string components;
        for (const auto& [value, unit] : values) {
            components += fmt::format(
                R"({}{{"code":{{"text":"y"}},"valueQuantity":{{"value":{},"system":"http://unitsofmeasure.org","code":"{}"}}}})",
                components.empty() ? "" : ",", value, unit);
        }
        put("Observation", id,
            fmt::format(R"("status":"final","code":{{"text":"x"}},"component":[{}])", components));
    };
    put_observation("gram-last", {{1000, "mg"}, {1, "g"}});
    put_observation("mid", {{500, "mg"}});
    put_observation("gram-first", {{2, "g"}, {2000, "mg"}});
    put("Observation", "none", R"("status":"final","code":{"text":"x"})");
    EXPECT_EQ(get("/Observation?_sort=component-value-quantity").matches,
              (Names{"Observation/gram-last", "Observation/gram-first", "Observation/mid",
                     "Observation/none"}));
    EXPECT_EQ(get("/Observation?_sort=-component-value-quantity").matches,
              (Names{"Observation/gram-first", "Observation/gram-last", "Observation/mid",
                     "Observation/none"}));
    // Behind a key in which they are equal, page by page.
    for (const auto& [query, expected] :
         {std::pair("_sort=status,component-value-quantity",
                    Names{"Observation/gram-last", "Observation/gram-first", "Observation/mid",
                          "Observation/none"}),
          std::pair("_sort=status,-component-value-quantity,_id",
                    Names{"Observation/gram-first", "Observation/gram-last", "Observation/mid",
                          "Observation/none"})}) {
        Searchset page = get(fmt::format("/Observation?_count=1&{}", query));
        EXPECT_EQ(follow("next", page), expected) << query;
        EXPECT_EQ(follow("previous", page), expected) << query;
    }
}

TEST_F(Search, SortsByTheEndsOfRangesAndSampledData) {
    const auto put_onset = [&](std::string_view id, std::string_view onset) {
        put("Condition", id,
            fmt::format(R"("subject":{{"reference":"Patient/1"}},"onset{})", onset));
    };
    put_onset("wide", R"(Range":{"low":{"value":10},"high":{"value":60}})");
    put_onset("narrow", R"(Range":{"low":{"value":20},"high":{"value":30}})");
    put_onset("low", R"(Range":{"low":{"value":40}})");
    put_onset("high", R"(Range":{"high":{"value":15}})");
    put_onset("none", R"(String":"early")");
    EXPECT_EQ(get("/Condition?_sort=onset-age").matches,
              (Names{"Condition/wide", "Condition/high", "Condition/narrow", "Condition/low",
                     "Condition/none"}));
    EXPECT_EQ(get("/Condition?_sort=-onset-age").matches,
              (Names{"Condition/wide", "Condition/low", "Condition/narrow", "Condition/high",
                     "Condition/none"}));

    const auto put_samples = [&](std::string_view id, std::string_view rest) {
        put("Observation", id,
            fmt::format(
                R"("status":"final","code":{{"text":"x"}},"valueSampledData":{{"origin":{{"value":10}},"period":1,"dimensions":1,{}}})",
                rest));
    };
    put_samples("spread", R"("factor":2,"data":"1 -4 E 5")");      // 2 to 20
    put_samples("limits", R"("lowerLimit":-5,"data":"1 L U 2")");  // 5 to 12
    put_samples("empty", R"("data":"E E")");
    put("Observation", "single",
        R"("status":"final","code":{"text":"x"},"valueQuantity":{"value":7})");
    EXPECT_EQ(get("/Observation?_sort=value-quantity").matches,
              (Names{"Observation/spread", "Observation/limits", "Observation/single",
                     "Observation/empty"}));
    EXPECT_EQ(get("/Observation?_sort=-value-quantity").matches,
              (Names{"Observation/spread", "Observation/limits", "Observation/single",
                     "Observation/empty"}));
}

}  // namespace
}  // namespace annals::test
