// Searches over the Synthea patients that ANNALS_TEST_DATA names, compared with a look at every
// resource in the files. What to look at is written here by hand, without the help of core/search.

#include "codec/json/document.h"
#include "core/base/instant.h"
#include "tests/support/files.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

namespace annals::test {
namespace {

using json::Value;
using Test = std::function<bool(Value)>;

// Every value at a path of names, through arrays.
std::vector<Value> at(Value from, const std::string& path) {
    std::vector<Value> values{from};
    std::stringstream names(path);
    for (std::string name; std::getline(names, name, '.');) {
        std::vector<Value> below;
        for (const Value value : values) {
            const Value member = value[name];
            if (member.is_array()) {
                for (const Value element : member.elements()) {
                    below.push_back(element);
                }
            } else if (member) {
                below.push_back(member);
            }
        }
        values = std::move(below);
    }
    return values;
}

bool any(Value from, const std::string& path, const Test& test) {
    const std::vector<Value> values = at(from, path);
    return std::any_of(values.begin(), values.end(), test);
}

bool has(Value from, const std::string& path, std::string_view text) {
    return any(from, path, [&](Value value) { return value.equals(text); });
}

// Folds the letters that occur in the data's names.
std::string folded(std::string text) {
    static const std::map<std::string, std::string> kLetters{
        {"á", "a"}, {"é", "e"}, {"í", "i"}, {"ó", "o"}, {"ú", "u"}, {"ñ", "n"}, {"ü", "u"},
        {"Á", "a"}, {"É", "e"}, {"Í", "i"}, {"Ó", "o"}, {"Ú", "u"}, {"Ñ", "n"}};
    for (const auto& [letter, plain] : kLetters) {
        for (std::size_t i = text.find(letter); i != std::string::npos; i = text.find(letter)) {
            text.replace(i, letter.size(), plain);
        }
    }
    for (char& c : text) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

bool begins(Value from, const std::string& path, std::string_view text) {
    return any(from, path, [&](Value value) { return folded(value.string()).starts_with(text); });
}

bool contains(Value from, const std::string& path, std::string_view text) {
    return any(from, path,
               [&](Value value) { return folded(value.string()).find(text) != std::string::npos; });
}

// The first and the last instant of a date, dateTime or Period.
struct Span {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

Span span_of(std::string_view text) {
    const auto range = parse_date_time(text);
    EXPECT_TRUE(range.has_value()) << text;
    return {range->begin.us, range->end.us - 1};
}

Span span_of(Value value) {
    if (!value.is_object()) {
        return span_of(value.string());
    }
    Span span{INT64_MIN, INT64_MAX};
    if (value["start"]) {
        span.low = span_of(value["start"].string()).low;
    }
    if (value["end"]) {
        span.high = span_of(value["end"].string()).high;
    }
    return span;
}

double number(Value value) {
    return std::strtod(std::string(value.raw()).c_str(), nullptr);
}

struct Case {
    std::string query;
    std::string type;
    Test test;
};

bool dated(Value resource, const std::string& path,
           const std::function<bool(const Span&)>& compares) {
    return any(resource, path, [&](Value value) { return compares(span_of(value)); });
}

bool measured(Value resource, std::string_view code, std::string_view unit,
              const std::function<bool(double)>& compares) {
    return (code.empty() || has(resource, "code.coding.code", code)) &&
           any(resource, "valueQuantity", [&](Value value) {
               return (unit.empty() || value["code"].equals(unit) || value["unit"].equals(unit)) &&
                      compares(number(value["value"]));
           });
}

const Span k2010 = span_of("2010");
const Span kDay = span_of("2011-12-03");

std::vector<Case> cases() {
    return {
        {"family=s", "Patient", [](Value r) { return begins(r, "name.family", "s"); }},
        {"given:contains=an", "Patient", [](Value r) { return contains(r, "name.given", "an"); }},
        {"name:contains=ar", "Patient",
         [](Value r) {
             return contains(r, "name.family", "ar") || contains(r, "name.given", "ar") ||
                    contains(r, "name.prefix", "ar") || contains(r, "name.suffix", "ar") ||
                    contains(r, "name.text", "ar");
         }},
        {"gender=female", "Patient", [](Value r) { return r["gender"].equals("female"); }},
        {"gender:not=female", "Patient", [](Value r) { return !r["gender"].equals("female"); }},
        {"birthdate=gt1970-01-01", "Patient",
         [](Value r) {
             return dated(r, "birthDate",
                          [](Span s) { return s.high > span_of("1970-01-01").high; });
         }},
        {"birthdate=1982", "Patient",
         [](Value r) { return r["birthDate"].string().starts_with("1982"); }},
        {"address-state=massachusetts&gender=male", "Patient",
         [](Value r) {
             return begins(r, "address.state", "massachusetts") && r["gender"].equals("male");
         }},
        {"address-city=boston,worcester", "Patient",
         [](Value r) {
             return begins(r, "address.city", "boston") || begins(r, "address.city", "worcester");
         }},
        {"deceased=true", "Patient", [](Value r) { return bool(r["deceasedDateTime"]); }},
        {"code=8302-2", "Observation",
         [](Value r) { return has(r, "code.coding.code", "8302-2"); }},
        {"code=http://loinc.org|8302-2,http://loinc.org|29463-7", "Observation",
         [](Value r) {
             return has(r, "code.coding.code", "8302-2") || has(r, "code.coding.code", "29463-7");
         }},
        {"category=vital-signs", "Observation",
         [](Value r) { return has(r, "category.coding.code", "vital-signs"); }},
        {"category=laboratory&date=ge2010", "Observation",
         [](Value r) {
             return has(r, "category.coding.code", "laboratory") &&
                    dated(r, "effectiveDateTime", [](Span s) { return s.high > k2010.low; });
         }},
        {"date=2010", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime",
                          [](Span s) { return s.low >= k2010.low && s.high <= k2010.high; });
         }},
        {"date=ne2010", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime",
                          [](Span s) { return s.low < k2010.low || s.high > k2010.high; });
         }},
        {"date=lt2010", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime", [](Span s) { return s.low < k2010.low; });
         }},
        {"date=le2011-12-03", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime", [](Span s) {
                 return s.low < kDay.low || (s.low >= kDay.low && s.high <= kDay.high);
             });
         }},
        {"date=sa2011-12-03", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime", [](Span s) { return s.low > kDay.high; });
         }},
        {"date=eb2011-12-03", "Observation",
         [](Value r) {
             return dated(r, "effectiveDateTime", [](Span s) { return s.high < kDay.low; });
         }},
        {"value-quantity=gt150", "Observation",
         [](Value r) { return measured(r, "", "", [](double x) { return x > 150; }); }},
        {"value-quantity=lt60||kg", "Observation",
         [](Value r) { return measured(r, "", "kg", [](double x) { return x < 60; }); }},
        {"value-quantity=ge100|http://unitsofmeasure.org|cm&code=8302-2", "Observation",
         [](Value r) { return measured(r, "8302-2", "cm", [](double x) { return x >= 100; }); }},
        {"code-value-quantity=http://loinc.org|8302-2$gt170", "Observation",
         [](Value r) { return measured(r, "8302-2", "", [](double x) { return x > 170; }); }},
        {"component-code-value-quantity=http://loinc.org|8480-6$gt140", "Observation",
         [](Value r) {
             return any(r, "component", [](Value c) {
                 return measured(c, "8480-6", "", [](double x) { return x > 140; });
             });
         }},
        {"combo-code-value-quantity=http://loinc.org|8480-6$lt110", "Observation",
         [](Value r) {
             return measured(r, "8480-6", "", [](double x) { return x < 110; }) ||
                    any(r, "component", [](Value c) {
                        return measured(c, "8480-6", "", [](double x) { return x < 110; });
                    });
         }},
        {"value-quantity:missing=true", "Observation",
         [](Value r) { return !r["valueQuantity"] && !r["valueSampledData"]; }},
        {"class=AMB&status=finished", "Encounter",
         [](Value r) {
             return r["class"]["code"].equals("AMB") && r["status"].equals("finished");
         }},
        {"class:not=AMB", "Encounter", [](Value r) { return !r["class"]["code"].equals("AMB"); }},
        {"date=gt2010&date=lt2015", "Encounter",
         [](Value r) {
             return dated(r, "period", [](Span s) { return s.high > k2010.high; }) &&
                    dated(r, "period", [](Span s) { return s.low < span_of("2015").low; });
         }},
        {"date=2010", "Encounter",
         [](Value r) {
             return dated(r, "period",
                          [](Span s) { return s.low >= k2010.low && s.high <= k2010.high; });
         }},
        {"clinical-status=active&code:text=diab", "Condition",
         [](Value r) {
             return has(r, "clinicalStatus.coding.code", "active") &&
                    (begins(r, "code.text", "diab") || begins(r, "code.coding.display", "diab"));
         }},
        {"onset-date=ge2015-06", "Condition",
         [](Value r) {
             return dated(r, "onsetDateTime",
                          [](Span s) { return s.high > span_of("2015-06").low; });
         }},
        {"status=active,stopped&intent=order", "MedicationRequest",
         [](Value r) {
             return (r["status"].equals("active") || r["status"].equals("stopped")) &&
                    r["intent"].equals("order");
         }},
    };
}

