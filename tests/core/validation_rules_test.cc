// The rules for Bundles, texts, extensions and single resource types, most of which R4 states only in words.

#include "tests/core/validation_fixture.h"

namespace annals::validation {
namespace {

TEST(ValidationBundles, AreFollowedThroughAllThatADocumentRefersTo) {
    const auto with = [](std::string_view members) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"document","timestamp":"2020-01-01T00:00:00Z",
            "identifier":{{"system":"http://x.org","value":"1"}},"entry":[
            {{"fullUrl":"https://x.org/Composition/1","resource":{{"resourceType":"Composition","id":"1",
                "status":"final","type":{{"text":"t"}},"date":"2020","title":"t",
                "author":[{{"reference":"Patient/1"}}],{}}}}},
            {{"fullUrl":"https://x.org/Patient/1","resource":{{"resourceType":"Patient","id":"1"}}}}]}})",
            members));
    };
    EXPECT_EQ(with(R"("subject":{"reference":"Patient/1"},"custodian":{"display":"somebody"})"),
              "");
    const std::string section = "Bundle.entry[0].resource.section[0]";
    EXPECT_EQ(with(R"("custodian":{"reference":"Organization/2"})"),
              "error invalid Bundle.entry[0].resource.custodian\n");
    EXPECT_EQ(with(R"("attester":[{"mode":"legal","party":{"reference":"Patient/2"}}])"),
              "error invalid Bundle.entry[0].resource.attester[0].party\n");
    EXPECT_EQ(
        with(
            R"("section":[{"title":"a","entry":[{"reference":"Patient/1"},{"reference":"Patient/2"}]}])"),
        "error invalid " + section + ".entry[1]\n");
    EXPECT_EQ(
        with(
            R"("section":[{"title":"a","section":[{"title":"b","entry":[{"reference":"Patient/2"}]}]}])"),
        "error invalid " + section + ".section[0].entry[0]\n");
}

TEST(ValidationBundles, HaveTheVersionThatADocumentRefersTo) {
    const auto to = [](std::string_view reference) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"document","timestamp":"2020-01-01T00:00:00Z",
            "identifier":{{"system":"http://x.org","value":"1"}},"entry":[
            {{"fullUrl":"http://x.org/Composition/1","resource":{{"resourceType":"Composition","id":"1",
                "status":"final","type":{{"text":"t"}},"date":"2020","title":"t",
                "author":[{{"reference":"{}"}}]}}}},
            {{"fullUrl":"http://x.org/Patient/1","resource":{{"resourceType":"Patient","id":"1",
                "meta":{{"versionId":"2"}}}}}},
            {{"fullUrl":"http://x.org/Patient/1","resource":{{"resourceType":"Patient","id":"1",
                "meta":{{"versionId":"3"}}}}}}]}})",
            reference));
    };
    constexpr std::string_view kWrong = "error invalid Bundle.entry[0].resource.author[0]\n";
    EXPECT_EQ(to("Patient/1/_history/2"), "");
    EXPECT_EQ(to("http://x.org/Patient/1/_history/3"), "");
    EXPECT_EQ(to("Patient/1/_history/4"), kWrong);
    EXPECT_EQ(to("Patient/1"), kWrong) << "there are two";
}

TEST(ValidationBundles, HaveNoEntriesThatAFragmentRefersTo) {
    const auto signed_by = [](std::string_view reference) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"document","timestamp":"2020-01-01T00:00:00Z",
            "signature":{{"type":[{{"code":"1.2"}}],"when":"2020-01-01T00:00:00Z",
                "who":{{"reference":"{}"}}}},
            "identifier":{{"system":"http://x.org","value":"1"}},"entry":[
            {{"fullUrl":"http://x.org/Composition/1","resource":{{"resourceType":"Composition","id":"1",
                "status":"final","type":{{"text":"t"}},"date":"2020","title":"t",
                "author":[{{"reference":"urn:uuid:11111111-1111-4111-8111-111111111111"}}]}}}},
            {{"fullUrl":"urn:uuid:11111111-1111-4111-8111-111111111111",
                "resource":{{"resourceType":"Patient"}}}}]}})",
            reference));
    };
    EXPECT_EQ(signed_by("urn:uuid:11111111-1111-4111-8111-111111111111"), "");
    constexpr std::string_view kWrong = "error invariant Bundle.signature.who\n";
    EXPECT_EQ(signed_by("#1"), kWrong);
    EXPECT_EQ(signed_by("#urn:uuid:11111111-1111-4111-8111-111111111111"), kWrong);
}

