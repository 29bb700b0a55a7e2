#include "core/target.h"
#include "tests/core/search/corpus.h"

#include <gtest/gtest.h>

namespace annals::core::search {
namespace {

TEST(StringQuery, IsByBeginningByPartOrExact) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"eve","name":[{"given":["Eve"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"evelyn","name":[{"given":["Evelyn"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"severine","name":[{"given":["Séverine"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"comma","name":[{"family":"a,b$c|d\\e"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"none"})");
    check(corpus, "Patient",
          {{"given=eve", "eve evelyn"},
           {"given=EVE", "eve evelyn"},
           {"given:contains=eve", "eve evelyn severine"},
           {"given:contains=%C3%A9v%C3%A9", "eve evelyn severine"},
           {"given:exact=Eve", "eve"},
           {"given:exact=eve", ""},
           {"name=evelyn", "evelyn"},
           {"given=eve,sev", "eve evelyn severine"},
           {"given=eve&given=evel", "evelyn"},
           {"family=a%5C,b", "comma"},
           {"family:exact=a%5C,b%5C$c%5C|d%5C%5Ce", "comma"},
           {"family=a,x", "comma"},
           {"name:missing=true", "none"},
           {"given:missing=true", "comma none"},
           {"given:missing=false", "eve evelyn severine"},
           {"given:missing=maybe",
            "invalid: search parameter 'given:missing': true or false is needed"},
           {"given:text=x",
            "not-supported: search parameter 'given:text': the modifier ':text' is not supported"},
           {"given:not=x",
            "not-supported: search parameter 'given:not': the modifier ':not' is not supported"},
           {"given=a%5Cb", "invalid: search parameter 'given': unknown escape"},
           {"given=a,,b",
            "invalid: search parameter 'given': a value is needed before and after every comma"},
           {"given=", "invalid: search parameter 'given' has no value"}});
}

TEST(StringQuery, FindsWhatIsEscaped) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"comma","name":[{"family":"a,b$c|d\\e"}]})");
    const std::string value = escape_value(R"(a,b$c|d\e)");
    EXPECT_EQ(value, R"(a\,b\$c\|d\\e)");
    EXPECT_EQ(corpus.ask("Patient", "family:exact=" + percent_encode(value)), "comma");
}

TEST(StringQuery, RefusesATextOfWhichFoldingLeavesNothing) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"eve","name":[{"given":["Eve"]}]})");
    corpus.add(R"({"resourceType":"Patient","id":"blank","name":[{"given":[" "]}]})");
    corpus.add(R"({"resourceType":"Condition","id":"c","code":{"text":"Headache"},
        "subject":{"reference":"Patient/1"}})");
    const auto refused = [](const std::string& name) {
        return "invalid: search parameter '" + name +
               "': a text is needed that is more than white space and marks";
    };
    // A blank, an accent that stands alone, a space without width.
    for (const std::string text : {"%20", "%CC%81", "%E2%80%8B", "eve,%20"}) {
        EXPECT_EQ(corpus.ask("Patient", "given=" + text), refused("given")) << text;
        EXPECT_EQ(corpus.ask("Patient", "given:contains=" + text), refused("given:contains"))
            << text;
        EXPECT_EQ(corpus.ask("Condition", "code:text=" + text), refused("code:text")) << text;
    }
    EXPECT_EQ(corpus.ask("Patient", "given:exact=%20"), "blank");
    EXPECT_EQ(corpus.ask("Patient", "given:text=%20"),
              "not-supported: search parameter 'given:text': the modifier ':text' is not "
              "supported");
}

TEST(TokenQuery, IsByCodeAndSystem) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Condition","id":"icd","code":{"text":"Bad headache",
        "coding":[{"system":"http://i","code":"R51","display":"Headache"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"own","code":{"coding":[{"code":"R51"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"two","code":{"coding":[
        {"system":"http://i","code":"X"},{"system":"http://j","code":"R51"}]},
        "subject":{"reference":"Patient/1"}})");
    corpus.add(R"({"resourceType":"Condition","id":"none","subject":{"reference":"Patient/1"}})");
    check(
        corpus, "Condition",
        {{"code=R51", "icd own two"},
         {"code=http://i|R51", "icd"},
         {"code=|R51", "own"},
         {"code=http://i|", "icd two"},
         {"code=http://i|X,http://i|R51", "icd two"},
         {"code=X&code=R51", "two"},
         {"code=r51", ""},
         {"code:not=R51", "none"},
         {"code:not=http://i|R51", "own two none"},
         {"code:not=http://i|R51,X", "own none"},
         {"code:text=head", "icd"},
         {"code:text=bad", "icd"},
         {"code:missing=true", "none"},
         {"code=|", "invalid: search parameter 'code': a code or a system is needed"},
         {"code=a|b|c",
          "invalid: search parameter 'code': code, system|code, |code or system| is needed"},
         {"code:exact=R51",
          "not-supported: search parameter 'code:exact': the modifier ':exact' is not supported"},
         {"code:in=http://nowhere",
          "invalid: search parameter 'code:in': the value set 'http://nowhere' is not known here"},
         {"code:below=http://i|R51",
          "invalid: search parameter 'code:below': the code system 'http://i' is not stored here"},
         {"code:below=R51", "invalid: search parameter 'code:below': system|code is needed"}});
}

TEST(TokenQuery, KnowsBooleansCodesIdentifiersAndContacts) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Patient","id":"a","active":true,"gender":"male",
        "identifier":[{"system":"urn:oid:1.2","value":"446053","type":{"coding":[
        {"system":"http://t","code":"MR"}]}}],
        "telecom":[{"system":"email","value":"a@b.org","use":"home"}]})");
    corpus.add(R"({"resourceType":"Patient","id":"b","active":false,"gender":"female",
        "identifier":[{"value":"446053"}],"telecom":[{"system":"phone","value":"555"}]})");
    check(corpus, "Patient",
          {{"active=true", "a"},
           {"active:not=true", "b"},
           {"gender=male", "a"},
           {"gender=male,female", "a b"},
           {"gender:not=male", "b"},
           {"gender=http://hl7.org/fhir/administrative-gender|male", "a"},
           {"gender:in=http://hl7.org/fhir/ValueSet/administrative-gender", "a b"},
           {"gender:not-in=http://hl7.org/fhir/ValueSet/administrative-gender", ""},
           {"identifier=446053", "a b"},
           {"identifier=urn:oid:1.2|446053", "a"},
           {"identifier=|446053", "b"},
           {"identifier:of-type=http://t|MR|446053", "a"},
           {"identifier:of-type=http://t|XX|446053", ""},
           {"identifier:of-type=MR|446053",
            "invalid: search parameter 'identifier:of-type': system|code|value is needed"},
           {"identifier:of-type=|MR|446053",
            "invalid: search parameter 'identifier:of-type': none of system|code|value may be "
            "empty"},
           {"email=a@b.org", "a"},
           {"phone=555", "b"},
           {"telecom=email|a@b.org", "a"}});
}

TEST(ReferenceQuery, IsByIdTypeUrlAndIdentifier) {
    Corpus corpus;
    const auto add = [&](const char* id, const std::string& subject) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"x"},"subject":)" + subject + "}");
    };
    add("rel", R"({"reference":"Patient/23"})");
    add("abs", R"({"reference":"http://example.org/fhir/Patient/23"})");
    add("ver", R"({"reference":"Patient/23/_history/2"})");
    add("grp", R"({"reference":"Group/23"})");
    add("far", R"({"reference":"http://far.org/fhir/Patient/23"})");
    add("urn", R"({"reference":"urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0"})");
    add("idn", R"({"identifier":{"system":"http://acme","value":"2345"}})");
    check(corpus, "Observation",
          {{"subject=23", "rel abs ver grp"},
           {"subject=Patient/23", "rel abs ver"},
           {"subject:Patient=23", "rel abs ver"},
           {"subject:Patient=Patient/23", "rel abs ver"},
           {"subject=http://example.org/fhir/Patient/23", "rel abs ver"},
           {"subject=Patient/23/_history/2", "ver"},
           {"subject=http://example.org/fhir/Patient/23/_history/2", "ver"},
           {"subject=23/_history/2", "ver"},
           {"subject=23/_history/3", ""},
           {"subject:Patient=23/_history/2", "ver"},
           {"subject:Patient=23/_history/3", ""},
           {"subject:Group=23/_history/2", ""},
           {"subject:Patient=Patient/23/_history/2", "ver"},
           {"subject:Patient=Patient/23/_history/3", ""},
           {"subject:Patient=23/_history/",
            "invalid: search parameter 'subject:Patient': an id is needed"},
           {"subject=23/_history/",
            "invalid: search parameter 'subject': an id, Type/id or an absolute URL is needed"},
           {"subject=http://far.org/fhir/Patient/23", "far"},
           {"subject=urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0", "urn"},
           {"subject=Patient/23,Group/23", "rel abs ver grp"},
           {"patient=23", "rel abs ver"},
           {"subject:identifier=http://acme|2345", "idn"},
           {"subject:identifier=2345", "idn"},
           {"subject:missing=true", ""},
           {"subject:Patient=Group/23",
            "invalid: search parameter 'subject:Patient': an id is needed"},
           {"subject:Encounter=23",
            "invalid: search parameter 'subject:Encounter': it does not lead to Encounter"},
           {"subject:Nothing=23",
            "not-supported: search parameter 'subject:Nothing': the modifier ':Nothing' is not "
            "supported"},
           {"subject=a/b/c",
            "invalid: search parameter 'subject': an id, Type/id or an absolute URL is needed"}});
}

TEST(ReferenceQuery, FindsCanonicalsWithAndWithoutVersion) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"q1","status":"completed",
        "questionnaire":"http://q.org/Q|1.0"})");
    corpus.add(R"({"resourceType":"QuestionnaireResponse","id":"q2","status":"completed",
        "questionnaire":"http://q.org/Q"})");
    check(corpus, "QuestionnaireResponse",
          {{"questionnaire=http://q.org/Q", "q1 q2"}, {"questionnaire=http://q.org/Q|1.0", "q1"}});
}

