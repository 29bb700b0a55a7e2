// FHIRPath diff: what it says of small changes, and that applying it as a patch turns one resource into the other.

#include "codec/patch/fhirpath_diff.h"

#include "codec/patch/fhirpath_patch.h"
#include "tests/codec/parse.h"
#include "tests/support/files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <random>

namespace annals::patch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The value with the members of objects sorted by name; the resource itself without id and meta.
std::string canonical(json::Value value, bool top = true) {
    if (value.is_object()) {
        std::map<std::string, std::string> members;
        for (const auto [key, member] : value.members()) {
            if (!top || (!key.equals("id") && !key.equals("meta"))) {
                members[key.string()] = canonical(member, false);
            }
        }
        std::string out = "{";
        for (const auto& [key, text] : members) {
            out += fmt::format("{}:{},", key, text);
        }
        return out + "}";
    }
    if (value.is_array()) {
        std::string out = "[";
        for (const json::Value element : value.elements()) {
            out += canonical(element, false) + ",";
        }
        return out + "]";
    }
    return value.is_string() ? json::quoted(value.string()) : std::string(value.raw());
}

/// False if the diff is too long for a patch. Otherwise expects it to turn one into the other.
bool turns(std::string_view from, std::string_view to) {
    const json::Document before = parse(from);
    const json::Document after = parse(to);
    const std::string diff = diff_resources(before.root(), after.root());
    const json::Document parameters = parse(diff);
    if (parameters.root()["parameter"].size() > kPatchOperationsMax) {
        return false;
    }
    const Result<std::string> patched = apply_fhirpath_patch(before.root(), parameters.root());
    if (!patched) {
        ADD_FAILURE() << patched.error().detail << "\n" << diff.substr(0, 3000);
        return false;
    }
    EXPECT_EQ(canonical(parse(*patched).root()), canonical(after.root())) << diff.substr(0, 3000);
    return true;
}

std::string patient(std::string_view rest) {
    return fmt::format(R"({{"resourceType":"Patient","id":"a"{}}})", rest);
}

std::string diff(std::string_view from, std::string_view to, bool meta = false) {
    const json::Document before = parse(patient(from));
    const json::Document after = parse(patient(to));
    return diff_resources(before.root(), after.root(), {.meta = meta});
}

TEST(FhirpathDiff, OfEqualResourcesIsEmpty) {
    EXPECT_EQ(diff(R"(,"gender":"male")", R"(,"gender":"male")"),
              R"({"resourceType":"Parameters"})");
    EXPECT_EQ(
        diff(R"(,"name":[{"family":"A","text":"x"}])", R"(,"name":[{"text":"x","family":"A"}])"),
        R"({"resourceType":"Parameters"})");
}

TEST(FhirpathDiff, DoesNotMindHowStringsAreEscapedAndMembersOrdered) {
    EXPECT_EQ(diff(R"(,"language":"d\u0065","name":[{"family":"M\u00fcller\/x"},{"text":"a"}])",
                   R"(,"language":"de","name":[{"family":"Müller/x"},{"text":"\u0061"}])"),
              R"({"resourceType":"Parameters"})");
    EXPECT_EQ(diff(R"(,"contained":[{"resourceType":"Group","id":"g","_name":{"id":"\u0061"}}])",
                   R"(,"contained":[{"_name":{"id":"a"},"id":"g","resourceType":"Group"}])"),
              R"({"resourceType":"Parameters"})");
    // Unchanged parts are recognised even if they are written differently.
    const std::string text = diff(R"(,"name":[{"text":"a"},{"text":"b"},{"text":"c","use":"old"}])",
                                  R"(,"name":[{"text":"a"},{"use":"old","text":"\u0063"}])");
    EXPECT_THAT(text, HasSubstr(R"("valueCode":"delete")"));
    EXPECT_THAT(text, HasSubstr(R"("valueString":"Patient.name[1]")"));
    EXPECT_THAT(text, Not(HasSubstr("Patient.name[2]")));
    EXPECT_THAT(diff(R"(,"multipleBirthInteger":1)", R"(,"multipleBirthInteger":2)"),
                HasSubstr("replace"));
}

TEST(FhirpathDiff, SaysWhatWasThereBefore) {
    EXPECT_EQ(
        diff(R"(,"gender":"male")", R"(,"gender":"female")"),
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[{"name":"type","valueCode":"replace"},)"
        R"({"name":"path","valueString":"Patient.gender"},{"name":"value","valueCode":"female"},)"
        R"({"name":"previousValue","valueCode":"male"}]}]})");
    EXPECT_EQ(
        diff(R"(,"birthDate":"2000")", ""),
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[{"name":"type","valueCode":"delete"},)"
        R"({"name":"path","valueString":"Patient.birthDate"},{"name":"previousValue","valueDate":"2000"}]}]})");
    EXPECT_EQ(
        diff("", R"(,"name":[{"family":"A"}])"),
        R"({"resourceType":"Parameters","parameter":[{"name":"operation","part":[{"name":"type","valueCode":"add"},)"
        R"({"name":"path","valueString":"Patient"},{"name":"name","valueString":"name"},)"
        R"({"name":"value","valueHumanName":{"family":"A"}}]}]})");
}

TEST(FhirpathDiff, GoesIntoWhatStays) {
    const std::string text = diff(R"(,"name":[{"family":"A","given":["x","y"]},{"text":"z"}])",
                                  R"(,"name":[{"family":"B","given":["x","y"]},{"text":"z"}])");
    EXPECT_THAT(text, HasSubstr(R"("valueString":"Patient.name[0].family")"));
    EXPECT_THAT(text, Not(HasSubstr("given")));
}