TEST(ValidationBundles, HaveWhatAMessageIsAbout) {
    const auto message = [](std::string_view focus) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"message","entry":[
            {{"fullUrl":"http://x.org/MessageHeader/1","resource":{{"resourceType":"MessageHeader","id":"1",
                "eventUri":"http://x.org/event","source":{{"endpoint":"http://x.org"}},
                "focus":[{{"reference":"{}"}}]}}}},
            {{"fullUrl":"http://x.org/Patient/1","resource":{{"resourceType":"Patient","id":"1"}}}}]}})",
            focus));
    };
    EXPECT_EQ(message("Patient/1"), "");
    EXPECT_EQ(message("Patient/2"), "error invalid Bundle.entry[0].resource.focus[0]\n");
}

TEST(ValidationBundles, OfSearchesHaveWhatWasFoundWithItsIdAndOutcomesApart) {
    const auto entry = [](std::string_view resource, std::string_view mode) {
        return issues(fmt::format(R"({{"resourceType":"Bundle","type":"searchset","entry":[
            {{"fullUrl":"urn:x:1","resource":{},"search":{{"mode":"{}"}}}}]}})",
                                  resource, mode));
    };
    constexpr std::string_view kOutcome =
        R"({"resourceType":"OperationOutcome","issue":[{"severity":"warning","code":"value"}]})";
    constexpr std::string_view kPatient = R"({"resourceType":"Patient","id":"1"})";
    constexpr std::string_view kWrong = "error invalid Bundle.entry[0].resource\n";
    EXPECT_EQ(entry(kPatient, "match"), "");
    EXPECT_EQ(entry(R"({"resourceType":"Patient"})", "match"), kWrong);
    EXPECT_EQ(entry(kOutcome, "outcome"), "");
    EXPECT_EQ(entry(kPatient, "outcome"), kWrong);
}

TEST(ValidationBundles, NameWithoutAnIdOnlyWhatIsToBeWritten) {
    const auto entry = [](std::string_view type, std::string_view request) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"{}","entry":[{{"fullUrl":"https://x.org/Patient/1",
            "resource":{{"resourceType":"Patient"}}{}}}]}})",
            type, request));
    };
    constexpr std::string_view kWrong = "error invalid Bundle.entry[0].fullUrl\n";
    EXPECT_EQ(entry("collection", ""), kWrong);
    EXPECT_EQ(entry("transaction", R"(,"request":{"method":"POST","url":"Patient"})"), "");
    EXPECT_EQ(entry("transaction", R"(,"request":{"method":"PUT","url":"Patient?x=1"})"), "");
    EXPECT_EQ(entry("transaction", R"(,"request":{"method":"PATCH","url":"Patient/1"})"), kWrong);
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"collection","entry":[
                  {"fullUrl":"http://x.org/Patient/1","resource":{"resourceType":"Group","id":"1",
                      "type":"person","actual":true}}]})"),
              kWrong)
        << "of another type";
}