TEST(ReferenceQuery, GoesThroughThePartsOfWhatItLeadsTo) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Location","id":"town"})");
    corpus.add(
        R"({"resourceType":"Location","id":"house","partOf":{"reference":"Location/town"}})");
    corpus.add(
        R"({"resourceType":"Location","id":"room","partOf":{"reference":"Location/house"}})");
    corpus.add(R"({"resourceType":"Location","id":"other"})");
    for (const char* place : {"town", "house", "room", "other"}) {
        corpus.add(R"({"resourceType":"Procedure","id":"in-)" + std::string(place) +
                   R"(","status":"completed","subject":{"reference":"Patient/1"},
                   "location":{"reference":"Location/)" +
                   place + R"("}})");
    }
    check(corpus, "Procedure",
          {{"location:below=town", "in-town in-house in-room"},
           {"location:below=Location/house", "in-house in-room"},
           {"location:below=room", "in-room"},
           {"location:above=room", "in-town in-house in-room"},
           {"location:above=house", "in-town in-house"},
           {"location:above=other", "in-other"},
           {"location:below=Location/town/_history/1",
            "invalid: search parameter 'location:below': an id or Type/id is needed, without a "
            "version"},
           {"location:above=room/_history/1",
            "invalid: search parameter 'location:above': an id or Type/id is needed, without a "
            "version"},
           {"location:below=Patient/1",
            "invalid: search parameter 'location:below': it does not lead to what has parts of its "
            "own type"},
           {"patient:below=1",
            "invalid: search parameter 'patient:below': it does not lead to what has parts of its "
            "own type"}});
    check(corpus, "Location",
          {{"partof:below=town", "house room"}, {"partof:above=house", "house room"}});
}

