// Random searches over random resources, page by page while writes go on, compared with a look at all resources.

#include "codec/json/document.h"
#include "tests/support/service_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>

namespace annals::test {
namespace {

// What the test knows of a resource.
struct Patient {
    std::string family;
    std::string gender;
    std::optional<int> born;  // a year
};

// A code and what was measured for it: grams or, without these, an answer.
struct Component {
    std::string system;
    std::string code;
    std::optional<int> grams;
    std::string answer;
    bool in_milligrams = false;
};

struct Observation {
    std::string code;
    std::string subject;
    int value = 0;
    int day = 1;  // of January 2020
    std::vector<Component> components;
};

template <typename T>
struct Kept {
    T resource;
    std::uint64_t order = 0;  // of its last write
};

class RandomSearch : public ServiceFixture {
  protected:
    using Names = std::vector<std::string>;

    std::uint64_t number(std::uint64_t below) { return random_() % below; }

    template <typename Items>
    const auto& pick(const Items& items) {
        return items[number(items.size())];
    }

    void write() {
        const std::string id = std::to_string(number(60));
        if (number(2) == 0) {
            Patient patient{pick(kFamilies), pick(kGenders), {}};
            if (number(4) != 0) {
                patient.born = 1950 + static_cast<int>(number(50));
            }
            if (number(6) == 0) {
                remove("Patient", id, patients_);
                return;
            }
            put("Patient", id,
                fmt::format(
                    R"("name":[{{"family":"{}"}}],"gender":"{}"{})", patient.family, patient.gender,
                    patient.born ? fmt::format(R"(,"birthDate":"{}")", *patient.born) : ""));
            patients_[id] = {patient, ++order_};
        } else {
            Observation one{pick(kCodes),
                            std::to_string(number(60)),
                            static_cast<int>(number(100)),
                            1 + static_cast<int>(number(28)),
                            {}};
            std::string components;
            for (std::uint64_t n = number(4); n > 0; --n) {
                one.components.push_back(random_component());
                components += (components.empty() ? "" : ",") + text_of(one.components.back());
            }
            components = components.empty() ? "" : ",\"component\":[" + components + "]";
            if (number(6) == 0) {
                remove("Observation", id, observations_);
                return;
            }
            put("Observation", id,
                fmt::format(
                    R"("status":"final","code":{{"coding":[{{"system":"urn:s","code":"{}"}}]}},"subject":{{"reference":"Patient/{}"}},"valueQuantity":{{"value":{},"unit":"kg"}},"effectiveDateTime":"2020-01-{:02}"{})",
                    one.code, one.subject, one.value, one.day, components));
            observations_[id] = {one, ++order_};
        }
    }

    Component random_component() {
        Component component{pick(kSystems), pick(kCodes), {}, {}, number(2) == 0};
        if (number(4) == 0) {
            component.answer = pick(kCodes);
        } else if (number(6) != 0) {
            component.grams = static_cast<int>(number(20));
        }
        return component;
    }

    static std::string text_of(const Component& component) {
        std::string value;
        if (component.grams) {
            value = fmt::format(
                R"(,"valueQuantity":{{"value":{},"system":"http://unitsofmeasure.org","code":"{}"}})",
                *component.grams * (component.in_milligrams ? 1000 : 1),
                component.in_milligrams ? "mg" : "g");
        } else if (!component.answer.empty()) {
            value = fmt::format(R"(,"valueCodeableConcept":{{"coding":[{{"code":"{}"}}]}})",
                                component.answer);
        }
        return fmt::format(R"({{"code":{{"coding":[{{"system":"{}","code":"{}"}}]}}{}}})",
                           component.system, component.code, value);
    }

    using Test = std::function<bool(const Component&)>;

    static bool any(const Observation& one, const Test& test) {
        return std::ranges::any_of(one.components, test);
    }

    // A code to search for, with or without its system.
    std::string random_code(Test& test) {
        const std::string code = pick(kCodes);
        if (number(2) == 0) {
            test = [code](const Component& c) { return c.code == code; };
            return code;
        }
        const std::string system = pick(kSystems);
        test = [code, system](const Component& c) { return c.code == code && c.system == system; };
        return fmt::format("{}%7C{}", system, code);
    }

    // A number of grams to search for, in any unit or in grams only.
    std::string random_grams(Test& test) {
        static const std::vector<std::pair<std::string, std::function<bool(int, int)>>> kPrefixes{
            {"", std::equal_to<>()},        {"eq", std::equal_to<>()},
            {"ne", std::not_equal_to<>()},  {"lt", std::less<>()},
            {"gt", std::greater<>()},       {"le", std::less_equal<>()},
            {"ge", std::greater_equal<>()}, {"sa", std::greater<>()},
            {"eb", std::less<>()},
        };
        const auto& [prefix, holds] = pick(kPrefixes);
        const int asked = static_cast<int>(number(20));
        if (number(2) == 0) {
            test = [holds, asked](const Component& c) { return c.grams && holds(*c.grams, asked); };
            return fmt::format("{}{}%7Chttp://unitsofmeasure.org%7Cg", prefix, asked);
        }
        test = [holds, asked](const Component& c) {
            return c.grams && holds(*c.grams * (c.in_milligrams ? 1000 : 1), asked);
        };
        return fmt::format("{}{}", prefix, asked);
    }

