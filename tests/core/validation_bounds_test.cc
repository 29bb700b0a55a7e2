// Validation takes time by the size of its input, and ends if that would be too much.

#include "codec/schema/structure.h"
#include "core/validation/validate.h"
#include "tests/core/validation_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::validation {
namespace {

TEST(Validation, OfWhatLooksLikeMarkupTakesTimeByItsLength) {
    const auto time = [](int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += "<a";
        }
        const std::clock_t begin = std::clock();
        EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"text":")" + text + R"("}]})"), "");
        return std::clock() - begin;
    };
    EXPECT_LT(time(400'000), 50 * (time(20'000) + CLOCKS_PER_SEC / 1000));
}

TEST(Validation, OfMembersThatAreNoElementsTakesTimeByTheirNumber) {
    // If any began with an underscore, each used to be looked for among all: 469 kB took a network thread eight seconds.
    const auto time = [](int count) {
        std::string members;
        for (int i = 0; i < count; ++i) {
            members += fmt::format(R"(,"x{}":"a")", i);
        }
        const json::Document document =
            parsed(R"({"resourceType":"Patient","birthDate":"2000-01-01","_birthDate":{"id":"a"})" +
                   members + "}");
        const std::clock_t begin = std::clock();
        validate(document.root(), EmptySource());
        return std::clock() - begin;
    };
    const std::clock_t few = std::min(time(2'000), time(2'000));
    EXPECT_LT(time(20'000), 30 * few);
}

/// A Patient that contains `count` others, either all referred to or none.
json::Document patient_of_many(int count, bool referred_to) {
    const std::string contained = listed(
        count, [](int i) { return fmt::format(R"({{"resourceType":"Patient","id":"p{}"}})", i); });
    const std::string links = listed(count, [](int i) {
        return fmt::format(R"({{"other":{{"reference":"#p{}"}},"type":"seealso"}})", i);
    });
    return parsed(fmt::format(R"({{"resourceType":"Patient","contained":[{}]{}{}{}}})", contained,
                              referred_to ? R"(,"link":[)" : "", referred_to ? links : "",
                              referred_to ? "]" : ""));
}

class ValidationOfMany : public testing::TestWithParam<bool> {
  protected:
    static std::clock_t time(int count) {
        const json::Document document = patient_of_many(count, GetParam());
        const std::clock_t begin = std::clock();
        EXPECT_EQ(validate(document.root(), EmptySource()).valid, GetParam());
        return std::clock() - begin;
    }
};

INSTANTIATE_TEST_SUITE_P(ReferredToAndNot, ValidationOfMany, testing::Bool());

TEST_P(ValidationOfMany, ContainedResourcesTakesTimeByTheirNumber) {
    // Each, and the place of each fault, used to be searched for from
    // the beginning: ten times as many took a hundred times as long.
    const std::clock_t few = std::min(time(1500), time(1500));
    EXPECT_LT(time(15'000), 30 * few);
}

TEST(Validation, LooksForWhatIsReferredToAmongMembersOnce) {
    // These used to be looked for among all members for each reference: the list of contained resources, the type and
    // the version of what is referred to, and the fullUrl of the entry that refers to it.
    const std::string members =
        listed(40'000, [](int i) { return fmt::format(R"("x{}":"a")", i); });
    const auto time = [&](std::string_view to, std::string_view format) {
        const std::string links = listed(4'000, [&](int) {
            return fmt::format(R"({{"other":{{"reference":"{}"}},"type":"seealso"}})", to);
        });
        const json::Document document =
            parsed(fmt::format(fmt::runtime(format), fmt::arg("x", members),
                               fmt::arg("link", fmt::format(R"("link":[{}])", links))));
        const std::clock_t begin = std::clock();
        validate(document.root(), EmptySource());
        return std::clock() - begin;
    };
    const std::clock_t usual = time(
        "#a",
        R"({{"resourceType":"Patient","contained":[{{"resourceType":"Patient","id":"a"}}],{link},{x}}})");
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"#a",
         R"({{"resourceType":"Patient",{x},{link},"contained":[{{"resourceType":"Patient","id":"a"}}]}})"},
        {"#a",
         R"({{"resourceType":"Patient",{link},"contained":[{{{x},"id":"a","resourceType":"Patient"}}]}})"},
        {"#",
         R"({{{x},"contained":[{{"resourceType":"Patient","id":"a",{link}}}],"resourceType":"Patient"}})"},
        {"urn:x:1",
         R"({{"resourceType":"Bundle","type":"collection","entry":[{{"fullUrl":"urn:x:1",{x},"resource":)"
         R"({{"id":"a",{link},"resourceType":"Patient"}}}}]}})"},
        {"http://h/Patient/a/_history/1",
         R"({{"resourceType":"Bundle","type":"collection","entry":[{{"fullUrl":"http://h/Patient/a","resource":)"
         R"({{"resourceType":"Patient","id":"a",{link},{x},"meta":{{"versionId":"1"}}}}}}]}})"},
        {"Patient/a",
         R"({{"resourceType":"Bundle","type":"collection","entry":[{{"resource":)"
         R"({{"resourceType":"Patient","id":"a",{link}}},{x},"fullUrl":"http://h/Patient/a"}}]}})"},
    };
    for (const auto& [to, format] : cases) {
        EXPECT_LT(time(to, format), 8 * usual) << to << " in " << format;
    }
}

TEST(Validation, OfWhatIsFoundOrToldAgainTakesTimeByItsNumber) {
    // Three megabytes of entries with the same fullUrl, which they refer to, used to take seven seconds. For contained
    // resources that refer to their container, and for repeated profiles, ten times as many took a hundred times as long.
    const auto repeated = [](std::string_view begin, std::string_view text, int count,
                             std::string_view end) {
        const auto item = [&](int i) { return fmt::format(fmt::runtime(text), i); };
        return std::string(begin).append(listed(count, item)).append(end);
    };
    const auto entries = [&](int count) {
        return repeated(R"({"resourceType":"Bundle","type":"collection","entry":[)",
                        R"({{"fullUrl":"urn:x:1","resource":{{"resourceType":"Basic",)"
                        R"("code":{{"text":"x"}},"subject":{{"reference":"urn:x:1"}}}}}})",
                        count, "]}");
    };
    const auto contained = [&](int count) {
        return repeated(R"({"resourceType":"Patient","contained":[)",
                        R"({{"resourceType":"Basic","id":"{}","code":{{"text":"x"}}}})", count,
                        "],") +
               repeated(R"("x":[)", R"("#")", count, "]}");
    };
    const auto profiles = [&](int count) {
        return repeated(R"({"resourceType":"Bundle","type":"collection","entry":[)",
                        R"({{"fullUrl":"urn:x:{}"}})", count, "") +
               repeated(
                   R"(,{"fullUrl":"urn:y","resource":{"resourceType":"Basic","code":{"text":"x"},"meta":{"profile":[)",
                   R"("http://x.org/none")", count, "]}}}]}");
    };
    const auto is_linear = [](const auto& made) {
        const auto time = [&](int count) {
            const json::Document document = parsed(made(count));
            const std::clock_t begin = std::clock();
            validate(document.root(), EmptySource());
            return std::clock() - begin;
        };
        const std::clock_t few = std::min(time(1'000), time(1'000));
        return time(10'000) < 30 * few;
    };
    EXPECT_TRUE(is_linear(entries));
    EXPECT_TRUE(is_linear(contained));
    EXPECT_TRUE(is_linear(profiles));
}

TEST(Validation, EndsWithProfilesThatReferToThemselves) {
    TextSource source;
    source.add(profile_of("Patient", R"({"id":"Patient.name","path":"Patient.name","min":1})", "p",
                          "http://x.org/p"));
    source.add(profile_of("Questionnaire",
                          R"({"id":"Questionnaire.contained","path":"Questionnaire.contained",
        "type":[{"code":"Questionnaire","profile":["http://x.org/q"]}]})",
                          "q"));
    Options options = by_profile();
    EXPECT_EQ(issues(R"({"resourceType":"Patient"})", source, options),
              "error not-found "
              "Patient\n");
    options.profiles = {"http://x.org/q"};
    EXPECT_EQ(issues(R"({"resourceType":"Questionnaire","status":"draft"})", source, options), "");
}

TEST(Validation, IsBoundedInIssuesAndSteps) {
    const std::string names =
        listed(500, [](int i) { return fmt::format(R"({{"use":"no{}"}})", i); });
    const std::string patient = R"({"resourceType":"Patient","name":[)" + names + "]}";
    const json::Document document = parsed(patient);
    EXPECT_EQ(validate(document.root(), EmptySource()).issues.size(), 100U);
    Options options;
    options.steps = 50;
    const Report report = validate(document.root(), EmptySource(), options);
    ASSERT_FALSE(report.issues.empty());
    EXPECT_EQ(report.issues.back().code, "too-costly");
    EXPECT_FALSE(report.valid);
}

TEST(Validation, IsBoundedInIssuesOfTheStructure) {
    Options options;
    options.issues_max = 1;
    options.refuse_unknown_elements = true;
    EXPECT_EQ(issues(R"({"resourceType":"Patient","one":1,"two":2})", EmptySource(), options),
              "error structure Patient.one\n");
}

TEST(Validation, EndsWithMoreFaultsOfTheStructureThanAreTold) {
    // Beyond those that are told, elements may be of other kinds than the further checks rely on.
    const std::string components =
        listed(static_cast<int>(schema::kFaultsMax), [](int) { return R"({"valueString":"x"})"; });
    const auto told = [&](std::string_view list) {
        Options options;
        options.issues_max = 1000;
        return issues(
            fmt::format(R"({{"resourceType":"Observation","status":"other","code":{{"text":"x"}},)"
                        R"("component":[{}]}})",
                        list),
            EmptySource(), options);
    };
    EXPECT_NE(told(R"({"valueString":"x"})").find("code-invalid"), std::string::npos);
    EXPECT_EQ(told(components).find("code-invalid"), std::string::npos);
}

TEST(Validation, CountsEachSliceThatIsTriedOnAnElement) {
    // 3,000 slices and 5,000 elements, within the bound at one step each, used to take a network thread seconds.
    std::string elements =
        R"({"id":"Patient.name","path":"Patient.name","slicing":{"rules":"open","discriminator":[
            {"type":"value","path":"family"}]}})";
    const std::string names =
        listed(100, [](int i) { return fmt::format(R"({{"family":"x{}"}})", i); });
    for (int i = 0; i < 100; ++i) {
        elements += fmt::format(
            R"(,{{"id":"Patient.name:n{0}","path":"Patient.name","sliceName":"n{0}"}},)"
            R"({{"id":"Patient.name:n{0}.family","path":"Patient.name.family","fixedString":"n{0}"}})",
            i);
    }
    TextSource source;
    source.add(profile_of("Patient", elements));
    Options options = by_profile();
    const std::string patient = R"({"resourceType":"Patient","name":[)" + names + "]}";
    EXPECT_EQ(issues(patient, source, options), "");
    options.steps = 90'000;
    EXPECT_EQ(issues(patient, source, options), "error too-costly Patient\n");
}

TEST(Validation, CountsTheElementsThatAProfileIsMadeOf) {
    // Each is searched for among its siblings: 19,000 slices, in 2 MB, used to take a network thread two seconds.
    std::string slices = R"({"id":"Observation.component","path":"Observation.component"})";
    for (int i = 0; i < 1000; ++i) {
        slices += fmt::format(
            R"(,{{"id":"Observation.component:s{0}","path":"Observation.component","sliceName":"s{0}"}})",
            i);
    }
    const std::string profile = profile_of("Observation", slices);
    EXPECT_EQ(issues(profile), "");
    Options options;
    options.steps = 60'000;
    EXPECT_EQ(issues(profile, EmptySource(), options), "error too-costly StructureDefinition\n");
}

TEST(Validation, StopsMakingAProfileWhereTheStepsRunOut) {
    // They used to be counted when it was made: 20,000 slices, each of which thousands of elements name again, took a network
    // thread minutes.
    const auto slice = [](int i) {
        return fmt::format(
            R"({{"id":"Patient.name:s{0}","path":"Patient.name","sliceName":"s{0}"}})", i);
    };
    const std::string slices = listed(3'000, slice);
    TextSource source;
    source.add(
        profile_of("Patient", slices + "," + listed(20'000, [&](int) { return slice(2'999); })));
    const auto time = [&](std::uint64_t steps) {
        Options options = by_profile();
        options.steps = steps;
        const std::clock_t begin = std::clock();
        EXPECT_EQ(issues(R"({"resourceType":"Patient"})", source, options),
                  "error too-costly Patient\n");
        return std::clock() - begin;
    };
    EXPECT_LT(5 * time(100'000), time(5'000'000));
}

TEST(Validation, KeepsProfilesOfBoundedSize) {
    // Each of 512 used to be kept with its definition, whatever its size.
    constexpr std::size_t kBytes = 16 << 20;
    constexpr int kMoreThanKept = 18;
    const std::string element = R"({"id":"Patient.name","path":"Patient.name","definition":")" +
                                std::string(kBytes, 'x') + R"("})";
    TextSource source;
    std::weak_ptr<const json::Document> first;
    for (int i = 0; i < kMoreThanKept; ++i) {
        source.add(profile_of("Patient", element));
        EXPECT_EQ(issues(R"({"resourceType":"Patient"})", source, by_profile()), "");
        if (i == 0) {
            first = *source.find("StructureDefinition", "http://x.org/p", "");
        } else if (i == 1) {
            EXPECT_FALSE(first.expired());
        }
    }
    EXPECT_TRUE(first.expired());
}

