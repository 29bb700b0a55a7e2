// Searches for dates, numbers and quantities.

#include "tests/core/search/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace annals::core::search {
namespace {

/// Adds Observations with these ids and dates; `members`: what each has besides.
auto observations_in(Corpus& corpus, std::string members = R"("code":{"text":"x"})") {
    return [&corpus, members = std::move(members)](std::string_view id, std::string_view date) {
        corpus.add(fmt::format(R"({{"resourceType":"Observation","id":"{}","status":"final",)"
                               R"("effectiveDateTime":"{}",{}}})",
                               id, date, members));
    };
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
    const auto add = observations_in(corpus);
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
    const auto add = observations_in(corpus, R"("code":{"coding":[{"code":"c"}]},)"
                                             R"("meta":{"lastUpdated":"2019-10-31T13:30:00Z"})");
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

// Sunday, October 25th, has 25 hours: the one from two to three o'clock comes twice.
TEST(DateQuery, AsksForTheHourThatIsThereTwiceAsOne) {
    const auto berlin = TimeZone::load("Europe/Berlin").value();
    Corpus corpus(ParameterSet::with({}, {}, nullptr, References::as_searched, berlin));
    const auto add = observations_in(corpus);
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

// An encounter that ended during a day is of that day or later; one that began then is of that day or earlier.
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
    Corpus corpus;  // whose current date is 2020-01-01
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

TEST(DateQuery, ApproximatesWhatIsStillToCome) {
    Corpus corpus;  // whose current date is 2020-01-01
    for (const char* date :
         {"2028-12-15", "2029-06-01", "2030-01-01", "2030-12-31", "2031-02-15"}) {
        corpus.add(R"({"resourceType":"Patient","id":")" + std::string(date) +
                   R"(","birthDate":")" + date + "\"}");
    }
    check(corpus, "Patient", {{"birthdate=ap2030-01-01", "2029-06-01 2030-01-01 2030-12-31"}});
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

TEST(DateQuery, KnowsTimingsByTheirOuterLimits) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"ServiceRequest","id":"events","status":"active","intent":"order",
        "subject":{"reference":"Patient/1"},
        "occurrenceTiming":{"event":["2013-01-14","2013-03-01"]}})");
    corpus.add(R"({"resourceType":"ServiceRequest","id":"bounds","status":"active","intent":"order",
        "subject":{"reference":"Patient/1"},"occurrenceTiming":{"repeat":{"boundsPeriod":
        {"start":"2013-05-01","end":"2013-06-01"}}}})");
    check(corpus, "ServiceRequest",
          {{"occurrence=2013-03", ""},
           {"occurrence=2013", "events bounds"},
           {"occurrence=ne2013-03", "events bounds"},
           {"occurrence=eb2013-02", ""},
           {"occurrence=eb2013-04", "events"},
           {"occurrence=sa2013-02", "bounds"},
           {"occurrence=ge2013-02&occurrence=le2013-02", "events"},
           {"occurrence=gt2013-05-15", "bounds"}});
}

TEST(NumberQuery, TakesWholeNumbers) {
    Corpus corpus;
    corpus.add(R"({"resourceType":"MolecularSequence","id":"two","coordinateSystem":0,
        "variant":[{"start":2,"end":3}]})");
    check(corpus, "MolecularSequence",
          {{"variant-start=2", "two"}, {"variant-start=3", ""}, {"variant-start=gt1", "two"}});
}

TEST(NumberQuery, ApproximatesByWhatTheDigitsCoverIfThatIsMore) {
    Corpus corpus;
    for (const char* number : {"0.4", "0.5", "0.6", "1.4", "1.5"}) {
        corpus.add(R"({"resourceType":"RiskAssessment","id":")" + std::string(number) +
                   R"(","status":"final","subject":{"reference":"Patient/1"},
                   "prediction":[{"probabilityDecimal":)" +
                   number + "}]}");
    }
    check(corpus, "RiskAssessment",
          {{"probability=ap1", "0.5 0.6 1.4"}, {"probability=ap1.00", ""}});
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
           {"probability=ap1e2", "94.9 95 99.4 99.5 100 100.4 100.5 110"},
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

/// An Observation with that value of a unit of UCUM.
void add_quantity(Corpus& corpus, std::string_view id, std::string_view value,
                  std::string_view code) {
    corpus.add(R"({"resourceType":"Observation","id":")" + std::string(id) +
               R"(","status":"final","code":{"text":"t"},"valueQuantity":{"value":)" +
               std::string(value) + R"(,"system":"http://unitsofmeasure.org","code":")" +
               std::string(code) + R"("}})");
}

TEST(QuantityQuery, ConvertsWhatHasMorePlacesThanADecimal) {
    Corpus corpus;
    add_quantity(corpus, "least", "1.25e-31", "kg");
    add_quantity(corpus, "most", "2.5e+40", "mg");
    add_quantity(corpus, "below", "-0.5", "s");
    check(corpus, "Observation",
          {{"value-quantity=1.25e-28|http://unitsofmeasure.org|g", "least"},
           {"value-quantity=1.234e-28|http://unitsofmeasure.org|g", ""},
           {"value-quantity=le1e-28|http://unitsofmeasure.org|g", ""},
           {"value-quantity=lt2e-28|http://unitsofmeasure.org|g", "least"},
           {"value-quantity=25000000000000000000000000000000000000|http://unitsofmeasure.org|g",
            "most"},
           {"value-quantity=gt2e37|http://unitsofmeasure.org|g", "most"},
           {"value-quantity=lt1e-30|http://unitsofmeasure.org|min", "below"}});
}

TEST(QuantityQuery, ConvertsTemperatures) {
    Corpus corpus;
    add_quantity(corpus, "celsius", "37.0", "Cel");
    add_quantity(corpus, "fahrenheit", "100.4", "[degF]");
    add_quantity(corpus, "kelvin", "310.15", "K");
    add_quantity(corpus, "millikelvin", "310150", "mK");
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

}  // namespace
}  // namespace annals::core::search