TEST(ValidationBundles, SayOfEachEntryWhereItIs) {
    const auto entry = [](std::string_view type, std::string_view rest) {
        return issues(fmt::format(
            R"({{"resourceType":"Bundle","type":"{}","entry":[{{"resource":{{"resourceType":"Patient"{}}}]}})",
            type, rest));
    };
    constexpr std::string_view kWrong = "error invalid Bundle.entry[0]\n";
    EXPECT_EQ(entry("collection", R"(,"id":"1"})"), kWrong);
    EXPECT_EQ(entry("searchset", R"(,"id":"1"})"), kWrong);
    EXPECT_EQ(entry("collection", "}"), "") << "not identified: of an operation";
    EXPECT_EQ(issues(R"({"resourceType":"Bundle","type":"searchset","entry":[{"resource":{
                  "resourceType":"OperationOutcome","id":"1","issue":[
                  {"severity":"warning","code":"value"}]},"search":{"mode":"outcome"}}]})"),
              "");
    EXPECT_EQ(entry("transaction", R"(,"id":"1"},"request":{"method":"PUT","url":"Patient/1"})"),
              "");
    EXPECT_EQ(entry("history", R"(,"id":"1"},"request":{"method":"POST","url":"Patient"},)"
                               R"("response":{"status":"201"})"),
              "");
    EXPECT_NE(entry("document", "}").find(kWrong), std::string::npos)
        << "what a document refers to is found by it";
}

TEST(ValidationContained, IsReferredToOrRefersToWhatItIsIn) {
    const auto containing = [](std::string_view subject, std::string_view more = "") {
        return issues(
            fmt::format(R"({{"resourceType":"Patient","contained":[{{"resourceType":"Basic",
            "id":"b","code":{{"text":"x"}}{}}}]{}}})",
                        subject, more));
    };
    EXPECT_EQ(containing(R"(,"subject":{"reference":"#"})"), "");
    EXPECT_EQ(containing(""), "error invariant Patient.contained[0]\n");
    EXPECT_EQ(containing(R"(,"subject":{"reference":"Patient/1"})"),
              "error invariant Patient.contained[0]\n");
    EXPECT_EQ(
        containing(
            "", R"(,"extension":[{"url":"http://x.org/e","valueReference":{"reference":"#b"}}])"),
        "");
    EXPECT_EQ(
        containing("",
                   R"(,"extension":[{"url":"http://x.org/e","valueReference":{"reference":"#"}}])"),
        "error invariant Patient.contained[0]\n")
        << "said elsewhere";
}

TEST(ValidationElements, HaveAValueOrMoreThanAnId) {
    const auto patient = [](std::string_view rest) {
        return issues(fmt::format(R"({{"resourceType":"Patient",{}}})", rest));
    };
    EXPECT_EQ(patient(R"("id":"x")"), "") << "of a resource it is the logical id";
    EXPECT_EQ(patient(R"("name":[{"id":"x"}])"), "error invariant Patient.name[0]\n");
    EXPECT_EQ(patient(R"("contact":[{"id":"x"}])").substr(0, 36),
              "error invariant Patient.contact[0]\ne");
    EXPECT_EQ(patient(R"("name":[{"id":"x","use":"usual"}])"), "");
    EXPECT_EQ(patient(R"("_birthDate":{"id":"x"})"), "error invariant Patient._birthDate\n");
    EXPECT_EQ(patient(R"("birthDate":"2020","_birthDate":{"id":"x"})"), "");
    EXPECT_EQ(
        patient(R"("_active":{"id":"x","extension":[{"url":"http://x.org/e","valueCode":"y"}]})"),
        "");
    EXPECT_EQ(patient(R"("name":[{"given":[null,"b"],"_given":[{"id":"x"},{"id":"y"}]}])"),
              "error invariant Patient.name[0].given[0]\n");
    EXPECT_EQ(patient(R"("_name":[{"id":"x"}],"_maritalStatus":{"id":"x"})"), "")
        << "no elements of FHIR";
}

TEST(ValidationElements, HaveIdsWithoutWhiteSpace) {
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"id":"a-b_ä#1","text":"x"}]})"), "");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","name":[{"id":"a b","text":"x"}]})"),
              "error value Patient.name[0].id\n");
    EXPECT_EQ(issues(R"({"resourceType":"Patient","birthDate":"2000","_birthDate":{"id":"a\tb"}})"),
              "error value Patient._birthDate.id\n");
}

