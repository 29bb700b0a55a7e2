#include "core/search/filter.h"

#include "core/target.h"
#include "tests/core/search/corpus.h"

#include <gtest/gtest.h>

namespace annals::core::search {
namespace {

struct FilterCase {
    const char* filter;
    const char* expected;
};

void check_filters(const Corpus& corpus, const char* type,
                   std::initializer_list<FilterCase> cases) {
    for (const FilterCase& c : cases) {
        EXPECT_EQ(corpus.ask(type, "_filter=" + percent_encode(c.filter)), c.expected)
            << type << ": " << c.filter;
    }
}

void add_patients(Corpus& corpus) {
    corpus.add(R"({"resourceType":"Patient","id":"peter","active":true,"gender":"male",
        "birthDate":"2014-10-12","name":[{"family":"Chalmers","given":["Peter","James"]}],
        "generalPractitioner":[{"reference":"Practitioner/joe"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"petra","active":false,"gender":"female",
        "birthDate":"1980-05","name":[{"family":"Åström","given":["Petra"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"none"})");
    corpus.add(R"({"resourceType":"Practitioner","id":"joe","name":[{"family":"Joe"}]})");
}

TEST(Filter, TestsStrings) {
    Corpus corpus;
    add_patients(corpus);
    check_filters(
        corpus, "Patient",
        {{"name co \"pet\"", "peter petra"},
         {"given eq \"peter\"", "peter"},
         {"given eq Peter", "peter"},
         {"given eq pete", ""},
         {"given ne peter", "peter petra"},  // who is also James
         {"given ne petra", "peter"},
         {"given sw pet", "peter petra"},
         {"given ew er", "peter"},
         {"given ew mes", "peter"},
         {"given ew ete", ""},
         {"family co str", "petra"},
         {"family sw ast", "petra"},
         {"family gt b", "peter"},
         {"family lt b", "petra"},
         {"family ge chalmers", "peter"},
         {"family le chalmers", "peter petra"},
         {"name eq \"(a]\\\"\"", ""},
         {"name eq \" \"", ""},
         {"name ne \" \"", "peter petra"},
         {"name co \" \"",
          "invalid: search parameter 'name': a text is needed that consists of more than white "
          "space and marks"},
         {"name sw \" \"",
          "invalid: search parameter 'name': a text is needed that consists of more than white "
          "space and marks"},
         {"name ew \" \"",
          "invalid: search parameter 'name': a text is needed that consists of more than white "
          "space and marks"},
         {"family pr true", "peter petra"},
         {"family pr false", "none"},
         {"name sa x", "not-supported: _filter: 'name' does not support this operation"},
         {"name po x", "not-supported: _filter: 'name' does not support this operation"}});
}

TEST(Filter, TestsDatesTokensAndReferences) {
    Corpus corpus;
    add_patients(corpus);
    check_filters(
        corpus, "Patient",
        {{"given eq \"peter\" and birthdate ge 2014-10-10", "peter"},
         {"birthdate eq 2014-10-12", "peter"},
         {"birthdate ne 2014-10-12", "petra"},
         {"birthdate lt 2000", "petra"},
         {"birthdate le 2014-10-12", "peter petra"},
         {"birthdate gt 1980-05", "peter"},
         {"birthdate sa 2000", "peter"},
         {"birthdate eb 2000", "petra"},
         {"birthdate po 1980-05-17", "petra"},
         {"birthdate po 1981", ""},
         {"birthdate ap 2014-10-10", "peter"},
         {"birthdate co 2014", ""},
         {"birthdate co 2014-10-12T10:00:00Z", "peter"},
         {"birthdate co 1980-05-17", "petra"},
         {"birthdate co 1980-05", "petra"},
         {"active eq true", "peter"},
         {"gender eq male or gender eq female", "peter petra"},
         {"gender ne male", "petra"},
         {"gender in http://hl7.org/fhir/ValueSet/administrative-gender", "peter petra"},
         {"gender ni http://hl7.org/fhir/ValueSet/administrative-gender", "none"},
         {"gender gt male", "not-supported: _filter: 'gender' does not support this operation"},
         {"general-practitioner re Practitioner/joe", "peter"},
         {"general-practitioner re joe", "peter"},
         {"general-practitioner eq Practitioner/joe", "peter"},
         {"general-practitioner ne Practitioner/jim", "peter"},
         {"general-practitioner pr false", "petra none"},
         {"general-practitioner sw x",
          "not-supported: _filter: 'general-practitioner' does not support this operation"},
         {"_id eq peter", "peter"},
         {"id eq peter", "peter"},
         {"_id ne peter", "petra none"},
         {"_id pr true", "peter petra none"},
         {"id pr false", ""},
         {"_id pr maybe", "invalid: search parameter '_id': true or false is needed"},
         {"_id gt peter", "not-supported: _filter: '_id' does not support this operation"},
         {"birthdate pr maybe", "invalid: search parameter 'birthdate': true or false is needed"},
         {"birthdate eq x",
          "invalid: search parameter 'birthdate': a date, a date with a time, or a year or month "
          "is needed"}});
}

TEST(Filter, ComparesQuantitiesNumbersAndComposites) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Observation","id":"na","status":"final","code":{"coding":[
        {"system":"http://loinc.org","code":"12907-2"}]},
        "subject":{"reference":"Patient/3425"},
        "valueQuantity":{"value":155,"system":"http://unitsofmeasure.org","code":"mmol/L"}})");
    corpus.add(R"({"resourceType":"RiskAssessment","id":"risk","status":"final",
        "subject":{"reference":"Patient/1"},"prediction":[{"probabilityDecimal":0.7}]})");
    corpus.add(R"({"resourceType":"ValueSet","id":"vs","status":"draft",
        "url":"http://acme.org/ValueSet/1"})");
    check_filters(
        corpus, "Observation",
        {{"code eq loinc|12907-2", "na"},
         {"code eq http://loinc.org|12907-2", "na"},
         {"code eq snomed|12907-2", ""},
         {"value-quantity gt 150|http://unitsofmeasure.org|mmol/L", "na"},
         {"value-quantity gt 0.15|http://unitsofmeasure.org|mol/L", "na"},
         {"value-quantity lt 150", ""},
         {"value-quantity eq 155||mmol/L", "na"},
         {"subject.id eq 3425 and code eq loinc|12907-2", ""},  // there is no such Patient
         {"code-value-quantity eq http://loinc.org|12907-2$ge150", "na"},
         {"code-value-quantity ne http://loinc.org|12907-2$ge150", ""},
         {"code-value-quantity ne http://loinc.org|12907-2$ge160", "na"},
         {"code-value-quantity pr true", "na"},
         {"value-quantity po 1",
          "not-supported: _filter: 'value-quantity' does not support this operation"},
         {"value-quantity co 1",
          "not-supported: _filter: 'value-quantity' does not support this operation"}});
    check_filters(corpus, "RiskAssessment",
                  {{"probability gt 0.5", "risk"},
                   {"probability eq 0.7", "risk"},
                   {"probability le 0.5", ""},
                   {"probability co 0.7",
                    "not-supported: _filter: 'probability' does not support this operation"}});
    check_filters(corpus, "ValueSet",
                  {{"url eq http://acme.org/ValueSet/1", "vs"},
                   {"url eq http://acme.org/ValueSet", ""},
                   {"url sw http://acme.org/", "vs"},
                   {"url co acme", "vs"},
                   {"url ew /1", "vs"},
                   {"url ne http://acme.org/", "vs"}});
}