TEST(Validation, KeepsTheProfilesOfALargeGuide) {
    // What they are derived from used to be counted for each of them, and all were dropped where these were too many bytes.
    constexpr int kProfiles = 200;
    const auto base = [](std::string_view name, std::size_t bytes, std::string_view of = {}) {
        return profile_of("Patient",
                          R"({"id":"Patient.name","path":"Patient.name","definition":")" +
                              std::string(bytes, 'x') + R"("})",
                          name, of);
    };
    const std::string minimum = R"({"id":"Patient.name","path":"Patient.name","min":1})";
    std::vector<std::weak_ptr<const json::Document>> kept;
    {
        TextSource source;
        source.add(base("national", 1 << 20));
        source.add(base("local", 1 << 20, "http://x.org/national"));
        const auto is_valid_by = [&](const std::string& url) {
            Options options;
            options.profiles = {url};
            return issues(R"({"resourceType":"Patient","name":[{"text":"x"}]})", source, options) ==
                   "";
        };
        for (int i = 0; i < kProfiles; ++i) {
            const std::string name = fmt::format("p{}", i);
            source.add(profile_of("Patient", minimum, name, "http://x.org/local"));
            EXPECT_TRUE(is_valid_by("http://x.org/" + name));
            kept.push_back(*source.find("StructureDefinition", "http://x.org/" + name, ""));
        }
        // Nor is one counted again that is made again.
        for (int i = 0; i < kProfiles; ++i) {
            source.add(base("local", 1 << 20, "http://x.org/national"));
            EXPECT_TRUE(is_valid_by("http://x.org/p0"));
        }
    }
    EXPECT_EQ(std::ranges::count_if(kept, [](const auto& one) { return one.expired(); }), 0);
}

