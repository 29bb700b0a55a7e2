// Codes of systems that have a grammar instead of a list, and what that means for bindings.

#include "core/terminology/grammar.h"
#include "core/terminology/r4.h"
#include "tests/core/validation_fixture.h"

namespace annals::terminology {
namespace {

constexpr std::string_view kMediaTypes = "urn:ietf:bcp:13";
constexpr std::string_view kLanguages = "urn:ietf:bcp:47";

Member in_value_set(std::string_view canonical, const Code& code) {
    Effort effort(1'000'000);
    Session session(r4_definitions(), effort);
    const Result<Member> member = member_of(session, canonical, code);
    EXPECT_TRUE(member) << (member ? "" : member.error().detail);
    return member ? *member : Member::unknown;
}

TEST(Grammars, DecideWhatIsALanguage) {
    for (const std::string_view tag : {"de",
                                       "DE",
                                       "en-US",
                                       "zh-Hant",
                                       "zh-cmn-Hans-CN",
                                       "sl-rozaj-biske-1994",
                                       "de-CH-1901",
                                       "es-419",
                                       "und",
                                       "qaa-Qaaa-QM-x-southern",
                                       "en-a-myext-b-another",
                                       "de-DE-u-co-phonebk",
                                       "x-whatever",
                                       "en-x-a",
                                       "i-klingon",
                                       "I-Klingon",
                                       "sgn-be-fr",
                                       "en-GB-oed",
                                       "art-lojban",
                                       "zh-min-nan"}) {
        EXPECT_EQ(judge_code(nullptr, kLanguages, tag), Member::yes) << tag;
    }
    for (const std::string_view tag :
         {"",          "d",        "en_US",       "en-",          "-en",         "en--US",
          "de-419-DE", "a-DE",     "en-US-",      "de DE",        "i-none",      "x",
          "en-x",      "en-u",     "en-u-x-a",    "en-abcdefghi", "languagetag", "de\n",
          "12",        "français", "ar-a-aaa-b-b"}) {
        EXPECT_EQ(judge_code(nullptr, kLanguages, tag), Member::no) << tag;
    }
    for (const std::string_view tag : {"engl", "german", "language-US"}) {
        EXPECT_EQ(judge_code(nullptr, kLanguages, tag), Member::unknown) << tag;
    }
}

TEST(Grammars, DecideWhatIsAMediaType) {
    for (const std::string_view type :
         {"text/plain", "application/fhir+json", "application/vnd.openxmlformats-x.y", "IMAGE/PNG",
          "text/plain;charset=utf-8", "text/plain; charset=\"a;b\"", "x-a/b",
          "application/fhir+json;canonicalization=http://hl7.org/fhir/canonicalization/"
          "json#document"}) {
        EXPECT_EQ(judge_code(nullptr, kMediaTypes, type), Member::yes) << type;
    }
    for (const std::string_view type :
         {"", "text", "text/", "/plain", "text/plain/x", "*/*", "image/*", "text /plain",
          "text/ plain", "text/plain charset=utf-8", ".a/b", "pdf", "text/pl\u00E4in"}) {
        EXPECT_EQ(judge_code(nullptr, kMediaTypes, type), Member::no) << type;
    }
    EXPECT_EQ(judge_code(nullptr, kMediaTypes, std::string(127, 'a') + "/b"), Member::yes);
    EXPECT_EQ(judge_code(nullptr, kMediaTypes, std::string(128, 'a') + "/b"), Member::no);
    // R4 permits these as codes of all media types.
    for (const std::string_view type : {"xml", "json", "ttl"}) {
        EXPECT_EQ(judge_code(nullptr, kMediaTypes, type), Member::unknown) << type;
    }
}

TEST(Grammars, AreOfFewSystems) {
    EXPECT_EQ(judge_code(nullptr, "http://unitsofmeasure.org", "mg/dL"), Member::yes);
    EXPECT_EQ(judge_code(nullptr, "http://unitsofmeasure.org", "mcg"), Member::no);
    EXPECT_EQ(judge_code(nullptr, "http://loinc.org", "1"), Member::unknown);
    EXPECT_EQ(judge_code(nullptr, "", "mg"), Member::unknown);
    EXPECT_EQ(grammar_of("http://loinc.org"), nullptr);
}

TEST(Membership, InAllLanguagesOrMediaTypesOfR4IsByTheirGrammar) {
    constexpr std::string_view kAllLanguages = "http://hl7.org/fhir/ValueSet/all-languages";
    constexpr std::string_view kAllMediaTypes = "http://hl7.org/fhir/ValueSet/mimetypes|4.0.1";
    for (const Code& code : {Code{kLanguages, "gsw-CH"}, Code{std::nullopt, "gsw-CH"}}) {
        EXPECT_EQ(in_value_set(kAllLanguages, code), Member::yes);
    }
    EXPECT_EQ(in_value_set(kAllLanguages, {kLanguages, "de_DE"}), Member::no);
    EXPECT_EQ(in_value_set(kAllLanguages, {kLanguages, "german"}), Member::unknown);
    EXPECT_EQ(in_value_set(kAllLanguages, {kMediaTypes, "de"}), Member::no);
    EXPECT_EQ(in_value_set(kAllMediaTypes, {std::nullopt, "image/png"}), Member::yes);
    EXPECT_EQ(in_value_set(kAllMediaTypes, {std::nullopt, "png"}), Member::no);
    EXPECT_EQ(in_value_set(kAllMediaTypes, {std::nullopt, "xml"}), Member::unknown);
    // A list is not widened by the grammar.
    EXPECT_EQ(in_value_set("http://hl7.org/fhir/ValueSet/languages", {kLanguages, "gsw-CH"}),
              Member::no);
}

TEST(Membership, InTheUnitsOfTimeOrDistanceIsByComparison) {
    constexpr std::string_view kUnits = "http://unitsofmeasure.org";
    constexpr std::string_view kTimes = "http://hl7.org/fhir/ValueSet/all-time-units";
    constexpr std::string_view kDistances = "http://hl7.org/fhir/ValueSet/all-distance-units";
    for (const std::string_view unit : {"a", "s", "min", "wk", "ms", "mo{gregorian}"}) {
        EXPECT_EQ(in_value_set(kTimes, {kUnits, unit}), Member::yes) << unit;
        EXPECT_EQ(in_value_set(kDistances, {kUnits, unit}), Member::no) << unit;
    }
    for (const std::string_view unit : {"km", "[in_i]", "m2/m"}) {
        EXPECT_EQ(in_value_set(kTimes, {kUnits, unit}), Member::no) << unit;
        EXPECT_EQ(in_value_set(kDistances, {kUnits, unit}), Member::yes) << unit;
    }
    EXPECT_EQ(in_value_set(kTimes, {kUnits, "year"}), Member::no);
    EXPECT_EQ(in_value_set(kTimes, {std::nullopt, "h"}), Member::yes);
    EXPECT_EQ(in_value_set(kTimes, {"http://other", "h"}), Member::no);
}

TEST(Filters, OfUcumAreThoseThatFhirDefines) {
    const auto judged = [](std::string_view filter, std::string_view code) {
        json::Parser parser;
        const Result<json::Document> document = parser.parse(filter);
        EXPECT_TRUE(document);
        const Result<Filter> read = Filter::read(document->root());
        EXPECT_TRUE(read);
        Effort effort(1'000'000);
        const Result<Member> in = judge_filter("http://unitsofmeasure.org", *read, code, effort);
        EXPECT_TRUE(in);
        return in ? *in : Member::unknown;
    };
    constexpr std::string_view kSome = R"({"property":"canonical","op":"in","value":"g, mol/L"})";
    EXPECT_EQ(judged(kSome, "kg"), Member::yes);
    EXPECT_EQ(judged(kSome, "mmol/dL"), Member::yes);
    EXPECT_EQ(judged(kSome, "10*3/uL"), Member::yes) << "to UCUM, mol is a number";
    EXPECT_EQ(judged(kSome, "m"), Member::no);
    EXPECT_EQ(judged(kSome, "[iU]"), Member::unknown);
    constexpr std::string_view kWarm = R"({"property":"property","op":"=","value":"temperature"})";
    EXPECT_EQ(judged(kWarm, "mK"), Member::yes);
    EXPECT_EQ(judged(kWarm, "g"), Member::no);
    EXPECT_EQ(judged(kWarm, "Cel"), Member::unknown);
    EXPECT_EQ(judged(kWarm, "[degF]"), Member::unknown);
    EXPECT_EQ(judged(R"({"property":"property","op":"=","value":"volume"})", "L"), Member::unknown)
        << "no base unit";
    EXPECT_EQ(judged(R"({"property":"canonical","op":"regex","value":"g"})", "g"), Member::unknown);
    EXPECT_EQ(judged(R"({"property":"other","op":"=","value":"g"})", "g"), Member::unknown);
}

TEST(Filters, OfUcumTakeStepsByWhatTheyAccept) {
    std::string units = "m";
    for (int i = 0; i < 1000; ++i) {
        units += ",m";
    }
    json::Parser parser;
    const Result<json::Document> document =
        parser.parse(R"({"property":"canonical","op":"in","value":")" + units + "\"}");
    ASSERT_TRUE(document);
    const Result<Filter> filter = Filter::read(document->root());
    ASSERT_TRUE(filter);
    Effort effort(10'000);
    const Result<Member> in = judge_filter("http://unitsofmeasure.org", *filter, "g", effort);
    ASSERT_FALSE(in);
    EXPECT_EQ(in.error().code, Errc::answer_too_costly);
}

TEST(Membership, InAllCurrenciesIsKnownOfThoseThatR4Lists) {
    constexpr std::string_view kAll = "http://hl7.org/fhir/ValueSet/currencies|4.0.1";
    EXPECT_EQ(in_value_set(kAll, {"urn:iso:std:iso:4217", "CHF"}), Member::yes);
    EXPECT_EQ(in_value_set(kAll, {std::nullopt, "EUR"}), Member::yes);
    EXPECT_EQ(in_value_set(kAll, {std::nullopt, "XCG"}), Member::unknown) << "newer than R4";
    EXPECT_EQ(in_value_set(kAll, {"http://other", "EUR"}), Member::no);
}

TEST(Validation, RequiresLanguagesAndUnitsOfTheMaximumValueSetsOfR4) {
    const auto issues_of = [](std::string_view resource) {
        return validation::issues(resource, r4_definitions());
    };
    const auto spoken = [&](std::string_view language) {
        return issues_of(fmt::format(
            R"({{"resourceType":"Patient","communication":[{{"language":{}}}]}})", language));
    };
    const std::string wrong = "error code-invalid Patient.communication[0].language\n";
    EXPECT_EQ(spoken(R"({"coding":[{"system":"urn:ietf:bcp:47","code":"gsw-CH"}]})"), "");
    EXPECT_EQ(spoken(R"({"text":"Alemannic"})"), "") << "the binding is a preferred one";
    EXPECT_EQ(spoken(R"({"coding":[{"system":"http://x.org","code":"de"}]})"), wrong);
    EXPECT_EQ(spoken(R"({"coding":[{"system":"http://x.org","code":"de"},
                         {"system":"urn:ietf:bcp:47","code":"de"}]})"),
              "");
    EXPECT_EQ(issues_of(R"({"resourceType":"Patient","language":"de-AT"})"), "");
    EXPECT_EQ(issues_of(R"({"resourceType":"Patient","language":"de_AT"})"),
              "error code-invalid Patient.language\n");
    EXPECT_EQ(issues_of(R"({"resourceType":"Patient","language":"german"})"), "")
        << "it might be registered";
    const auto measured = [&](std::string_view type, std::string_view unit) {
        return issues_of(fmt::format(
            R"({{"resourceType":"Basic","code":{{"text":"t"}},"extension":[{{"url":"http://x.org/e",
                "value{}":{{"value":3,"system":"http://unitsofmeasure.org","code":"{}"}}}}]}})",
            type, unit));
    };
    for (const std::string_view type : {"Age", "Duration"}) {
        EXPECT_EQ(measured(type, "wk"), "") << type;
        EXPECT_EQ(measured(type, "kg"),
                  fmt::format("error code-invalid Basic.extension[0].value{}\n", type));
    }
    EXPECT_EQ(measured("Distance", "km"), "");
    EXPECT_EQ(measured("Distance", "h"), "error code-invalid Basic.extension[0].valueDistance\n");
    EXPECT_EQ(measured("Quantity", "kg"), "");
}