class SyntheaSearch : public ServiceFixture {
  protected:
    // PUTs all resources of the files under their own ids.
    bool load() {
        const auto files = test::test_data_files("synthea-2019-dev/SYNTHEA");
        if (files.empty()) {
            return false;
        }
        json::Parser parser;
        for (const std::filesystem::path& file : files) {
            auto bundle = parser.parse(test::read_whole_file(file));
            EXPECT_TRUE(bundle.has_value());
            // urn:uuid:X stands for the entry with the id X.
            std::map<std::string, std::string> names;
            for (const Value entry : bundle->root()["entry"].elements()) {
                names[entry["fullUrl"].string()] = entry["resource"]["resourceType"].string() +
                                                   "/" + entry["resource"]["id"].string();
            }
            std::string batch = R"({"resourceType":"Bundle","type":"batch","entry":[)";
            bool first = true;
            for (const Value entry : bundle->root()["entry"].elements()) {
                std::string body(entry["resource"].raw());
                for (std::size_t i = body.find("\"urn:uuid:"); i != std::string::npos;
                     i = body.find("\"urn:uuid:", i + 1)) {
                    const std::string urn = body.substr(i + 1, body.find('"', i + 1) - i - 1);
                    if (const auto name = names.find(urn); name != names.end()) {
                        body.replace(i + 1, urn.size(), name->second);
                    }
                }
                const std::string name = names[entry["fullUrl"].string()];
                batch +=
                    fmt::format(R"({}{{"resource":{},"request":{{"method":"PUT","url":"{}"}}}})",
                                first ? "" : ",", body, name);
                first = false;
                auto document = parser.parse(body);
                EXPECT_TRUE(document.has_value());
                resources_.insert_or_assign(name, *std::move(document));
            }
            const Answer answer = send("POST", "/", batch + "]}");
            EXPECT_EQ(answer.status, 200);
            EXPECT_FALSE(answer.says("OperationOutcome")) << answer.body.substr(0, 1000);
        }
        return true;
    }