TEST(ValidationElements, HaveCurrenciesOfThreeCapitalLetters) {
    const auto account = [](std::string_view currency) {
        return issues(fmt::format(
            R"({{"resourceType":"Invoice","status":"draft","totalNet":{{"value":1{}}}}})",
            currency));
    };
    EXPECT_EQ(account(R"(,"currency":"CHF")"), "");
    EXPECT_EQ(account(""), "");
    for (const std::string_view wrong : {"chf", "CH", "CHFX", "Franken", "US$"}) {
        EXPECT_EQ(account(fmt::format(R"(,"currency":"{}")", wrong)),
                  "error code-invalid Invoice.totalNet.currency\n")
            << wrong;
    }
}

/// The issues of a Patient with an extension of the definition `name` at `where`.
std::string issues_with_extension(std::string_view where, std::string_view name,
                                  const TextSource& source) {
    return issues(
        fmt::format(
            R"({{"resourceType":"Patient","{}":[{{"url":"http://x.org/{}","valueBoolean":true}}]}})",
            where, name),
        source);
}

TEST(ValidationExtensions, HaveThePartsThatTheirDefinitionNames) {
    TextSource source;
    source.add(profile_of("Extension", R"({"id":"Extension.extension","path":"Extension.extension",
            "slicing":{"rules":"open","discriminator":[{"type":"value","path":"url"}]}},
        {"id":"Extension.extension:first","path":"Extension.extension","sliceName":"first","min":1},
        {"id":"Extension.extension:first.url","path":"Extension.extension.url","fixedUri":"one"},
        {"id":"Extension.extension:two","path":"Extension.extension","sliceName":"two"},
        {"id":"Extension.url","path":"Extension.url","fixedUri":"http://x.org/e"})",
                          "e"));
    const auto with = [&](std::string_view parts) {
        return issues(
            fmt::format(
                R"({{"resourceType":"Patient","extension":[{{"url":"http://x.org/e","extension":[{}]}}]}})",
                parts),
            source);
    };
    constexpr std::string_view kOne = R"({"url":"one","valueString":"x"})";
    EXPECT_EQ(with(kOne), "");
    EXPECT_EQ(with(joined({kOne, R"({"url":"two","valueString":"x"})"})), "");
    EXPECT_EQ(with(joined({kOne, R"({"url":"http://x.org/other","valueString":"x"})"})), "");
    EXPECT_EQ(with(joined({kOne, R"({"url":"three","valueString":"x"})"})),
              "error structure Patient.extension[0].extension[1]\n");
}

TEST(ValidationExtensions, StandInModifierExtensionIfTheyAreModifiersAndNowhereElse) {
    TextSource source;
    const auto define = [&](std::string_view name, std::string_view root) {
        source.add(profile_of("Extension",
                              fmt::format(R"({{"id":"Extension","path":"Extension"{}}},
                {{"id":"Extension.url","path":"Extension.url","fixedUri":"http://x.org/{}"}})",
                                          root, name),
                              name));
    };
    define("modifier", R"(,"isModifier":true)");
    define("plain", R"(,"isModifier":false)");
    define("silent", "");
    const auto with = [&](std::string_view where, std::string_view name) {
        return issues_with_extension(where, name, source);
    };
    EXPECT_EQ(with("modifierExtension", "modifier"), "");
    EXPECT_EQ(with("extension", "modifier"), "error structure Patient.extension[0]\n");
    for (const char* const name : {"plain", "silent"}) {
        EXPECT_EQ(with("extension", name), "");
        EXPECT_EQ(with("modifierExtension", name),
                  "error structure Patient.modifierExtension[0]\n");
    }
}

TEST(ValidationExtensions, WhoseDefinitionCannotBeUsedAreNotCalledUnknown) {
    TextSource source;
    source.add(profile_of("Nonsense", "", "odd"));
    const json::Document document = parsed(
        R"({"resourceType":"Patient","modifierExtension":[{"url":"http://x.org/odd","valueBoolean":true}]})");
    const Report report = validate(document.root(), source, {});
    ASSERT_EQ(report.issues.size(), 1U);
    EXPECT_EQ(report.issues[0].diagnostics,
              "http://x.org/odd is of the type Nonsense, which R4 does not have");
}

TEST(ValidationExtensions, AreModifiersOrNotAsTheirDefinitionsSnapshotSaysOfDerivedOnes) {
    TextSource source;
    const auto define = [&](std::string_view name, std::string_view more) {
        source.add(fmt::format(
            R"({{"resourceType":"StructureDefinition","url":"http://x.org/{}","name":"E","status":"draft",
                "kind":"complex-type","abstract":false,"type":"Extension","derivation":"constraint",
                "baseDefinition":"http://x.org/elsewhere",{}}})",
            name, more));
    };
    constexpr std::string_view kElement = R"("{}":{{"element":[{{"path":"Extension"{}}}]}})";
    define("modifier", fmt::format(kElement, "snapshot", R"(,"isModifier":true)"));
    define("open", fmt::format(kElement, "snapshot", ""));
    const auto with = [&](std::string_view where, std::string_view name) {
        return issues_with_extension(where, name, source);
    };
    EXPECT_EQ(with("modifierExtension", "modifier"), "");
    EXPECT_EQ(with("extension", "modifier"), "error structure Patient.extension[0]\n");
    EXPECT_EQ(with("modifierExtension", "open"), "");
    EXPECT_EQ(with("extension", "open"), "");
}