TEST(DateQuery, ComparesPeriodsByThePrefixes) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* date) {
        corpus.add(R"({"resourceType":"Patient","id":")" + std::string(id) + R"(","birthDate":")" +
                   date + "\"}");
    };
    add("y2013", "2013");
    add("jan", "2013-01");
    add("d14", "2013-01-14");
    add("d15", "2013-01-15");
    add("feb", "2013-02");
    check(corpus, "Patient",
          {{"birthdate=2013-01-14", "d14"},
           {"birthdate=eq2013-01-14", "d14"},
           {"birthdate=2013-01", "jan d14 d15"},
           {"birthdate=2013", "y2013 jan d14 d15 feb"},
           {"birthdate=ne2013-01-14", "y2013 jan d15 feb"},
           {"birthdate=lt2013-01-14", "y2013 jan"},
           {"birthdate=gt2013-01-14", "y2013 jan d15 feb"},
           {"birthdate=ge2013-01-15", "y2013 jan d15 feb"},
           {"birthdate=le2013-01-14", "y2013 jan d14"},
           {"birthdate=sa2013-01-14", "d15 feb"},
           {"birthdate=eb2013-01-15", "d14"},
           {"birthdate=ge2013-01-14&birthdate=lt2013-02", "y2013 jan d14 d15"},
           {"birthdate=2013-01-14,2013-01-15", "d14 d15"},
           {"birthdate=2013-02-30",
            "invalid: search parameter 'birthdate': a date, a date with a time, or a year or month "
            "is needed"},
           {"birthdate:exact=2013",
            "not-supported: search parameter 'birthdate:exact': the modifier ':exact' is not "
            "supported"}});
}

TEST(DateQuery, ReadsTimesOfAnyPrecisionAndZone) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* date) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"x"},"effectiveDateTime":")" + date +
                   "\"}");
    };
    add("s30", "2013-01-14T10:00:30Z");
    add("zone", "2013-01-14T12:00:30.250+02:00");
    add("m01", "2013-01-14T10:01:00Z");
    check(corpus, "Observation",
          {{"date=2013-01-14T10:00", "s30 zone"},
           {"date=2013-01-14T10:00Z", "s30 zone"},
           {"date=2013-01-14T12:00%2B02:00", "s30 zone"},
           {"date=2013-01-14T12:00+02:00", "s30 zone"},
           {"date=2013-01-14T10:00:30Z", "s30 zone"},
           {"date=2013-01-14T10:00:30.250Z", "zone"},
           {"date=gt2013-01-14T10:00", "m01"},
           {"date=2013-01-14T10",
            "invalid: search parameter 'date': a date, a date with a time, or a year or month is "
            "needed"}});
}