TEST(FhirpathDiff, LeavesMetaOutUnlessItIsAskedFor) {
    const char* const from = R"(,"meta":{"versionId":"1","lastUpdated":"2020-01-01T00:00:00Z"})";
    const char* const to =
        R"(,"meta":{"versionId":"2","lastUpdated":"2021-01-01T00:00:00Z","tag":[{"code":"x"}]})";
    EXPECT_EQ(diff(from, to), R"({"resourceType":"Parameters"})");
    const std::string with = diff(from, to, true);
    EXPECT_THAT(with, HasSubstr(R"("valueString":"Patient.meta")"));
    EXPECT_THAT(with, HasSubstr(R"("valueCoding":{"code":"x"})"));
    EXPECT_THAT(with, Not(HasSubstr("versionId")));
    // Not replaced as a whole, though they have nothing in common.
    EXPECT_THAT(diff(R"(,"meta":{"versionId":"1","source":"a"})",
                     R"(,"meta":{"tag":[{"code":"x"}]})", true),
                Not(HasSubstr("replace")));
}

TEST(FhirpathDiff, TurnsOneResourceIntoTheOther) {
    const std::string cases[] = {
        "",
        R"(,"gender":"male")",
        R"(,"gender":"male","_gender":{"extension":[{"url":"http://x","valueCode":"y"}]})",
        R"(,"_gender":{"id":"g"})",
        R"(,"deceasedBoolean":true)",
        R"(,"deceasedDateTime":"2020-01-01")",
        R"(,"name":[{"family":"A"}])",
        R"(,"name":[{"family":"B","given":["1","2","3"]},{"text":"t"}])",
        R"(,"name":[{"given":["0","1","3"],"family":"B"},{"text":"t"},{"use":"old"}])",
        R"(,"name":[{"text":"t"}])",
        R"(,"name":[{"given":["a",null,"c"],"_given":[null,{"id":"b"},null]}])",
        R"(,"contact":[{"name":{"family":"C"},"relationship":[{"text":"r"}],"extension":[{"url":"u","valueString":"v"}]}])",
        R"(,"contact":[{"gender":"other"},{"name":{"family":"C"},"telecom":[{"value":"1"},{"value":"2"}]}])",
        R"(,"text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">a</div>"})",
        R"(,"text":{"status":"empty","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">b</div>"},"active":true)",
        R"(,"contained":[{"resourceType":"Organization","id":"o","name":"x"}],"managingOrganization":{"reference":"#o"})",
        R"(,"contained":[{"resourceType":"Organization","id":"o","name":"y"},{"resourceType":"Patient","id":"p"}])",
        R"(,"extension":[{"url":"a","extension":[{"url":"b","valueInteger":1}]},{"url":"c","valueMoney":{"value":1.50}}])",
        R"(,"extension":[{"url":"c","valueMoney":{"value":1.5}}],"multipleBirthInteger":2)",
        R"(,"communication":[{"language":{"text":"de"},"preferred":true},{"language":{"text":"en"}}])",
    };
    for (const std::string& from : cases) {
        for (const std::string& to : cases) {
            SCOPED_TRACE(from + " -> " + to);
            EXPECT_TRUE(turns(patient(from), patient(to)));
        }
    }
}

TEST(FhirpathDiff, KnowsAnElementThatIsCalledResourceTypeFromAResource) {
    const auto scenario = [](std::string_view instances) {
        return fmt::format(
            R"({{"resourceType":"ExampleScenario","id":"a","status":"draft","instance":[{}]}})",
            instances);
    };
    const std::string one = scenario(R"({"resourceId":"i","resourceType":"Patient","name":"n"})");
    const std::string other = scenario(
        R"({"resourceId":"i","resourceType":"Patient"},{"resourceId":"j","resourceType":"Group"})");
    EXPECT_TRUE(turns(one, other));
    EXPECT_TRUE(turns(other, one));
}

TEST(FhirpathDiff, TurnsRandomlyEditedListsIntoEachOther) {
    std::mt19937 random(7);
    const auto make = [&] {
        std::string out = R"(,"name":[)";
        const auto names = 1 + random() % 6;
        for (std::size_t i = 0; i < names; ++i) {
            out += fmt::format(R"({}{{"family":"{}"{}}})", i == 0 ? "" : ",",
                               std::string(1, static_cast<char>('A' + random() % 3)),
                               random() % 2 == 0 ? R"(,"given":["x"])" : "");
        }
        return patient(out + "]");
    };
    for (int i = 0; i < 500; ++i) {
        const std::string from = make();
        const std::string to = make();
        SCOPED_TRACE(from + " -> " + to);
        ASSERT_TRUE(turns(from, to));
    }
}

TEST(FhirpathDiff, TurnsExamplesOfATypeIntoEachOther) {
    const auto folder = test::test_data("r4-official-dev/r4-examples/json");
    if (folder.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
    std::map<std::string, std::vector<std::string>> by_type;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.file_size() > 30'000) {
            continue;
        }
        std::string text = test::read_whole_file(file.path());
        const std::string type = parse(text).root()["resourceType"].string();
        if (!type.empty() && by_type[type].size() < 3) {
            by_type[type].push_back(std::move(text));
        }
    }
    int done = 0;
    for (const auto& [type, texts] : by_type) {
        for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
            SCOPED_TRACE(type + texts[i].substr(0, 200) + texts[i + 1].substr(0, 200));
            done += turns(texts[i], texts[i + 1]) ? 1 : 0;
            done += turns(texts[i + 1], texts[i]) ? 1 : 0;
        }
    }
    EXPECT_GT(done, 100);
}

}  // namespace
}  // namespace annals::patch