    // The names of everything that a search finds, page by page.
    std::multiset<std::string> find(const std::string& target, std::uint64_t& total) {
        std::multiset<std::string> found;
        std::string next = target;
        json::Parser parser;
        while (!next.empty()) {
            const Answer answer = send("GET", next);
            EXPECT_EQ(answer.status, 200) << answer.body;
            const auto bundle = parser.parse(answer.body);
            if (!bundle || answer.status != 200) {
                return found;
            }
            total = std::strtoull(std::string(bundle->root()["total"].raw()).c_str(), nullptr, 10);
            for (const Value entry : bundle->root()["entry"].elements()) {
                const Value resource = entry["resource"];
                found.insert(resource["resourceType"].string() + "/" + resource["id"].string());
            }
            next = links_of(bundle->root())["next"];
        }
        return found;
    }

    static std::string escaped(std::string query) {
        for (std::size_t i = query.find('|'); i != std::string::npos; i = query.find('|')) {
            query.replace(i, 1, "%7C");
        }
        return query;
    }

    std::map<std::string, json::Document> resources_;
};

TEST_F(SyntheaSearch, FindsWhatIsInTheFiles) {
    if (!load()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no synthea-2019-dev";
    }
    for (const Case& one : cases()) {
        std::multiset<std::string> expected;
        for (const auto& [name, document] : resources_) {
            if (document.root()["resourceType"].equals(one.type) && one.test(document.root())) {
                expected.insert(name);
            }
        }
        std::uint64_t total = 0;
        const std::string target = fmt::format("/{}?{}", one.type, escaped(one.query));
        EXPECT_EQ(find(target + "&_count=97&_total=accurate", total), expected) << target;
        EXPECT_EQ(total, expected.size()) << target;
        std::uint64_t counted = 0;
        find(target + "&_summary=count", counted);
        EXPECT_EQ(counted, expected.size()) << target;
        EXPECT_GT(expected.size(), 0U) << target << " finds nothing: it says nothing";
    }

    // Across references: for each patient, by reference, by chain and by reverse chain.
    std::map<std::string, std::multiset<std::string>> observations;
    std::multiset<std::string> of_women;
    std::multiset<std::string> measured_high;
    for (const auto& [name, document] : resources_) {
        if (!document.root()["resourceType"].equals("Observation")) {
            continue;
        }
        const std::string subject = document.root()["subject"]["reference"].string();
        observations[subject].insert(name);
        if (resources_.at(subject).root()["gender"].equals("female")) {
            of_women.insert(name);
        }
        if (measured(document.root(), "8302-2", "", [](double x) { return x > 180; }) &&
            !measured_high.contains(subject)) {
            measured_high.insert(subject);
        }
    }
    std::uint64_t total = 0;
    for (const auto& [patient, expected] : observations) {
        EXPECT_EQ(find(fmt::format("/Observation?patient={}&_count=1000", patient), total),
                  expected);
        EXPECT_EQ(find(fmt::format("/{}/Observation?_count=1000", patient), total), expected);
    }
    EXPECT_EQ(find("/Observation?subject:Patient.gender=female&_count=1000", total), of_women);
    EXPECT_EQ(find("/Patient?_has:Observation:patient:code-value-quantity=8302-2$gt180", total),
              measured_high);
}

}  // namespace
}  // namespace annals::test