    // A search for parts of the same component.
    Names random_components(std::string& query) {
        Test has_code;
        Test has_value;
        const std::string code = random_code(has_code);
        const std::string value = random_grams(has_value);
        const auto both = [&](const Component& c) { return has_code(c) && has_value(c); };
        switch (number(5)) {
            case 0: {
                Test has_other;
                const std::string other = random_code(has_other);
                query = fmt::format("/Observation?component-code-value-quantity={}${},{}${}", code,
                                    value, other, value);
                return observations([&](auto&, auto& o) {
                    return any(o, [&](const Component& c) {
                        return (has_code(c) || has_other(c)) && has_value(c);
                    });
                });
            }
            case 1: {
                const int asked = static_cast<int>(number(100));
                const std::string own = pick(kCodes);
                query = fmt::format("/Observation?combo-code-value-quantity={}$ge{}", own, asked);
                return observations([&](auto&, auto& o) {
                    return (o.code == own && o.value >= asked) || any(o, [&](const Component& c) {
                               return c.code == own && c.grams &&
                                      *c.grams * (c.in_milligrams ? 1000 : 1) >= asked;
                           });
                });
            }
            case 2: {
                const bool missing = number(2) == 0;
                query =
                    fmt::format("/Observation?component-code-value-quantity:missing={}", missing);
                return observations([&](auto&, auto& o) {
                    return any(o, [](const Component& c) { return c.grams.has_value(); }) !=
                           missing;
                });
            }
            case 3: {
                const std::string answer = pick(kCodes);
                query =
                    fmt::format("/Observation?component-code-value-concept={}${}", code, answer);
                return observations([&](auto&, auto& o) {
                    return any(
                        o, [&](const Component& c) { return has_code(c) && c.answer == answer; });
                });
            }
            default:
                query =
                    fmt::format("/Observation?component-code-value-quantity={}${}", code, value);
                return observations([&](auto&, auto& o) { return any(o, both); });
        }
    }

    void put(std::string_view type, const std::string& id, const std::string& members) {
        const Answer answer =
            send("PUT", fmt::format("/{}/{}", type, id),
                 fmt::format(R"({{"resourceType":"{}","id":"{}",{}}})", type, id, members));
        ASSERT_LT(answer.status, 300) << answer.body;
    }

    template <typename Map>
    void remove(std::string_view type, const std::string& id, Map& map) {
        send("DELETE", fmt::format("/{}/{}", type, id));
        map.erase(id);
    }

    // The names of those that pass `passes`, newest first.
    template <typename T>
    static Names names(std::string_view type, const std::map<std::string, Kept<T>>& all,
                       const std::function<bool(const std::string&, const T&)>& passes) {
        std::vector<std::pair<std::uint64_t, std::string>> found;
        for (const auto& [id, kept] : all) {
            if (passes(id, kept.resource)) {
                found.emplace_back(kept.order, fmt::format("{}/{}", type, id));
            }
        }
        std::sort(found.rbegin(), found.rend());
        Names out;
        for (auto& [order, name] : found) {
            out.push_back(std::move(name));
        }
        return out;
    }

    Names patients(const std::function<bool(const std::string&, const Patient&)>& passes) const {
        return names<Patient>("Patient", patients_, passes);
    }

    Names observations(
        const std::function<bool(const std::string&, const Observation&)>& passes) const {
        return names<Observation>("Observation", observations_, passes);
    }