TEST(DateQuery, ReadsWhatNamesNoZoneInThatOfTheParameters) {
    const auto sydney = TimeZone::load("Australia/Sydney").value();
    Corpus corpus(ParameterSet::with({}, {}, nullptr, References::as_searched, sydney));
    const auto add = [&](const char* id, const char* date) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"coding":[{"code":"c"}]},"effectiveDateTime":")" +
                   date + R"(","meta":{"lastUpdated":"2019-10-31T13:30:00Z"}})");
    };
    add("eve", "2019-10-31");
    add("morning", "2019-11-01T09:29:23+11:00");
    add("utc", "2019-10-31T13:00:00Z");
    add("day", "2019-11-01");
    add("next", "2019-11-01T13:00:00Z");
    check(corpus, "Observation",
          {{"date=2019-11-01", "morning utc day"},
           {"date=2019-10", "eve"},
           {"date=2019-11-01T09:29", "morning"},
           {"date=2019-11-01T00:00", "utc"},
           {"date=2019-11-01T00:00Z", ""},
           {"date=gt2019-11-01", "next"},
           {"date=lt2019-11-01", "eve"},
           {"date=2019-11-01T00:00:00Z", ""},
           {"code-value-date=c$2019", ""},
           {"_lastUpdated=2019-11-01", "eve morning utc day next"},
           {"_lastUpdated=2019-10-31", ""},
           {"_filter=date eq 2019-11-01", "morning utc day"},
           {"_filter=date sa 2019-11-01", "next"}});
}

// Sunday the 25th of October has 25 hours, and the one from two to three twice.
TEST(DateQuery, AsksForTheHourThatIsThereTwiceAsOne) {
    const auto berlin = TimeZone::load("Europe/Berlin").value();
    Corpus corpus(ParameterSet::with({}, {}, nullptr, References::as_searched, berlin));
    const auto add = [&](const char* id, const char* date) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"x"},"effectiveDateTime":")" + date +
                   "\"}");
    };
    add("before", "2026-10-25T01:59:59+02:00");
    add("summer", "2026-10-25T02:30:00+02:00");
    add("winter", "2026-10-25T02:30:00+01:00");
    add("after", "2026-10-25T03:00:00+01:00");
    add("midnight", "2026-10-26T00:00:00+01:00");
    check(corpus, "Observation",
          {{"date=2026-10-25", "before summer winter after"},
           {"date=ge2026-10-25T02:00&date=lt2026-10-25T03:00", "summer winter"},
           {"date=2026-10-25T02:30", "summer winter"},
           {"date=gt2026-10-25T02:30", "after midnight"},
           {"date=lt2026-10-25T02:30", "before"}});
}

TEST(DateQuery, OpenPeriodsReachForEver) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Encounter","id":"open","status":"in-progress",
        "class":{"code":"AMB"},"period":{"start":"2013-01-14"}})");
    corpus.add(R"({"resourceType":"Encounter","id":"closed","status":"finished",
        "class":{"code":"AMB"},"period":{"start":"2013-01-14","end":"2013-02-01"}})");
    check(corpus, "Encounter",
          {{"date=gt2050", "open"},
           {"date=eb2013-03", "closed"},
           {"date=sa2013-01-13", "open closed"},
           {"date=2013", "closed"}});
}

// An encounter that ended in the course of a day is of that day or later, and one that began then of that day or before.
TEST(DateQuery, FindsByGeAndLeWhatEndsOrBeginsWithinWhatIsAsked) {
    Corpus corpus;
    corpus.add(
        R"({"resourceType":"Encounter","id":"stay","status":"finished","class":{"code":"IMP"},
        "period":{"start":"2024-05-01T08:00:00Z","end":"2024-05-03T10:00:00Z"}})");
    corpus.add(
        R"({"resourceType":"Encounter","id":"ended","status":"finished","class":{"code":"IMP"},
        "period":{"end":"2024-05-02"}})");
    check(corpus, "Encounter",
          {{"date=ge2024-05-03", "stay"},
           {"date=ge2024-05-03T10:00:00Z", "stay"},
           {"date=ge2024-05-04", ""},
           {"date=ge2024-05-02", "stay ended"},
           {"date=le2024-05-01", "stay ended"},
           {"date=le2024-05-01T08:00:00Z", "stay ended"},
           {"date=le2024-04-30", "ended"},
           {"date=ge2024-05-03&date=le2024-05-03", "stay"},
           {"date=gt2024-05-03", ""},
           {"date=lt2024-05-01", "ended"}});
}