TEST(Filter, KnowsWhatSubsumesWhat) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"CodeSystem","id":"cs","url":"http://s","content":"complete",
        "concept":[{"code":"a","concept":[{"code":"a1","concept":[{"code":"a11"}]}]}]})");
    for (const char* code : {"a", "a1", "a11"}) {
        corpus.add(std::string(R"({"resourceType":"Observation","id":")") + code +
                   R"(","status":"final","code":{"coding":[{"system":"http://s","code":")" + code +
                   R"("}]}})");
    }
    check_filters(corpus, "Observation",
                  {{"code ss http://s|a1", "a1 a11"}, {"code sb http://s|a1", "a a1"}});
}

TEST(Filter, FollowsPathsThatFiltersNarrow) {
    Corpus corpus;
    add_patients(corpus);
    corpus.add(R"({"resourceType":"Observation","id":"o1","status":"final",
        "code":{"coding":[{"system":"http://loinc.org","code":"1234-5"}]},
        "subject":{"reference":"Patient/peter"}})");
    corpus.add(R"({"resourceType":"Observation","id":"o2","status":"final","code":{"text":"x"},
        "subject":{"reference":"Patient/petra"}})");
    check_filters(
        corpus, "Observation",
        {{"subject.name co \"pet\"", "o1 o2"},
         {"code eq http://loinc.org|1234-5 and subject.name co \"pet\"", "o1"},
         {"subject:Patient.name co pet", "o1 o2"},
         {"subject.general-practitioner.name eq joe", "o1"},
         {"subject[gender eq male].name co pet", "o1"},
         {"subject[gender eq female or active eq true].name co pet", "o1 o2"},
         {"subject[name eq \"joe\"].general-practitioner pr true", ""},
         {"subject[name co pet].general-practitioner[name eq joe].id eq joe", "o1"},
         {"subject.nothing eq 1",
          "invalid: _filter: 'nothing' is not a search parameter of Patient"},
         {"subject:Patient.nothing eq 1",
          "invalid: _filter: 'nothing' is not a search parameter of Patient"},
         {"code.name eq x", "invalid: search parameter 'code': only references can be followed"},
         {"status:not eq x",
          "not-supported: search parameter 'status:not': the modifier ':not' is not supported"},
         {"_id:not eq o1",
          "not-supported: search parameter '_id:not': the modifier ':not' is not supported"},
         {"status: eq x",
          "not-supported: search parameter 'status:': the modifier ':' is not supported"},
         {"subject:.name eq x",
          "not-supported: search parameter 'subject:': the modifier ':' is not supported"}});
    check_filters(corpus, "Patient",
                  {{"given eq \"peter\" and birthdate ge 2014-10-10 and "
                    "_has:Observation:patient:code eq http://loinc.org|1234-5",
                    "peter"},
                   {"_has:Observation:patient:status eq final", "peter petra"},
                   {"not (_has:Observation:patient:code eq loinc|1234-5)", "petra none"}});
}