TEST(ValidationMarkup, IsAnErrorOnlyAsAScriptOrWhereThatIsAsked) {
    const auto judged = [](std::string_view resource, bool refuse) {
        Options options;
        options.refuse_markup = refuse;
        return issues(resource, EmptySource(), options);
    };
    const auto patient = [&](std::string_view text, bool refuse = false) {
        return judged(fmt::format(R"({{"resourceType":"Patient","name":[{{"text":"{}"}}]}})", text),
                      refuse);
    };
    constexpr std::string_view kWarned = "warning value Patient.name[0].text\n";
    constexpr std::string_view kRefused = "error value Patient.name[0].text\n";
    for (const std::string_view text : {"<b>x</b>", "</b>", "<!-- x -->", "<B>"}) {
        EXPECT_EQ(patient(text), kWarned) << text;
        EXPECT_EQ(patient(text, true), kRefused) << text;
    }
    EXPECT_EQ(patient("<script>x</script>"), kRefused);
    for (const std::string_view text : {"1 < 2 and 3 > 2", "<5 >3", "<b", "x > y <b"}) {
        EXPECT_EQ(patient(text, true), "") << text;
    }
    EXPECT_EQ(judged(R"({"resourceType":"Observation","status":"final","code":{"text":"t"},
                         "note":[{"text":"<script>x</script>"}]})",
                     false),
              "warning value Observation.note[0].text\n")
        << "markdown may have HTML";
}

TEST(ValidationQuestionnaires, AskOnlyOfQuestionsBeforeAndOutside) {
    const auto asking = [](std::string_view question,
                           std::string_view answer = R"("answerBoolean":true)",
                           std::string_view more = "") {
        return issues(fmt::format(R"({{"resourceType":"Questionnaire","status":"draft","item":[
            {{"linkId":"a","type":"boolean"}},
            {{"linkId":"b","type":"group"{},"enableWhen":[{{"question":"{}","operator":"exists",{}}}],
                "item":[{{"linkId":"c","type":"string"}}]}},
            {{"linkId":"d","type":"string"}}]}})",
                                  more, question, answer));
    };
    const std::string at = "Questionnaire.item[1].enableWhen[0]";
    EXPECT_EQ(asking("a"), "");
    EXPECT_EQ(asking("x"), "error business-rule " + at + ".question\n");
    EXPECT_EQ(asking("b"), "error business-rule " + at + ".question\n");
    EXPECT_EQ(asking("c"), "error business-rule " + at + ".question\n");
    EXPECT_EQ(asking("d"), "warning business-rule " + at + ".question\n");
    EXPECT_EQ(asking("a", R"("answerString":"x")"), "error invariant " + at + "\n");
    const auto twice = [](std::string_view behavior) {
        return issues(fmt::format(R"({{"resourceType":"Questionnaire","status":"draft","item":[
            {{"linkId":"a","type":"string"}},{{"linkId":"b","type":"string"{},"enableWhen":[
                {{"question":"a","operator":"=","answerString":"x"}},
                {{"question":"a","operator":"=","answerString":"y"}}]}}]}})",
                                  behavior));
    };
    EXPECT_EQ(twice(R"(,"enableBehavior":"any")"), "");
    EXPECT_EQ(twice(""), "error invariant Questionnaire.item[1]\n");
}