TEST(DateQuery, ApproximatesByATenthOfTheDistanceToNow) {
    Corpus corpus;  // whose now is 2020-01-01
    const auto add = [&](const char* id) {
        corpus.add(R"({"resourceType":"Patient","id":")" + std::string(id) + R"(","birthDate":")" +
                   id + "\"}");
    };
    for (const char* date :
         {"2008-12-15", "2009-01-01", "2010-01-01", "2010-12-31", "2011-02-15"}) {
        add(date);
    }
    check(corpus, "Patient",
          {{"birthdate=ap2010-01-01", "2009-01-01 2010-01-01 2010-12-31"},
           {"birthdate=ap2020-01-01", ""}});
}

TEST(DateQuery, AsksWhenAVersionWasWritten) {
    Corpus corpus;
    corpus.add(
        R"({"resourceType":"Patient","id":"old","meta":{"lastUpdated":"2010-10-01T00:00:00Z"}})");
    corpus.add(
        R"({"resourceType":"Patient","id":"new","meta":{"lastUpdated":"2019-10-01T00:00:00Z"}})");
    check(corpus, "Patient",
          {{"_lastUpdated=gt2010-10-01", "new"},
           {"_lastUpdated=2010-10-01", "old"},
           {"_lastUpdated=ge2010-10-01&_lastUpdated=lt2011", "old"},
           {"_lastUpdated:missing=false", "old new"},
           {"_lastUpdated:missing=true", ""}});
}

TEST(DateQuery, KnowsTimingsByTheirEventsAndBounds) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"ServiceRequest","id":"events","status":"active","intent":"order",
        "subject":{"reference":"Patient/1"},
        "occurrenceTiming":{"event":["2013-01-14","2013-03-01"]}})");
    corpus.add(R"({"resourceType":"ServiceRequest","id":"bounds","status":"active","intent":"order",
        "subject":{"reference":"Patient/1"},"occurrenceTiming":{"repeat":{"boundsPeriod":
        {"start":"2013-05-01","end":"2013-06-01"}}}})");
    check(corpus, "ServiceRequest",
          {{"occurrence=2013-03", "events"},
           {"occurrence=2013", "events bounds"},
           {"occurrence=eb2013-04", "events"},
           {"occurrence=gt2013-05-15", "bounds"}});
}

TEST(NumberQuery, TakesWholeNumbers) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"MolecularSequence","id":"two","coordinateSystem":0,
        "variant":[{"start":2,"end":3}]})");
    check(corpus, "MolecularSequence",
          {{"variant-start=2", "two"}, {"variant-start=3", ""}, {"variant-start=gt1", "two"}});
}

TEST(NumberQuery, TakesDigitsForPrecisionWhereItIsToBeEqual) {
    Corpus corpus;
    for (const char* number : {"94.9", "95", "99.4", "99.5", "100", "100.4", "100.5", "110"}) {
        corpus.add(R"({"resourceType":"RiskAssessment","id":")" + std::string(number) +
                   R"(","status":"final","subject":{"reference":"Patient/1"},
                   "prediction":[{"probabilityDecimal":)" +
                   number + "}]}");
    }
    check(corpus, "RiskAssessment",
          {{"probability=100", "99.5 100 100.4"},
           {"probability=100.00", "100"},
           {"probability=1e2", "95 99.4 99.5 100 100.4 100.5"},
           {"probability=eq100", "99.5 100 100.4"},
           {"probability=ne100", "94.9 95 99.4 100.5 110"},
           {"probability=lt100", "94.9 95 99.4 99.5"},
           {"probability=le100", "94.9 95 99.4 99.5 100"},
           {"probability=gt100", "100.4 100.5 110"},
           {"probability=ge100", "100 100.4 100.5 110"},
           {"probability=sa100", "100.4 100.5 110"},
           {"probability=eb100", "94.9 95 99.4 99.5"},
           {"probability=ap100", "94.9 95 99.4 99.5 100 100.4 100.5 110"},
           {"probability=ap122", "110"},
           {"probability=abc", "invalid: search parameter 'probability': a number is needed"},
           {"probability:above=100",
            "not-supported: search parameter 'probability:above': the modifier ':above' is not "
            "supported"},
           {"probability=1e%2B2", "95 99.4 99.5 100 100.4 100.5"},
           {"probability=1e%2B-2", "invalid: search parameter 'probability': a number is needed"},
           {"probability=5|x|y", "invalid: search parameter 'probability': a number is needed"}});
}

