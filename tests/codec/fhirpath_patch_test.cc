// FHIRPath Patch on resources: what each operation does to lists, primitives with extensions and choices, and
// every way to be wrong.

#include "codec/patch/fhirpath_patch.h"

#include "codec/fhirpath/fhirpath.h"
#include "tests/codec/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::patch {
namespace {

// {"name":"value",...}: a part.
std::string part(std::string_view name, std::string_view value) {
    return fmt::format(R"({{"name":"{}",{}}})", name, value);
}

std::string operation(std::string_view type, std::string_view path,
                      const std::vector<std::string>& more = {}) {
    std::string out = fmt::format(
        R"({{"name":"operation","part":[{{"name":"type","valueCode":"{}"}},{{"name":"path","valueString":"{}"}})",
        type, path);
    for (const std::string& one : more) {
        out += "," + one;
    }
    return out + "]}";
}

std::string add(std::string_view path, std::string_view name, std::string_view value) {
    return operation(
        "add", path,
        {part("name", fmt::format(R"("valueString":"{}")", name)), part("value", value)});
}

std::string insert(std::string_view path, int index, std::string_view value) {
    return operation(
        "insert", path,
        {part("index", fmt::format(R"("valueInteger":{})", index)), part("value", value)});
}

std::string replace(std::string_view path, std::string_view value) {
    return operation("replace", path, {part("value", value)});
}

std::string move(std::string_view path, int source, int destination) {
    return operation("move", path,
                     {part("source", fmt::format(R"("valueInteger":{})", source)),
                      part("destination", fmt::format(R"("valueInteger":{})", destination))});
}

Result<std::string> patched(std::string_view resource, const std::vector<std::string>& operations,
                            const Limits& limits = {}) {
    std::string parameters = R"({"resourceType":"Parameters","parameter":[)";
    for (const std::string& one : operations) {
        parameters += (parameters.back() == '[' ? "" : ",") + one;
    }
    parameters += "]}";
    const json::Document document = parse(resource);
    const json::Document patch = parse(parameters);
    return apply_fhirpath_patch(document.root(), patch.root(), limits);
}

// The patient's members after the patch, without resourceType.
std::string applied(std::string_view members, const std::vector<std::string>& operations) {
    const std::string before =
        fmt::format(R"({{"resourceType":"Patient"{}{}}})", members.empty() ? "" : ",", members);
    const Result<std::string> result = patched(before, operations);
    if (!result) {
        return "error: " + result.error().detail;
    }
    return result->substr(std::string_view(R"({"resourceType":"Patient")").size());
}

Error failed(std::string_view members, const std::vector<std::string>& operations) {
    const std::string before =
        fmt::format(R"({{"resourceType":"Patient"{}{}}})", members.empty() ? "" : ",", members);
    Result<std::string> result = patched(before, operations);
    EXPECT_FALSE(result) << operations.back();
    return result ? Error{} : result.error();
}

TEST(FhirpathPatch, WithoutOperationsGivesTheResource) {
    EXPECT_EQ(applied(R"("active":true)", {}), R"(,"active":true})");
}

TEST(FhirpathPatch, KeepsDigitsEscapesAndOrderOfWhatItLeavesAlone) {
    const auto result =
        patched(R"({"id":"1","status":"final","resourceType":"Observation","valueQuantity":)"
                R"({"value":1.00,"unit":"\u00b5g"},"x":[0.10]})",
                {add("Observation", "issued", R"("valueInstant":"2020-01-01T00:00:00Z")")});
    ASSERT_TRUE(result) << result.error().detail;
    EXPECT_EQ(*result,
              R"({"id":"1","status":"final","resourceType":"Observation","valueQuantity":)"
              R"({"value":1.00,"unit":"\u00b5g"},"x":[0.10],"issued":"2020-01-01T00:00:00Z"})");
}

TEST(FhirpathPatch, AddsToListsAndOnlyOnceElsewhere) {
    EXPECT_EQ(applied("", {add("Patient", "name", R"("valueHumanName":{"family":"A"})"),
                           add("Patient.name[0]", "given", R"("valueString":"B")"),
                           add("Patient.name", "given", R"("valueString":"C")")}),
              R"(,"name":[{"family":"A","given":["B","C"]}]})");
    EXPECT_EQ(
        failed(R"("active":true)", {add("Patient", "active", R"("valueBoolean":false)")}).code,
        Errc::invalid);
    EXPECT_EQ(
        failed(R"("_active":{"id":"x"})", {add("Patient", "active", R"("valueBoolean":false)")})
            .code,
        Errc::invalid);
}

TEST(FhirpathPatch, FindsTheOptionOfAChoiceByItsValue) {
    for (const std::string_view name : {"deceased", "deceased[x]", "deceasedBoolean"}) {
        EXPECT_EQ(applied("", {add("Patient", name, R"("valueBoolean":true)")}),
                  R"(,"deceasedBoolean":true})");
    }
    EXPECT_EQ(failed(R"("deceasedBoolean":true)",
                     {add("Patient", "deceased", R"("valueDateTime":"2020")")})
                  .code,
              Errc::invalid);
    EXPECT_EQ(failed("", {add("Patient", "deceased", R"("valuePeriod":{"start":"2020"})")}).code,
              Errc::invalid);
    EXPECT_EQ(applied(R"("deceasedBoolean":true,"_deceasedBoolean":{"id":"a"},"active":true)",
                      {replace("Patient.deceased", R"("valueDateTime":"2020")")}),
              R"(,"active":true,"deceasedDateTime":"2020"})");
}

TEST(FhirpathPatch, TakesPrimitivesOfTheSameKindOfJson) {
    EXPECT_EQ(applied("", {add("Patient", "gender", R"("valueString":"male")")}),
              R"(,"gender":"male"})");
    EXPECT_EQ(failed("", {add("Patient", "gender", R"("valueBoolean":true)")}).code, Errc::invalid);
    EXPECT_EQ(failed("", {add("Patient", "gender", R"("valueCoding":{"code":"male"})")}).code,
              Errc::invalid);
    EXPECT_EQ(failed("", {add("Patient", "name", R"("valueAddress":{"city":"X"})")}).code,
              Errc::invalid);
    EXPECT_EQ(failed(R"("name":[{"text":"A"}])",
                     {insert("Patient.name", 0, R"("valueAddress":{"city":"X"})")})
                  .code,
              Errc::invalid);
    EXPECT_EQ(
        failed("", {add("Patient", "gender", R"("valueCode":"male","valueString":"female")")}).code,
        Errc::invalid);
}

TEST(FhirpathPatch, DoesNotGuessTheTypeOfAChoiceThatIsGivenByParts) {
    EXPECT_EQ(failed("", {add("Patient", "extension",
                              R"("part":[{"name":"url","valueUri":"u"},)"
                              R"({"name":"value","part":[{"name":"id","valueString":"a"}]}])")})
                  .code,
              Errc::invalid);
}

TEST(FhirpathPatch, BuildsElementsOfParts) {
    EXPECT_EQ(
        applied("", {add("Patient", "contact",
                         R"("part":[{"name":"name","valueHumanName":{"text":"N"}},)"
                         R"({"name":"telecom","part":[{"name":"value","valueString":"1"}]},)"
                         R"({"name":"gender","_valueCode":{"id":"g"}},)"
                         R"({"name":"telecom","valueContactPoint":{"value":"2"}}])")}),
        R"(,"contact":[{"name":{"text":"N"},"telecom":[{"value":"1"},{"value":"2"}],"_gender":{"id":"g"}}]})");
    EXPECT_EQ(
        applied("", {add("Patient", "name",
                         R"("part":[{"name":"given","valueString":"A"},)"
                         R"({"name":"given","valueString":"B","_valueString":{"id":"b"}},)"
                         R"({"name":"extension","part":[{"name":"url","valueUri":"u"},)"
                         R"({"name":"value","valueInteger":1}]}])")}),
        R"(,"name":[{"given":["A","B"],"_given":[null,{"id":"b"}],"extension":[{"url":"u","valueInteger":1}]}]})");
    EXPECT_EQ(
        failed("", {add("Patient", "contact", R"("part":[{"name":"nothing","valueString":"N"}])")})
            .code,
        Errc::invalid);
    EXPECT_EQ(failed("", {add("Patient", "contact",
                              R"("part":[{"name":"gender","valueCode":"male"},)"
                              R"({"name":"gender","valueCode":"male"}])")})
                  .code,
              Errc::invalid);
    EXPECT_EQ(
        failed("", {add("Patient", "active", R"("part":[{"name":"id","valueString":"a"}])")}).code,
        Errc::invalid);
}

TEST(FhirpathPatch, AddsContainedResources) {
    EXPECT_EQ(applied("", {add("Patient", "contained",
                               R"("resource":{"resourceType":"Organization","id":"o"})"),
                           add("Patient.contained[0]", "name", R"("valueString":"O")")}),
              R"(,"contained":[{"resourceType":"Organization","id":"o","name":"O"}]})");
    EXPECT_EQ(
        applied(R"("contained":[{"resourceType":"Patient","id":"p"}])",
                {insert("Patient.contained", 0,
                        R"("resource":{"resourceType":"Organization","id":"o","name":"O"})")}),
        R"(,"contained":[{"resourceType":"Organization","id":"o","name":"O"},{"resourceType":"Patient","id":"p"}]})");
    EXPECT_EQ(failed("", {add("Patient", "contained", R"("valueString":"x")")}).code,
              Errc::invalid);
    EXPECT_EQ(failed("", {add("Patient", "name", R"("resource":{"resourceType":"Patient"})")}).code,
              Errc::invalid);
}

TEST(FhirpathPatch, KeepsExtensionsOfPrimitivesInStep) {
    const std::string_view given = R"("name":[{"given":["A","B","C"],"_given":[null,{"id":"b"}]}])";
    EXPECT_EQ(applied(given, {insert("Patient.name.given", 0, R"("valueString":"X")")}),
              R"(,"name":[{"given":["X","A","B","C"],"_given":[null,null,{"id":"b"},null]}]})");
    EXPECT_EQ(
        applied(given, {insert("Patient.name.given", 3,
                               R"("valueString":"X","_valueString":{"id":"x"})")}),
        R"(,"name":[{"given":["A","B","C","X"],"_given":[null,{"id":"b"},null,{"id":"x"}]}]})");
    EXPECT_EQ(applied(given, {operation("delete", "Patient.name.given[0]")}),
              R"(,"name":[{"given":["B","C"],"_given":[{"id":"b"}]}]})");
    EXPECT_EQ(applied(given, {operation("delete", "Patient.name.given[1]")}),
              R"(,"name":[{"given":["A","C"]}]})");
    EXPECT_EQ(applied(given, {move("Patient.name.given", 1, 2)}),
              R"(,"name":[{"given":["A","C","B"],"_given":[null,null,{"id":"b"}]}]})");
    EXPECT_EQ(applied(given, {replace("Patient.name.given[1]", R"("valueString":"X")")}),
              R"(,"name":[{"given":["A","X","C"]}]})");
    EXPECT_EQ(applied(R"("name":[{"given":["A"]}])",
                      {replace("Patient.name.given[0]", R"("_valueString":{"id":"x"})")}),
              R"(,"name":[{"_given":[{"id":"x"}]}]})");
    // A list that is created for values or extensions is as long as the other one.
    const std::string_view plain = R"("name":[{"given":["A","B","C"]}])";
    EXPECT_EQ(applied(plain, {replace("Patient.name.given[1]",
                                      R"("valueString":"X","_valueString":{"id":"x"})")}),
              R"(,"name":[{"given":["A","X","C"],"_given":[null,{"id":"x"},null]}]})");
    EXPECT_EQ(applied(plain, {insert("Patient.name.given", 0,
                                     R"("valueString":"X","_valueString":{"id":"x"})")}),
              R"(,"name":[{"given":["X","A","B","C"],"_given":[{"id":"x"},null,null,null]}]})");
    EXPECT_EQ(
        applied(given, {add("Patient.name", "given", R"("_valueString":{"id":"d"})")}),
        R"(,"name":[{"given":["A","B","C",null],"_given":[null,{"id":"b"},null,{"id":"d"}]}]})");
}

TEST(FhirpathPatch, AddsExtensionsToPrimitives) {
    const std::string_view extension = R"("valueExtension":{"url":"u","valueCode":"x"})";
    // Extension is not a type of parameters, so it must be given in parts.
    EXPECT_EQ(failed(R"("active":true)", {add("Patient.active", "extension", extension)}).code,
              Errc::invalid);
    const std::string_view parts =
        R"("part":[{"name":"url","valueUri":"u"},{"name":"value","valueCode":"x"}])";
    EXPECT_EQ(applied(R"("active":true)", {add("Patient.active", "extension", parts)}),
              R"(,"active":true,"_active":{"extension":[{"url":"u","valueCode":"x"}]}})");
    EXPECT_EQ(
        applied(R"("name":[{"given":["A","B","C"]}])",
                {add("Patient.name.given[1]", "extension", parts)}),
        R"(,"name":[{"given":["A","B","C"],"_given":[null,{"extension":[{"url":"u","valueCode":"x"}]},null]}]})");
    EXPECT_EQ(applied(R"("active":true,"_active":{"extension":[{"url":"u","valueCode":"x"}]})",
                      {operation("delete", "Patient.active.extension[0]")}),
              R"(,"active":true})");
    EXPECT_EQ(applied(R"("active":true,"_active":{"extension":[{"url":"u","valueCode":"x"}]})",
                      {replace("Patient.active.extension('u').value", R"("valueCode":"y")")}),
              R"(,"active":true,"_active":{"extension":[{"url":"u","valueCode":"y"}]}})");
}

TEST(FhirpathPatch, LeavesAloneWhatStandsBesideAListAndIsNone) {
    // "_name" is not an element of FHIR and is kept as it is; patching the list beside it used to end the process.
    constexpr std::string_view kNames =
        R"("name":[{"text":"A"},{"given":["B"]}],"_name":{"x":1,"y":2})";
    EXPECT_EQ(applied(kNames, {replace("Patient.name[1]", R"("valueHumanName":{"text":"C"})")}),
              R"(,"name":[{"text":"A"},{"text":"C"}],"_name":{"x":1,"y":2}})");
    EXPECT_EQ(applied(kNames, {insert("Patient.name", 2, R"("valueHumanName":{"text":"C"})")}),
              R"(,"name":[{"text":"A"},{"given":["B"]},{"text":"C"}],"_name":{"x":1,"y":2}})");
    EXPECT_EQ(applied(kNames, {move("Patient.name", 0, 1)}),
              R"(,"name":[{"given":["B"]},{"text":"A"}],"_name":{"x":1,"y":2}})");
    EXPECT_EQ(applied(kNames, {operation("delete", "Patient.name[1].given[0]")}),
              R"(,"name":[{"text":"A"}],"_name":{"x":1,"y":2}})");
    // Resources that were never validated may have this with primitives.
    EXPECT_EQ(applied(R"("name":[{"given":{"a":1},"_given":[{"id":"x"}]}])",
                      {replace("Patient.name.given[0]", R"("valueString":"z")")}),
              R"(,"name":[{"given":["z"]}]})");
    EXPECT_EQ(applied(R"("name":[{"given":{"a":1},"_given":[{"id":"x"},{"id":"y"}]}])",
                      {move("Patient.name.given", 0, 1)}),
              R"(,"name":[{"given":{"a":1},"_given":[{"id":"y"},{"id":"x"}]}]})");
    const std::string_view parts =
        R"("part":[{"name":"url","valueUri":"u"},{"name":"value","valueCode":"x"}])";
    EXPECT_EQ(applied(R"("birthDate":"2000","_birthDate":"x")",
                      {add("Patient.birthDate", "extension", parts)}),
              R"(,"birthDate":"2000","_birthDate":{"extension":[{"url":"u","valueCode":"x"}]}})");
    EXPECT_EQ(
        applied(R"("name":[{"given":["a"],"_given":["x"]}])",
                {add("Patient.name.given[0]", "extension", parts)}),
        R"(,"name":[{"given":["a"],"_given":[{"extension":[{"url":"u","valueCode":"x"}]}]}]})");
}

TEST(FhirpathPatch, ReplacesAndDeletesPrimitivesWithTheirExtensions) {
    const std::string_view date = R"("birthDate":"1970","_birthDate":{"id":"d"},"active":true)";
    EXPECT_EQ(applied(date, {replace("Patient.birthDate", R"("valueDate":"1971")")}),
              R"(,"birthDate":"1971","active":true})");
    EXPECT_EQ(applied(date, {operation("delete", "Patient.birthDate")}), R"(,"active":true})");
    EXPECT_EQ(applied(date, {replace("Patient.birthDate", R"("_valueDate":{"id":"e"})")}),
              R"(,"_birthDate":{"id":"e"},"active":true})");
}

TEST(FhirpathPatch, TakesAwayWhatBecomesEmpty) {
    EXPECT_EQ(applied(R"("contact":[{"name":{"text":"A"}}],"active":true)",
                      {operation("delete", "Patient.contact.name.text")}),
              R"(,"active":true})");
    EXPECT_EQ(applied(R"("contact":[{"name":{"text":"A"}},{"gender":"male"}])",
                      {operation("delete", "Patient.contact[0].name.text")}),
              R"(,"contact":[{"gender":"male"}]})");
    EXPECT_EQ(applied(R"("name":[{"given":["A"],"_given":[{"extension":[{"url":"u"}]}]}])",
                      {operation("delete", "Patient.name.given[0].extension[0]")}),
              R"(,"name":[{"given":["A"]}]})");
    EXPECT_EQ(applied(R"("name":[{"given":["A"]},{"family":"B"}])",
                      {operation("delete", "Patient.name[0].given[0]")}),
              R"(,"name":[{"family":"B"}]})");
    // Without its extensions, an element without a value is gone.
    const std::string extension = operation("delete", "Patient.name.given[0].extension[0]");
    EXPECT_EQ(
        applied(R"("name":[{"_given":[{"extension":[{"url":"u"}]},{"id":"b"}]}])", {extension}),
        R"(,"name":[{"_given":[{"id":"b"}]}]})");
    EXPECT_EQ(
        applied(R"("name":[{"given":[null,"B"],"_given":[{"extension":[{"url":"u"}]},null]}])",
                {extension}),
        R"(,"name":[{"given":["B"]}]})");
    EXPECT_EQ(
        applied(R"("name":[{"_given":[{"extension":[{"url":"u"}]}]}],"active":true)", {extension}),
        R"(,"active":true})");
}

TEST(FhirpathPatch, DeletesNothingWhereNothingIs) {
    EXPECT_EQ(applied(R"("active":true)", {operation("delete", "Patient.name.given")}),
              R"(,"active":true})");
    EXPECT_EQ(
        failed(R"("name":[{"given":["A","B"]}])", {operation("delete", "Patient.name.given")}).code,
        Errc::invalid);
    EXPECT_EQ(failed(R"("active":true)", {operation("delete", "Patient")}).code, Errc::invalid);
}

TEST(FhirpathPatch, InsertsIntoAnEmptyListAtItsStart) {
    EXPECT_EQ(applied("", {insert("Patient.name", 0, R"("valueHumanName":{"family":"A"})")}),
              R"(,"name":[{"family":"A"}]})");
    EXPECT_EQ(failed("", {insert("Patient.name", 1, R"("valueHumanName":{"family":"A"})")}).code,
              Errc::invalid);
    EXPECT_EQ(failed("", {insert("Patient.name.given", 0, R"("valueString":"A")")}).code,
              Errc::invalid);
}

TEST(FhirpathPatch, NeedsAWholeListToInsertOrMove) {
    const std::string_view names =
        R"("name":[{"use":"usual","given":["A"]},{"given":["B"]}],"gender":"male")";
    EXPECT_EQ(failed(names, {insert("Patient.name.given", 0, R"("valueString":"A")")}).code,
              Errc::invalid);
    EXPECT_EQ(failed(names, {move("Patient.name.where(use='usual')", 0, 0)}).code, Errc::invalid);
    EXPECT_EQ(failed(names, {move("Patient.gender", 0, 0)}).code, Errc::invalid);
    EXPECT_EQ(failed(names, {move("Patient.name", 0, 2)}).code, Errc::invalid);
    EXPECT_EQ(failed(names, {move("Patient.name", 2, 0)}).code, Errc::invalid);
    EXPECT_EQ(failed(R"("name":[{"given":["A","B"]},{"given":["C"]}])",
                     {move("Patient.name.given.where($this!='B')", 0, 1)})
                  .code,
              Errc::invalid);
    EXPECT_EQ(failed(names, {insert("Patient.name", 3, R"("valueHumanName":{"text":"A"})")}).code,
              Errc::invalid);
    EXPECT_EQ(failed(names, {insert("Patient.name", -1, R"("valueHumanName":{"text":"A"})")}).code,
              Errc::invalid);
}

TEST(FhirpathPatch, SeesWhatEarlierOperationsMade) {
    EXPECT_EQ(applied(R"("name":[{"family":"A"}])",
                      {add("Patient.name.where(family='A')", "use", R"("valueCode":"old")"),
                       replace("Patient.name.where(use='old').family", R"("valueString":"B")"),
                       operation("delete", "Patient.name.where(family='B').use")}),
              R"(,"name":[{"family":"B"}]})");
}

TEST(FhirpathPatch, RefusesWhatIsNoOperation) {
    for (const std::string& bad : std::vector<std::string>{
             R"({"name":"other","part":[]})",
             R"({"name":"operation"})",
             R"({"name":"operation","part":[{"name":"type","valueCode":"delete"}]})",
             R"({"name":"operation","part":[{"name":"path","valueString":"Patient.active"}]})",
             operation("merge", "Patient.active"),
             operation("add", "Patient"),
             operation("add", "Patient", {part("name", R"("valueString":"active")")}),
             operation("add", "Patient", {part("value", R"("valueBoolean":true)")}),
             operation("replace", "Patient.active"),
             operation("insert", "Patient.name", {part("value", R"("valueHumanName":{})")}),
             operation("move", "Patient.name", {part("source", R"("valueInteger":0)")}),
             add("Patient", "nothing", R"("valueString":"x")"),
             add("Patient", "active", R"("valueNothing":"x")"),
             add("Patient", "active", R"("valueBoolean":true,"valueString":"x")"),
             add("Patient.name", "family", R"("valueString":"x")"),
             add("Patient.active.", "id", R"("valueString":"x")"),
             add("Patient.name.count()", "id", R"("valueString":"x")"),
             add("Observation", "status", R"("valueCode":"final")"),
             replace("Patient.name", R"("valueHumanName":{"text":"x"})"),
             replace("Patient.active.length() = 1", R"("valueBoolean":true)"),
             replace("Patient", R"("resource":{"resourceType":"Patient"})"),
             "1",
         }) {
        EXPECT_EQ(failed(R"("active":true)", {bad}).code, Errc::invalid) << bad;
    }
    const json::Document patient = parse(R"({"resourceType":"Patient"})");
    for (const std::string_view bad : {"[]", R"({"resourceType":"Patient"})",
                                       R"({"resourceType":"Parameters","parameter":{}})"}) {
        const json::Document document = parse(bad);
        EXPECT_FALSE(apply_fhirpath_patch(patient.root(), document.root())) << bad;
    }
}

TEST(FhirpathPatch, NamesTheOperationAtFault) {
    const Error error = failed("", {add("Patient", "active", R"("valueBoolean":true)"),
                                    replace("Patient.name.family", R"("valueString":"x")")});
    EXPECT_EQ(
        error.detail,
        "operation 1 (replace Patient.name.family): the path must lead to one element, not 0");
    EXPECT_EQ(error.expression, "Patient.name.family");
}

TEST(FhirpathPatch, IsBounded) {
    std::vector<std::string> operations;
    for (std::size_t i = 0; i < kPatchOperationsMax; ++i) {
        operations.push_back(add("Patient.name[0]", "given", R"("valueString":"x")"));
    }
    EXPECT_TRUE(patched(R"({"resourceType":"Patient","name":[{"family":"A"}]})", operations));
    operations.push_back(operations.front());
    EXPECT_FALSE(patched(R"({"resourceType":"Patient","name":[{"family":"A"}]})", operations));
    operations.resize(100);
    EXPECT_FALSE(patched(R"({"resourceType":"Patient","name":[{"family":"A"}]})", operations,
                         {.bytes_max = 200}));
    EXPECT_FALSE(patched(R"({"resourceType":"Patient","name":[{"family":"A"}]})", operations,
                         {.steps_max = 200}));
    // An expression that visits everything for each item.
    std::string names;
    for (int i = 0; i < 2000; ++i) {
        names += fmt::format(R"({}{{"family":"{}"}})", i == 0 ? "" : ",", i);
    }
    const Error slow = failed(
        fmt::format(R"("name":[{}])", names),
        {operation("delete", "Patient.name.where(%resource.name.where(family = 'x').exists())")});
    EXPECT_EQ(slow.code, Errc::invalid);
}

TEST(FhirpathPatch, TakesNoMoreStepsThanGranted) {
    const std::string patient =
        R"({"resourceType":"Patient","name":[{"family":"A"},{"family":"B"}]})";
    const auto steps_of = [&](std::string_view path) {
        const json::Document document = parse(patient);
        fhirpath::Evaluator evaluator;
        EXPECT_TRUE(evaluator.evaluate(*fhirpath::Expression::parse(path),
                                       fhirpath::Item::resource(document.root())));
        return evaluator.steps();
    };
    const std::string none = "Patient.name.where(family = 'x')";
    const std::string removal = operation("delete", none);
    // It looks for the list, and then for what is to hold it.
    const std::string insertion =
        insert("Patient.telecom", 0, R"("valueContactPoint":{"value":"1"})");
    const auto steps = steps_of(none);
    for (const auto& [operations, needed] :
         std::vector<std::pair<std::vector<std::string>, std::uint64_t>>{
             {{removal}, steps},
             {{removal, removal}, 2 * steps},
             {{insertion}, steps_of("Patient.telecom") + steps_of("Patient")}}) {
        EXPECT_TRUE(patched(patient, operations, {.evaluation_steps_max = needed}));
        const auto refused = patched(patient, operations, {.evaluation_steps_max = needed - 1});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::too_costly) << operations.front();
    }
}

}  // namespace
}  // namespace annals::patch