    Names random_answer(std::string& query) {
        const std::string family = pick(kFamilies);
        const std::string start = family.substr(0, 2);
        const std::string gender = pick(kGenders);
        const std::string code = pick(kCodes);
        const int year = 1950 + static_cast<int>(number(50));
        const int value = static_cast<int>(number(100));
        const int day = 1 + static_cast<int>(number(28));
        switch (number(15)) {
            case 0:
                query = "/Patient?family=" + start;
                return patients([&](auto&, auto& p) { return p.family.starts_with(start); });
            case 1:
                query = fmt::format("/Patient?family:contains={}&gender={}", start, gender);
                return patients([&](auto&, auto& p) {
                    return p.family.find(start) != std::string::npos && p.gender == gender;
                });
            case 2:
                query = "/Patient?gender:not=" + gender;
                return patients([&](auto&, auto& p) { return p.gender != gender; });
            case 3:
                query = fmt::format("/Patient?birthdate=ge{}", year);
                return patients([&](auto&, auto& p) { return p.born && *p.born >= year; });
            case 4:
                query = "/Patient?birthdate:missing=true";
                return patients([&](auto&, auto& p) { return !p.born; });
            case 5:
                query =
                    fmt::format("/Observation?code=urn:s%7C{}&value-quantity=lt{}", code, value);
                return observations(
                    [&](auto&, auto& o) { return o.code == code && o.value < value; });
            case 6:
                query = fmt::format("/Observation?date=le2020-01-{:02}", day);
                return observations([&](auto&, auto& o) { return o.day <= day; });
            case 7:
                query = fmt::format("/Observation?subject:Patient.gender={}", gender);
                return observations([&](auto&, auto& o) {
                    const auto subject = patients_.find(o.subject);
                    return subject != patients_.end() && subject->second.resource.gender == gender;
                });
            case 8:
                query = fmt::format("/Patient?_has:Observation:patient:code={}&gender={}", code,
                                    gender);
                return patients([&](auto& id, auto& p) {
                    return p.gender == gender &&
                           std::any_of(observations_.begin(), observations_.end(),
                                       [&](const auto& one) {
                                           return one.second.resource.code == code &&
                                                  one.second.resource.subject == id;
                                       });
                });
            case 9:
                query = fmt::format("/Observation?code-value-quantity={}$gt{}", code, value);
                return observations(
                    [&](auto&, auto& o) { return o.code == code && o.value > value; });
            case 12:
            case 13:
            case 14:
                return random_components(query);
            case 10:
                query = fmt::format("/Observation?_filter=code eq {} or value-quantity gt {}", code,
                                    value);
                for (std::size_t i = query.find(' '); i != std::string::npos; i = query.find(' ')) {
                    query.replace(i, 1, "%20");
                }
                return observations(
                    [&](auto&, auto& o) { return o.code == code || o.value > value; });
            default:
                query = fmt::format("/Patient/{}/Observation?code={},{}", value % 60, code, "c1");
                return observations([&](auto&, auto& o) {
                    return (o.code == code || o.code == "c1") &&
                           o.subject == std::to_string(value % 60);
                });
        }
    }

    // One page: its matches, the total, the link to the next.
    Names page(const std::string& target, std::optional<std::uint64_t>& total, std::string& next) {
        const Answer answer = send("GET", target);
        EXPECT_EQ(answer.status, 200) << target << answer.body;
        json::Parser parser;
        const auto bundle = parser.parse(answer.body);
        Names found;
        next.clear();
        total.reset();
        if (!bundle || answer.status != 200) {
            return found;
        }
        if (const json::Value value = bundle->root()["total"]) {
            total = std::strtoull(std::string(value.raw()).c_str(), nullptr, 10);
        }
        for (const json::Value entry : bundle->root()["entry"].elements()) {
            found.push_back(entry["resource"]["resourceType"].string() + "/" +
                            entry["resource"]["id"].string());
        }
        next = links_of(bundle->root())["next"];
        return found;
    }

    inline static const std::vector<std::string> kFamilies{"abel",    "abramov", "bell",
                                                           "belmont", "castle",  "cabell"};
    inline static const std::vector<std::string> kGenders{"male", "female", "other"};
    inline static const std::vector<std::string> kCodes{"c1", "c2", "c3", "c4"};
    inline static const std::vector<std::string> kSystems{"urn:s", "urn:t"};

    std::mt19937_64 random_{7};
    std::uint64_t order_ = 0;
    std::map<std::string, Kept<Patient>> patients_;
    std::map<std::string, Kept<Observation>> observations_;
};

TEST_F(RandomSearch, FindsPageByPageWhatThereWasAtTheFirst) {
    std::size_t matched = 0;
    for (int i = 0; i < 300; ++i) {
        for (std::uint64_t n = number(12); n > 0; --n) {
            write();
        }
        if (i == 150) {
            restart(core::Config());
        }
        std::string query;
        const Names expected = random_answer(query);
        matched += expected.size();
        std::string next = fmt::format("{}&_count={}&_total=accurate", query, 1 + number(8));
        Names found;
        while (!next.empty()) {
            std::optional<std::uint64_t> total;
            const Names some = page(next, total, next);
            EXPECT_EQ(total, expected.size()) << query;
            EXPECT_FALSE(some.empty() && !found.empty()) << "an empty page: " << query;
            found.insert(found.end(), some.begin(), some.end());
            if (number(2) == 0) {
                write();
            }
        }
        ASSERT_EQ(found, expected) << query << " in round " << i;
    }
    EXPECT_GT(matched, 1'000U);
}

}  // namespace
}  // namespace annals::test