TEST(Filter, TestsWhatEveryTypeHas) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"a","meta":{"lastUpdated":"2020-01-01T00:00:00Z",
        "tag":[{"system":"http://t","code":"x"}],"profile":["http://p/A"]},
        "text":{"status":"generated","div":"<div>heart attack</div>"}})");
    corpus.add(R"({"resourceType":"Patient","id":"b"})");
    corpus.add(R"({"resourceType":"List","id":"l","status":"current","mode":"working","entry":[
        {"item":{"reference":"Patient/b"}}]})");
    check_filters(
        corpus, "Patient",
        {{"_lastUpdated ge 2020", "a"},
         {"_tag eq http://t|x", "a"},
         {"_tag pr false", "b"},
         {"_profile eq http://p/A", "a"},
         {"_text co heart", "a"},
         {"_text eq \"heart attack\"", "a"},
         {"_content co attack", "a"},
         {"_list eq l", "b"},
         {"_list in l", "b"},
         {"_list gt l", "not-supported: _filter: '_list' does not support this operation"},
         {"_query eq x", "invalid: _filter: '_query' is not a search parameter of Patient"},
         {"_filter eq x", "invalid: _filter: '_filter' is not a search parameter of Patient"}});
}

TEST(Filter, CombinesFromTheLeft) {
    Corpus corpus;
    add_patients(corpus);
    check_filters(
        corpus, "Patient",
        {{"_id eq peter or _id eq petra and gender eq female", "petra"},
         {"_id eq peter or (_id eq petra and gender eq female)", "peter petra"},
         {"_id eq petra and gender eq male or _id eq none", "none"},
         {"_id eq petra or _id eq none and gender eq male", ""},
         {"_id eq none and gender eq male or _id eq petra or _id eq peter", "peter petra"},
         {"not(_id eq peter)", "petra none"},
         {"not ( _id eq peter or _id eq petra )", "none"},
         {"not(not(_id eq peter))", "peter"},
         {"((_id eq peter))", "peter"},
         {"  _id  eq  peter  ", "peter"},
         {"not(_id eq none) and not(_id eq petra)", "peter"}});
}