TEST(Validation, CountsTheLengthOfTheBaseOfRelativeReferences) {
    // It precedes each reference in turn: 4,000 of them, with a megabyte, used to take 0.3 s.
    const auto is_stopped = [](std::size_t length) {
        const std::string links = listed(100, [](int) {
            return std::string(R"({"other":{"reference":"Patient/a"},"type":"seealso"})");
        });
        const json::Document document = parsed(fmt::format(
            R"({{"resourceType":"Bundle","type":"collection","entry":[{{"fullUrl":"http://{}/Patient/a",)"
            R"("resource":{{"resourceType":"Patient","id":"a","link":[{}]}}}}]}})",
            std::string(length, 'h'), links));
        Options options;
        options.steps = 50'000;
        return validate(document.root(), EmptySource(), options).stopped;
    };
    EXPECT_FALSE(is_stopped(10));
    EXPECT_TRUE(is_stopped(64'000));
}

TEST(Validation, CountsTheStepsOfDiscriminators) {
    std::string path;
    for (int i = 0; i < 10'000; ++i) {
        path += "code.";
    }
    TextSource source;
    source.add(profile_of("Observation",
                          components("open", R"({"type":"value","path":")" + path + R"(code"})",
                                     R"({"id":"Observation.component:a",
                                      "path":"Observation.component","sliceName":"a"})")));
    Options options = by_profile();
    const std::string observation = with_components(joined({kA, kB, kC, kA, kB, kC}));
    EXPECT_EQ(issues(observation, source, options), "");
    options.steps = 50'000;
    EXPECT_EQ(issues(observation, source, options), "error too-costly Observation\n");
}

TEST(Validation, CountsWhatIsComparedWithAPattern) {
    // 40,000 codings, each searched for among as many, used to take minutes.
    const auto coding = [](int i) { return fmt::format(R"({{"code":"c{}"}})", i); };
    const std::string pattern = listed(200, coding);
    const std::string codings = listed(200, [&](int i) { return coding(199 - i); });
    TextSource source;
    source.add(profile_of("Observation", R"({"id":"Observation.code","path":"Observation.code",)"
                                         R"("patternCodeableConcept":{"coding":[)" +
                                             pattern + "]}}"));
    Options options = by_profile();
    const std::string observation =
        R"({"resourceType":"Observation","status":"final","code":{"coding":[)" + codings + "]}}";
    EXPECT_EQ(issues(observation, source, options), "");
    options.steps = 20'000;
    EXPECT_EQ(issues(observation, source, options), "error too-costly Observation\n");
}

TEST(Validation, CountsWhatIsAskedOfValueSets) {
    // Beyond the bound, bindings used to be skipped without a word.
    const std::string parts = listed(100, [](int i) {
        return fmt::format(
            R"({{"system":"http://x.org/s{}","filter":[{{"property":"code","op":"=","value":"a"}}]}})",
            i);
    });
    const std::string codings = listed(100, [](int i) {
        return fmt::format(R"({{"system":"http://x.org/none","code":"c{}"}})", i);
    });
    TextSource source;
    source.add(
        R"({"resourceType":"ValueSet","url":"http://x.org/vs","status":"active","compose":{"include":[)" +
        parts + "]}}");
    source.add(profile_of("Observation", R"({"id":"Observation.code","path":"Observation.code",
        "binding":{"strength":"required","valueSet":"http://x.org/vs"}})"));
    Options options = by_profile();
    const std::string observation =
        R"({"resourceType":"Observation","status":"final","code":{"coding":[)" + codings + "]}}";
    EXPECT_EQ(issues(observation, source, options), "error code-invalid Observation.code\n");
    options.steps = 50'000;
    EXPECT_EQ(issues(observation, source, options), "error too-costly Observation\n");
}

TEST(Validation, ReadsARuleOfAProfileOnceAlsoIfItCannotBeRead) {
    // A rule of 15 KB with a fault at its end used to be read again for each element: 4,000 took a network thread four seconds.
    std::string ones = "(1";
    for (int i = 0; i < 60; ++i) {
        ones += "|1";
    }
    std::string rule = ones + ")";
    for (int i = 0; i < 100; ++i) {
        rule.append("|").append(ones).append(")");
    }
    TextSource source;
    source.add(
        profile_of("Patient", R"({"id":"Patient.name","path":"Patient.name","constraint":[)"
                              R"({"key":"x-1","severity":"error","human":"","expression":")" +
                                  rule + R"x( )"}]})x"));
    Options options = by_profile();
    const std::string names = listed(2'000, [](int) { return R"({"family":"a"})"; });
    const json::Document patient = parsed(R"({"resourceType":"Patient","name":[)" + names + "]}");
    const auto time = [&](const Options& by) {
        const std::clock_t begin = std::clock();
        EXPECT_TRUE(validate(patient.root(), source, by).valid);
        return std::clock() - begin;
    };
    const std::clock_t without = std::min(time({}), time({}));
    EXPECT_LT(time(options), 5 * without + CLOCKS_PER_SEC / 100);
}

TEST(Validation, CountsTheNodesOfTheRulesOfProfiles) {
    // A rule of some 300,000 nodes for each of 40 names: none is too costly by itself, but all together would take seconds.
    TextSource source;
    source.add(profile_of("Patient", R"x({"id":"Patient.name","path":"Patient.name","constraint":[
        {"key":"dear-1","severity":"error","human":"","expression":
        "%resource.name.all(%resource.name.all(%resource.name.all($this.family.exists())))"}]})x"));
    Options options = by_profile();
    const std::string names =
        listed(40, [](int i) { return fmt::format(R"({{"family":"x{}"}})", i); });
    const std::string patient = R"({"resourceType":"Patient","name":[)" + names + "]}";
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"family":"a"},{"family":"b"}]})", source,
                     options),
              "");
    options.steps = 5'000'000;
    EXPECT_EQ(issues(patient, source, options), "error too-costly Patient\n");
}

}  // namespace
}  // namespace annals::validation