TEST(QuantityQuery, ConvertsUnitsOfUcum) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* quantity) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"x"},"valueQuantity":)" + quantity + "}");
    };
    add("mg", R"({"value":5.40,"unit":"mg","system":"http://unitsofmeasure.org","code":"mg"})");
    add("g", R"({"value":0.0054,"system":"http://unitsofmeasure.org","code":"g"})");
    add("ug", R"({"value":5395,"system":"http://unitsofmeasure.org","code":"ug"})");
    add("big",
        R"({"value":7,"unit":"milligram","system":"http://unitsofmeasure.org","code":"mg"})");
    add("own", R"({"value":5.4,"unit":"mg"})");
    add("pill", R"({"value":5.4,"unit":"pill","system":"http://pills","code":"P"})");
    add("sec", R"({"value":5.4,"system":"http://unitsofmeasure.org","code":"s"})");
    add("odd", R"({"value":5.4,"system":"http://unitsofmeasure.org","code":"no unit"})");
    add("dose", R"({"value":0.0054,"system":"http://pills","code":"g"})");
    check(
        corpus, "Observation",
        {{"value-quantity=5.4", "mg own pill sec odd"},
         {"value-quantity=5.4|http://unitsofmeasure.org|", "mg sec odd"},
         {"value-quantity=5.4|http://unitsofmeasure.org|no%20unit", "odd"},
         {"value-quantity=5.4|http://elsewhere|mg", ""},
         {"value-quantity=5.4|http://pills|mg", ""},
         {"value-quantity=5.4|http://unitsofmeasure.org|mg", "mg g ug"},
         {"value-quantity=5.40|http://unitsofmeasure.org|mg", "mg g ug"},
         {"value-quantity=5.400|http://unitsofmeasure.org|mg", "mg g"},
         {"value-quantity=0.0054|http://unitsofmeasure.org|g", "mg g ug"},
         {"value-quantity=5.4||mg", "mg own"},
         {"value-quantity=7||milligram", "big"},
         {"value-quantity=5.4|http://pills|P", "pill"},
         {"value-quantity=5.4|http://pills|Q", ""},
         {"value-quantity=gt6|http://unitsofmeasure.org|mg", "big"},
         {"value-quantity=gt0.006|http://unitsofmeasure.org|g", "big"},
         {"value-quantity=ge0.007|http://unitsofmeasure.org|g", "big"},
         {"value-quantity=le7|http://unitsofmeasure.org|mg", "mg g ug big"},
         {"value-quantity=lt7|http://unitsofmeasure.org|mg", "mg g ug"},
         {"value-quantity=ap7|http://unitsofmeasure.org|mg", "big"},
         {"value-quantity=ne5.4|http://unitsofmeasure.org|mg", "big"},
         {"value-quantity=5.4|mg",
          "invalid: search parameter 'value-quantity': number, number|system|code or number||code "
          "is needed"},
         {"value-quantity=5.4|http://unitsofmeasure.org|mg|x",
          "invalid: search parameter 'value-quantity': number, number|system|code or number||code "
          "is needed"},
         {"value-quantity=5.4|http://a%5Cb|mg",
          "invalid: search parameter 'value-quantity': unknown escape"},
         {"value-quantity=5.4||m%5Cg",
          "invalid: search parameter 'value-quantity': unknown escape"},
         {"value-quantity:above=5.4",
          "not-supported: search parameter 'value-quantity:above': the modifier ':above' is not "
          "supported"},
         {"value-quantity=|http://unitsofmeasure.org|mg",
          "invalid: search parameter 'value-quantity': number, number|system|code or number||code "
          "is needed"}});
}

TEST(QuantityQuery, ConvertsTemperatures) {
    Corpus corpus;
    const auto add = [&](std::string_view id, std::string_view value, std::string_view code) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"text":"t"},"valueQuantity":{"value":)" +
                   std::string(value) + R"(,"system":"http://unitsofmeasure.org","code":")" +
                   std::string(code) + R"("}})");
    };
    add("celsius", "37.0", "Cel");
    add("fahrenheit", "100.4", "[degF]");
    add("kelvin", "310.15", "K");
    add("millikelvin", "310150", "mK");
    check(corpus, "Observation",
          {{"value-quantity=37.0|http://unitsofmeasure.org|Cel", "celsius kelvin millikelvin"},
           {"value-quantity=98.6|http://unitsofmeasure.org|[degF]", "celsius kelvin millikelvin"},
           {"value-quantity=310.15|http://unitsofmeasure.org|K", "celsius kelvin millikelvin"},
           {"value-quantity=38.0|http://unitsofmeasure.org|Cel", "fahrenheit"},
           {"value-quantity=lt98.6|http://unitsofmeasure.org|[degF]", ""},
           {"value-quantity=gt37|http://unitsofmeasure.org|Cel", "fahrenheit"},
           {"value-quantity=ge38|http://unitsofmeasure.org|Cel", "fahrenheit"},
           {"value-quantity=37||Cel", "celsius"}});
}

TEST(QuantityQuery, TakesDurationsAndMoney) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"Encounter","id":"e","status":"finished","class":{"code":"AMB"},
        "length":{"value":30,"unit":"min","system":"http://unitsofmeasure.org","code":"min"}})");
    corpus.add(R"({"resourceType":"Invoice","id":"i","status":"issued",
        "totalGross":{"value":12.5,"currency":"EUR"}})");
    check(corpus, "Encounter",
          {{"length=gt20", "e"},
           {"length=gt20||min", "e"},
           {"length=0.5|http://unitsofmeasure.org|h", "e"},
           {"length=1800|http://unitsofmeasure.org|s", "e"},
           {"length=lt20", ""}});
    check(corpus, "Invoice",
          {{"totalgross=12.5|urn:iso:std:iso:4217|EUR", "i"},
           {"totalgross=12.5|urn:iso:std:iso:4217|USD", ""},
           {"totalgross=12.5||EUR", "i"}});
}