TEST(Filter, SaysWhereItIsMalformed) {
    Corpus corpus;
    add_patients(corpus);
    check_filters(
        corpus, "Patient",
        {{"name", "invalid: _filter: at character 5: a blank and an operation are expected"},
         {"name co", "invalid: _filter: at character 8: a blank and a value are expected"},
         {"name co ", "invalid: _filter: at character 9: a value is expected"},
         {"name xx y",
          "invalid: _filter: at character 6: one of eq ne co sw ew gt lt ge le ap sa eb pr po ss "
          "sb in ni re is expected"},
         {"name co \"x", "invalid: _filter: at character 9: the quotation mark is not closed"},
         {"name co \"\\x\"", "invalid: _filter: at character 9: a JSON string is expected"},
         {"name co \"\"", "invalid: _filter: at character 9: a text is expected"},
         {"name co \"a\\u0000\"", "invalid: _filter: at character 9: a text is expected"},
         {"name co x andname co y",
          "invalid: _filter: at character 11: and, or, or the end is expected"},
         {"(name co x", "invalid: _filter: at character 11: ')' is expected"},
         {"name co x)", "invalid: _filter: at character 10: and, or, or the end is expected"},
         {"name co x name co y",
          "invalid: _filter: at character 11: and, or, or the end is expected"},
         {"name co x and",
          "invalid: _filter: at character 14: the name of a search parameter is expected"},
         {"and", "invalid: _filter: at character 4: a blank and an operation are expected"},
         {"link[name co x] eq 1", "invalid: _filter: at character 16: '.' and a name are expected"},
         {"link[name co x.name eq 1", "invalid: _filter: at character 21: ']' is expected"},
         {"nothing eq 1", "invalid: _filter: 'nothing' is not a search parameter of Patient"}});
}

TEST(Filter, IsBounded) {
    const auto code = [](const std::string& text) {
        const auto filter = parse_filter(text);
        return filter ? Errc::internal : filter.error().code;
    };
    EXPECT_EQ(code(std::string(100'000, '(') + "a eq b"), Errc::too_costly);
    std::string negations;
    for (int i = 0; i < 10'000; ++i) {
        negations += "not(";
    }
    EXPECT_EQ(code(negations + "a eq b"), Errc::too_costly);
    std::string brackets;
    for (int i = 0; i < 10'000; ++i) {
        brackets += "a[";
    }
    EXPECT_EQ(code(brackets), Errc::too_costly);
    std::string tests = "a eq b";
    for (std::size_t i = 0; i < kFilterTestsMax; ++i) {
        tests += " and a eq b";
    }
    EXPECT_EQ(code(tests), Errc::too_costly);
    std::string many = "(a eq b)";
    for (std::size_t i = 1; i < kFilterTestsMax; ++i) {
        many += " and (a eq b)";
    }
    EXPECT_TRUE(parse_filter(many)) << "neither deep nor turning";
    std::string turns = "a eq b";
    for (int i = 0; i < 100; ++i) {
        turns += i % 2 == 0 ? " and a eq b" : " or a eq b";
    }
    EXPECT_EQ(code(turns), Errc::too_costly);
    std::string path = "a";
    for (int i = 0; i < 20; ++i) {
        path += ".a";
    }
    EXPECT_EQ(code(path + " eq b"), Errc::too_costly);
}

}  // namespace
}  // namespace annals::core::search