TEST(ValidationCodeSystems, HaveAsManyConceptsAsTheySayAndPropertiesOfTheirTypes) {
    const auto system = [](std::string_view members,
                           std::string_view value = R"("valueCode":"x")") {
        return issues(fmt::format(R"({{"resourceType":"CodeSystem","status":"draft",{},
            "property":[{{"code":"p","uri":"http://x.org/p","type":"code"}}],
            "concept":[{{"code":"a","concept":[{{"code":"b","property":[{{"code":"p",{}}}]}}]}},
                       {{"code":"c"}}]}})",
                                  members, value));
    };
    EXPECT_EQ(system(R"("content":"complete","count":3)"), "");
    EXPECT_EQ(system(R"("content":"complete","count":2)"), "error invalid CodeSystem.count\n");
    EXPECT_EQ(system(R"("content":"fragment","count":9)"), "");
    const std::string wrong = "error business-rule CodeSystem.concept[0].concept[0].property[0]\n";
    EXPECT_EQ(system(R"("content":"complete")", R"("valueString":"x")"), wrong);
    EXPECT_EQ(system(R"("content":"complete")", R"("valueCoding":{"code":"x"})"), wrong);
    EXPECT_EQ(
        issues(R"({"resourceType":"CodeSystem","status":"draft","content":"complete","property":[
                  {"code":"p","uri":"http://x.org/p","type":"code"},{"code":"p","type":"code"},
                  {"code":"q","uri":"http://x.org/p","type":"code"}],"concept":[{"code":"a"}]})"),
        "error business-rule CodeSystem.property[1]\nerror business-rule CodeSystem.property[2]\n");
}

TEST(ValidationSearchParameters, AreOfTheTypesThatR4GivesThem) {
    const auto derived = [](std::string_view type) {
        return issues(
            fmt::format(R"({{"resourceType":"SearchParameter","url":"http://x.org/s","name":"S",
            "status":"draft","description":"d","code":"c","base":["Patient"],"expression":"Patient.name",
            "derivedFrom":"http://hl7.org/fhir/SearchParameter/individual-birthdate","type":"{}"}})",
                        type));
    };
    EXPECT_EQ(derived("date"), "");
    EXPECT_EQ(derived("string"), "error business-rule SearchParameter\n");
    const auto composed = [](std::string_view components) {
        return issues(
            fmt::format(R"({{"resourceType":"SearchParameter","url":"http://x.org/s","name":"S",
            "status":"draft","description":"d","code":"c","base":["Observation"],"expression":"Observation",
            "type":"composite","component":[{}]}})",
                        components));
    };
    constexpr std::string_view kPart = R"({"definition":"http://x.org/a","expression":"code"})";
    EXPECT_EQ(composed(joined({kPart, kPart})), "");
    EXPECT_EQ(composed(kPart), "error business-rule SearchParameter\n");
    const auto stated = [](std::string_view type) {
        return issues(
            fmt::format(R"({{"resourceType":"CapabilityStatement","status":"draft","date":"2020",
            "kind":"requirements","description":"d","fhirVersion":"4.0.1","format":["json"],"rest":[{{"mode":"server","resource":[
            {{"type":"Patient","searchParam":[{{"name":"family","type":"{}",
                "definition":"http://hl7.org/fhir/SearchParameter/individual-family"}}]}}]}}]}})",
                        type));
    };
    EXPECT_EQ(stated("string"), "");
    EXPECT_EQ(stated("token"),
              "error invalid CapabilityStatement.rest[0].resource[0].searchParam[0]\n");
}