TEST(UriQuery, IsExactOrAboveOrBelow) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* url) {
        corpus.add(R"({"resourceType":"ValueSet","id":")" + std::string(id) +
                   R"(","status":"draft","url":")" + url + "\"}");
    };
    add("root", "http://acme.org/fhir");
    add("a", "http://acme.org/fhir/ValueSet/123");
    add("b", "http://acme.org/fhir/ValueSet/123/_history/5");
    add("urn", "urn:oid:1.2.3.4.5");
    check(corpus, "ValueSet",
          {{"url=http://acme.org/fhir/ValueSet/123", "a"},
           {"url=http://ACME.org/fhir/ValueSet/123", ""},
           {"url:below=http://acme.org/fhir/", "a b"},
           {"url:below=http://acme.org/fhir", "root a b"},
           {"url:above=http://acme.org/fhir/ValueSet/123/_history/5", "root a b"},
           {"url=urn:oid:1.2.3.4.5", "urn"},
           {"url:below=urn:oid:1.2",
            "invalid: search parameter 'url:below': a URN has nothing above or below it"},
           {"url:contains=x",
            "not-supported: search parameter 'url:contains': the modifier ':contains' is not "
            "supported"}});
}

TEST(CompositeQuery, HoldsOfOneElement) {
    Corpus corpus;
    const auto component = [](const char* code, const char* value) {
        return std::string(R"({"code":{"coding":[{"system":"http://loinc.org","code":")") + code +
               R"("}]},"valueQuantity":{"value":)" + value +
               R"(,"system":"http://unitsofmeasure.org","code":"mm[Hg]"}})";
    };
    const auto add = [&](const char* id, const std::string& components) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"coding":[{"system":"http://loinc.org",
                   "code":"85354-9"}]},"component":[)" +
                   components + "]}");
    };
    add("normal", component("8480-6", "120") + "," + component("8462-4", "80"));
    add("swapped", component("8480-6", "80") + "," + component("8462-4", "120"));
    corpus.add(R"({"resourceType":"Observation","id":"plain","status":"final","code":{"coding":[
        {"system":"http://loinc.org","code":"8480-6"}]},
        "valueQuantity":{"value":125,"system":"http://unitsofmeasure.org","code":"mm[Hg]"}})");
    const std::string other = component("150", "200");
    add("mixed", std::string(other).replace(other.find("http://loinc.org"), 16, "http://other") +
                     "," + component("8867-4", "50"));
    check(corpus, "Observation",
          {{"component-code-value-quantity=8480-6$gt100", "normal"},
           {"component-code-value-quantity=http://loinc.org|$gt100", "normal swapped"},
           {"component-code-value-quantity=http://other|$gt100", "mixed"},
           {"component-code-value-quantity=http://other|$lt100", ""},
           {"component-code-value-quantity=http://elsewhere|8480-6$gt100", ""},
           {"component-code-value-quantity:not=8480-6$gt100",
            "not-supported: search parameter 'component-code-value-quantity:not': the modifier "
            "':not' is not supported"},
           {"component-code-value-quantity=http://loinc.org|8480-6$lt100", "swapped"},
           {"component-code-value-quantity=8462-4$120||mm[Hg]", "swapped"},
           {"combo-code-value-quantity=8480-6$gt100", "normal plain"},
           {"code-value-quantity=8480-6$gt100", "plain"},
           {"code-value-quantity=8480-6$gt100,85354-9$gt1", "plain"},
           {"combo-code-value-quantity=8462-4$gt100,8480-6$gt121", "swapped plain"},
           {"code-value-quantity:missing=false", "plain"},
           {"code-value-quantity=8480-6",
            "invalid: search parameter 'code-value-quantity': 2 values with '$' between them are "
            "needed"},
           {"code-value-quantity=8480-6$",
            "invalid: search parameter 'code-value-quantity': a value is needed before and after "
            "every '$'"},
           {"code-value-quantity=8480-6$abc",
            "invalid: search parameter 'code-value-quantity': number, number|system|code or "
            "number||code is needed"}});
}