TEST(Validation, RequiresMediaTypesWhereR4Does) {
    const auto issues_of = [](std::string_view resource) {
        return validation::issues(resource, r4_definitions());
    };
    const auto photo = [&](std::string_view type) {
        return issues_of(fmt::format(
            R"({{"resourceType":"Patient","photo":[{{"contentType":"{}","data":"YWJj"}}]}})",
            type));
    };
    EXPECT_EQ(photo("image/png"), "");
    EXPECT_EQ(photo("png"), "error code-invalid Patient.photo[0].contentType\n");
    EXPECT_EQ(issues_of(R"({"resourceType":"CapabilityStatement","status":"draft","date":"2020",
        "kind":"requirements","fhirVersion":"4.0.1","description":"d","rest":[{"mode":"server"}],"format":["xml","json",
        "ttl","application/fhir+json","html"]})"),
              "error code-invalid CapabilityStatement.format[4]\n");
    EXPECT_EQ(issues_of(R"({"resourceType":"Patient","language":"german","communication":[
        {"language":{"coding":[{"system":"urn:ietf:bcp:47","code":"gsw-CH"}]}},
        {"language":{"coding":[{"system":"urn:ietf:bcp:47","code":"gsw_CH"}]}}]})"),
              "error code-invalid Patient.communication[1].language\n"
              "error code-invalid Patient.communication[1].language.coding[0]\n");
    EXPECT_EQ(issues_of(R"({"resourceType":"Invoice","status":"draft","totalNet":
        {"value":1,"currency":"XCG"}})"),
              "");
}

}  // namespace
}  // namespace annals::terminology