TEST(ValidationVitalSigns, HaveTheirLoincCode) {
    const auto sign = [](std::string_view category, std::string_view system,
                         std::string_view code) {
        return issues(
            fmt::format(R"({{"resourceType":"Observation","status":"final","category":[{{"coding":[
            {{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"{}"}}]}}],
            "code":{{"coding":[{{"system":"{}","code":"{}"}}]}}}})",
                        category, system, code));
    };
    constexpr std::string_view kLoinc = "http://loinc.org";
    constexpr std::string_view kOfSnomed = "http://snomed.info/sct";
    EXPECT_EQ(sign("vital-signs", kLoinc, "8867-4"), "");
    EXPECT_EQ(sign("vital-signs", kLoinc, "59408-5"), "");
    EXPECT_EQ(sign("vital-signs", kOfSnomed, "364075005"), "error structure Observation.code\n");
    EXPECT_EQ(sign("laboratory", kOfSnomed, "364075005"), "");
    EXPECT_EQ(
        issues(
            R"({"resourceType":"Observation","status":"final","category":[{"coding":[{"code":"other"}]},
        {"coding":[{"code":"vital-signs"}]},{"coding":[{"code":"last"}]}],"code":{"coding":[
            {"system":"http://snomed.info/sct","code":"364075005"},
            {"system":"http://loinc.org","code":"8867-4"}]}})"),
        "")
        << "beside that of SNOMED CT";
    EXPECT_EQ(sign("vital-signs", "http://x.org", "364075005"), "");
}

TEST(ValidationVitalSigns, ConformToTheStoredProfile) {
    const auto issues_of = [](std::string_view code, std::string_view profile) {
        TextSource source;
        source.add(fmt::format(
            R"({{"resourceType":"StructureDefinition","name":"P","status":"draft","kind":"resource",
            "url":"http://hl7.org/fhir/StructureDefinition/{}","type":"Observation","abstract":false,
            "derivation":"constraint","baseDefinition":"http://hl7.org/fhir/StructureDefinition/Observation",
            "differential":{{"element":[{{"path":"Observation.hasMember","min":1}}]}}}})",
            profile));
        return issues(
            fmt::format(
                R"({{"resourceType":"Observation","status":"final","category":[{{"coding":[
            {{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"vital-signs"}}]}}],
            "code":{{"coding":[{{"system":"http://loinc.org","code":"{}"}}]}}}})",
                code),
            source);
    };
    const std::string without_members = "error structure Observation\n";
    EXPECT_EQ(issues_of("8867-4", "heartrate"), without_members);
    EXPECT_EQ(issues_of("85353-1", "vitalspanel"), without_members);
    EXPECT_EQ(issues_of("8867-4", "vitalspanel"), "");
}

TEST(ValidationSnomed, TellsOfFiltersThatAreNoExpressionConstraints) {
    const auto filter = [](std::string_view value) {
        return issues(
            fmt::format(R"({{"resourceType":"ValueSet","status":"draft","compose":{{"include":[
            {{"system":"http://snomed.info/sct","filter":[{{"property":"constraint","op":"=",
                "value":"{}"}}]}}]}}}})",
                        value));
    };
    for (const std::string_view value :
         {"<< 404684003 |Clinical finding 1 2|", "<404684003 OR >> 73211009",
          "404684003:363698007=<<80891009"}) {
        EXPECT_EQ(filter(value), "") << value;
    }
    for (const std::string_view value : {"404684003 73211009", "404684003 << 73211009"}) {
        EXPECT_EQ(filter(value), "error invalid ValueSet.compose.include[0].filter[0]\n") << value;
    }
}

}  // namespace
}  // namespace annals::validation