TEST(CompositeQuery, TakesComponentsOfAnyType) {
    Corpus corpus;
    const auto add = [&](const char* id, const std::string& value) {
        corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
                   R"(","status":"final","code":{"coding":[{"system":"http://l","code":"c"}]},)" +
                   value + "}");
    };
    add("text", R"("valueString":"Red and round")");
    add("concept", R"("valueCodeableConcept":{"coding":[{"system":"http://v","code":"red"}]})");
    add("date", R"("valueDateTime":"2020-05-01")");
    corpus.add(R"({"resourceType":"DocumentReference","id":"doc","status":"current","content":[],
        "relatesTo":[{"code":"replaces","target":{"reference":"DocumentReference/a"}},
                     {"code":"appends","target":{"reference":"DocumentReference/b"}}]})");
    corpus.add(
        R"({"resourceType":"Group","id":"grp","type":"person","actual":false,"characteristic":[
        {"code":{"coding":[{"code":"gender"}]},"valueCodeableConcept":{"coding":[{"code":"mixed"}]},
         "exclude":false},
        {"code":{"coding":[{"code":"owner"}]},"valueCodeableConcept":{"coding":[{"code":"john"}]},
         "exclude":false}]})");
    corpus.add(R"({"resourceType":"DiagnosticReport","id":"report","status":"final",
        "code":{"text":"x"},"result":[{"reference":"Observation/text"}]})");
    check(corpus, "Observation",
          {{"code-value-string=http://l|c$red", "text"},
           {"code-value-string=c$red", "text"},
           {"code-value-string=http://m|c$red", ""},
           {"code-value-concept=c$http://v|red", "concept"},
           {"code-value-date=c$2020-05", "date"},
           {"code-value-date=c$gt2020-05", ""},
           {"combo-code-value-concept=c$red", "concept"}});
    check(corpus, "DocumentReference",
          {{"relationship=DocumentReference/a$replaces", "doc"},
           {"relationship=DocumentReference/a$appends", ""},
           {"relationship=b$appends", "doc"}});
    check(corpus, "Group",
          {{"characteristic-value=gender$mixed", "grp"},
           {"characteristic-value=gender$john", ""},
           {"characteristic-value=gender$john,owner$john", "grp"}});
    check(corpus, "DiagnosticReport", {{"result.code-value-string=http://l|c$red", "report"}});
}

TEST(NearQuery, IsTheDistanceOnTheGlobe) {
    Corpus corpus;
    const auto add = [&](const char* id, const char* latitude, const char* longitude) {
        corpus.add(R"({"resourceType":"Location","id":")" + std::string(id) +
                   R"(","position":{"latitude":)" + latitude + R"(,"longitude":)" + longitude +
                   "}}");
    };
    add("here", "42.25", "-83.69");
    add("near", "42.30", "-83.70");    // about 5.6 km
    add("corner", "42.33", "-83.58");  // in the box of 11 km, but 12.7 km away
    add("far", "43.5", "-83.69");
    add("east", "0", "179.99");
    add("west", "0", "-179.99");
    add("pole", "89.99", "10");
    corpus.add(R"({"resourceType":"Location","id":"nowhere"})");
    check(
        corpus, "Location",
        {{"near=42.25|-83.69|11|km", "here near"},
         {"near=42.25|-83.69|11", "here near"},
         {"near=42.25|-83.69|13|km", "here near corner"},
         {"near=42.25|-83.69|5000|m", "here"},
         {"near=42.25|-83.69|4|[mi_us]", "here near"},
         {"near=42.25|-83.69", "here near corner"},
         {"near=0|180|3|km", "east west"},
         {"near=89.99|-170|3|km", "pole"},
         {"near=42.25|-83.69|1|km,0|180|3|km", "here east west"},
         {"near:missing=true", "nowhere"},
         {"near=91|0",
          "invalid: search parameter 'near': latitudes go from -90 to 90, longitudes from -180 to "
          "180"},
         {"near=1",
          "invalid: search parameter 'near': latitude|longitude|distance|units is needed"},
         {"near=1|1|2|parsec",
          "invalid: search parameter 'near': the distance is a number of km, m, cm, mm, [mi_i], "
          "[mi_us], [nmi_i], [yd_i] or [ft_i]"}});
}

}  // namespace
}  // namespace annals::core::search
