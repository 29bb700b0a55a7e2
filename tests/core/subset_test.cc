#include "core/subset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace annals::core {
namespace {

constexpr std::string_view kTag =
    R"({"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationValue","code":"SUBSETTED"})";

std::string subset(std::string_view text, const Subset& wanted) {
    json::Parser parser;
    const auto document = parser.parse(text);
    EXPECT_TRUE(document);
    std::string out;
    append_subset(document->root(), wanted, out);
    EXPECT_TRUE(parser.parse(out)) << out;
    return out;
}

std::string summary(std::string_view text, Summary which) {
    return subset(text, {which, {}});
}

std::string elements(std::string_view text, std::string_view list) {
    Subset wanted;
    EXPECT_TRUE(read_elements(list, wanted.elements));
    return subset(text, wanted);
}

std::string tagged(std::string text) {
    text.replace(text.find("TAG"), 3, kTag);
    return text;
}

TEST(Summary, KeepsWhatTheDefinitionsMark) {
    EXPECT_EQ(
        summary(R"({"resourceType":"Patient","id":"1","meta":{"versionId":"1"},)"
                R"("text":{"status":"empty"},"extension":[{"url":"x"}],"active":true,)"
                R"("name":[{"family":"A"}],"photo":[{"title":"p"}],"gender":"male",)"
                R"("_gender":{"id":"g"},"contact":[{"gender":"male"}],"unknown":1,)"
                R"("link":[{"other":{"reference":"Patient/2"},"type":"seealso","odd":2}]})",
                Summary::summary),
        tagged(R"({"resourceType":"Patient","id":"1","meta":{"versionId":"1","tag":[TAG]},)"
               R"("active":true,"name":[{"family":"A"}],"gender":"male","_gender":{"id":"g"},)"
               R"("link":[{"other":{"reference":"Patient/2"},"type":"seealso"}]})"));
}

TEST(Summary, LeavesOutWhatIsNotMarkedInsideOfDataTypes) {
    // Attachment.data is not in the summary; content and attachment are mandatory.
    EXPECT_EQ(summary(R"({"resourceType":"DocumentReference","meta":{},"status":"current",)"
                      R"("content":[{"attachment":{"contentType":"text/plain","data":"Zg=="}},)"
                      R"({"attachment":{"data":"Zg=="}}]})",
                      Summary::summary),
              tagged(R"({"resourceType":"DocumentReference","meta":{"tag":[TAG]},)"
                     R"("status":"current","content":[{"attachment":{"contentType":"text/plain"}},)"
                     R"({"attachment":{"data":"Zg=="}}]})"));
}

TEST(Summary, LeavesNoEmptyObjects) {
    EXPECT_EQ(summary(R"({"resourceType":"Media","meta":{},"status":"completed",)"
                      R"("note":[{"text":"n"}],"content":{"contentType":"a/b"},)"
                      R"("subject":{"display":"S","id":"i","extension":[{"url":"u"}]}})",
                      Summary::summary),
              tagged(R"({"resourceType":"Media","meta":{"tag":[TAG]},"status":"completed",)"
                     R"("content":{"contentType":"a/b"},"subject":{"display":"S"}})"));
    EXPECT_EQ(
        summary(R"({"resourceType":"Media","meta":{},"status":"completed",)"
                R"("content":{"extension":[{"url":"u"}]},"subject":{"extension":[{"url":"u"}]}})",
                Summary::summary),
        tagged(R"({"resourceType":"Media","meta":{"tag":[TAG]},"status":"completed",)"
               R"("content":{"extension":[{"url":"u"}]}})"));
}

TEST(Summary, LeavesOutExtensionsButThoseThatModifyAndThoseOfPrimitives) {
    EXPECT_EQ(
        summary(
            R"({"resourceType":"Patient","meta":{},"extension":[{"url":"u"}],)"
            R"("modifierExtension":[{"url":"m","extension":[{"url":"n","valueBoolean":true}]}],)"
            R"("name":[{"id":"i","extension":[{"url":"u"}],"family":"A",)"
            R"("_family":{"extension":[{"url":"u"}]}}],)"
            R"("link":[{"id":"l","modifierExtension":[{"url":"m","valueBoolean":true}],)"
            R"("other":{"reference":"Patient/2"},"type":"seealso"}]})",
            Summary::summary),
        tagged(R"({"resourceType":"Patient","meta":{"tag":[TAG]},)"
               R"("modifierExtension":[{"url":"m","extension":[{"url":"n","valueBoolean":true}]}],)"
               R"("name":[{"family":"A","_family":{"extension":[{"url":"u"}]}}],)"
               R"("link":[{"modifierExtension":[{"url":"m","valueBoolean":true}],)"
               R"("other":{"reference":"Patient/2"},"type":"seealso"}]})"));
}

TEST(Summary, OfTextIsTheNarrativeAndWhatIsMandatory) {
    EXPECT_EQ(summary(R"({"resourceType":"Observation","id":"1","meta":{},)"
                      R"("implicitRules":"http://r","text":{"div":"x"},)"
                      R"("status":"final","code":{"text":"c"},"valueString":"v"})",
                      Summary::text),
              tagged(R"({"resourceType":"Observation","id":"1","meta":{"tag":[TAG]},)"
                     R"("implicitRules":"http://r","text":{"div":"x"},"status":"final",)"
                     R"("code":{"text":"c"}})"));
}

TEST(Summary, OfDataIsAllButTheNarrative) {
    EXPECT_EQ(summary(R"({"resourceType":"Patient","meta":{},"text":{"div":"x"},"unknown":1.00})",
                      Summary::data),
              tagged(R"({"resourceType":"Patient","meta":{"tag":[TAG]},"unknown":1.00})"));
}

TEST(Elements, KeepWhatIsListedMandatoryOrModifies) {
    constexpr std::string_view kObservation =
        R"({"resourceType":"Observation","id":"1","implicitRules":"r","meta":{},"status":"final",)"
        R"("code":{"text":"c"},"subject":{"display":"s"},"valueQuantity":{"value":1.0},)"
        R"("_issued":{"id":"i"},"issued":"2020"})";
    const std::string rest =
        tagged(R"({"resourceType":"Observation","id":"1","implicitRules":"r","meta":{"tag":[TAG]},)"
               R"("status":"final","code":{"text":"c"})");
    EXPECT_EQ(elements(kObservation, "id"), rest + "}");
    EXPECT_EQ(elements(kObservation, "subject"), rest + R"(,"subject":{"display":"s"}})");
    for (const char* name : {"value", "value[x]", "valueQuantity", "Observation.value",
                             "Observation.value[x], Patient.name"}) {
        EXPECT_EQ(elements(kObservation, name), rest + R"(,"valueQuantity":{"value":1.0}})")
            << name;
    }
    EXPECT_EQ(elements(kObservation, "issued"), rest + R"(,"_issued":{"id":"i"},"issued":"2020"})");
    EXPECT_EQ(elements(kObservation, "Patient.subject"), rest + "}");
}

TEST(Elements, KeepModifiers) {
    EXPECT_EQ(elements(R"({"resourceType":"Patient","meta":{},"active":false,"gender":"male",)"
                       R"("deceasedBoolean":true})",
                       "name"),
              tagged(R"({"resourceType":"Patient","meta":{"tag":[TAG]},"active":false,)"
                     R"("deceasedBoolean":true})"));
}

TEST(Subsetted, JoinsTheTagsThatAreThere) {
    EXPECT_EQ(
        elements(R"({"resourceType":"Patient","meta":{"tag":[{"code":"a"}],"source":"s"}})", "id"),
        tagged(R"({"resourceType":"Patient","meta":{"tag":[{"code":"a"},TAG],"source":"s"}})"));
    const std::string once = tagged(R"({"resourceType":"Patient","meta":{"tag":[TAG]}})");
    EXPECT_EQ(elements(once, "id"), once);
}

TEST(Subsetted, MakesAMetaWhereThereIsNone) {
    EXPECT_EQ(elements(R"({"resourceType":"Patient","id":"1","active":true})", "id"),
              tagged(R"({"resourceType":"Patient","id":"1","meta":{"tag":[TAG]},"active":true})"));
    EXPECT_EQ(elements(R"({"resourceType":"Patient","active":true})", "id"),
              tagged(R"({"resourceType":"Patient","meta":{"tag":[TAG]},"active":true})"));
}

TEST(Subsetted, IsFoundBySystemAndCode) {
    json::Parser parser;
    const auto found = [&](const std::string& meta) {
        const auto document = parser.parse(meta);
        EXPECT_TRUE(document);
        return is_subsetted(document->root());
    };
    EXPECT_TRUE(found(R"({"tag":[{"code":"x"},)" + std::string(kTag) + "]}"));
    EXPECT_FALSE(found(R"({"tag":[{"code":"SUBSETTED","system":"other"}]})"));
    EXPECT_FALSE(found(R"({"tag":{"code":"SUBSETTED"}})"));
    EXPECT_FALSE(found("{}"));
    EXPECT_FALSE(is_subsetted({}));
}

TEST(Subset, LeavesOutcomesAndUnknownTypesAlone) {
    for (const char* text : {R"({"resourceType":"OperationOutcome","issue":[{"odd":1}]})",
                             R"({"resourceType":"Nonsense","odd":1})", R"({"odd":1})"}) {
        EXPECT_EQ(summary(text, Summary::summary), text);
    }
}

TEST(ReadElements, RefusesWhatIsNoName) {
    for (const char* list : {"", ",", "name,", "name.family", "Nonsense.name", "a b", "*", "_id",
                             "Patient.", ".name", "Patient.name.family"}) {
        ElementNames names;
        EXPECT_FALSE(read_elements(list, names)) << list;
    }
}

TEST(ReadElements, TakesAThousandNames) {
    ElementNames names;
    std::string list = "a";
    for (int i = 1; i < 1000; ++i) {
        list += fmt::format(",a{}", i);
    }
    EXPECT_TRUE(read_elements(list, names));
    EXPECT_EQ(names.size(), 1000U);
    EXPECT_FALSE(read_elements("b", names));
}

TEST(ReadSummary, KnowsFiveWords) {
    EXPECT_EQ(read_summary("true").value(), Summary::summary);
    EXPECT_EQ(read_summary("text").value(), Summary::text);
    EXPECT_EQ(read_summary("data").value(), Summary::data);
    EXPECT_EQ(read_summary("count").value(), Summary::count);
    EXPECT_EQ(read_summary("false").value(), Summary::none);
    EXPECT_FALSE(read_summary("True"));
    EXPECT_FALSE(read_summary(""));
}

}  // namespace
}  // namespace annals::core
