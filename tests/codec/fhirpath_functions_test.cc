// FHIRPath: conversions, callbacks of the caller, duplicates, and how expressions are read.

#include "tests/codec/fhirpath_fixture.h"

#include <vector>

namespace annals::fhirpath {
namespace {

TEST_F(FhirPath, ConvertsNothingThatIsNoneOfTheKind) {
    for (const std::string_view text : {"'maybe'.toBoolean()",
                                        "2.toBoolean()",
                                        "@2012.toBoolean()",
                                        "'+-5'.toInteger()",
                                        "'1.0'.toInteger()",
                                        "'2147483648'.toInteger()",
                                        "'-2147483649'.toInteger()",
                                        "'99999999999999999999'.toInteger()",
                                        "'abc'.toDecimal()",
                                        "'abc'.toQuantity()",
                                        "'abc'.toQuantity('mg')",
                                        "' 4'.toQuantity()",
                                        "'4dayss'.toQuantity()",
                                        "'4 \\'\\''.toQuantity()",
                                        "'4 \\'mg'.toQuantity()",
                                        "'4 mg\\''.toQuantity()",
                                        "'4 \\'m\\'g\\''.toQuantity()",
                                        "@2012.toQuantity()",
                                        "{}.toInteger()",
                                        "1.type().toString()",
                                        "5.toDate()",
                                        "5.toDateTime()",
                                        "5.toTime()",
                                        "@T10.toDate()",
                                        "@T10.toDateTime()",
                                        "@2012-01-02T10:00.toTime()",
                                        "@2012-01-02.toTime()",
                                        "'x'.toDate()",
                                        "'x'.toDateTime()",
                                        "'x'.toTime()",
                                        "(5 'ms').toQuantity('m')",
                                        "(1 'nonsense').toQuantity('m')",
                                        "(1 'm').toQuantity('nonsense')",
                                        "(1 year).toQuantity('d')"}) {
        EXPECT_EQ(eval(text), "") << text;
    }
}

TEST_F(FhirPath, ConvertsEachKindToWhatItCanBe) {
    EXPECT_EQ(eval("1.0.toBoolean()"), "[true]");
    EXPECT_EQ(eval("0.toBoolean()"), "[false]");
    EXPECT_EQ(eval("false.toInteger()"), "[0]");
    EXPECT_EQ(eval("true.toInteger()"), "[1]");
    EXPECT_EQ(eval("'2147483647'.toInteger()"), "[2147483647]");
    EXPECT_EQ(eval("'-2147483648'.toInteger()"), "[-2147483648]");
    EXPECT_EQ(eval("'1.5'.toDecimal()"), "[1.5]");
    EXPECT_EQ(eval("'12'.toInteger() is Integer and '12'.toDecimal() is Decimal"), "[true]");
    EXPECT_EQ(eval("@2012-01-02T10:00Z.toDate()"), "[2012-01-02]");
    EXPECT_EQ(eval("@2012-01-02T10:00Z.toDate() is Date"), "[true]");
    EXPECT_EQ(eval("@2012-01-02.toDateTime() is DateTime"), "[true]");
    EXPECT_EQ(eval("'2012-01-02'.toDateTime() is DateTime"), "[true]");
    EXPECT_EQ(eval("'2012-01-02T10:00:00+01:00'.toDate() = @2012-01-02"), "[true]");
    EXPECT_EQ(eval("'10:30'.toTime()"), "[10:30]");
    EXPECT_EQ(eval("true.toQuantity()"), "[1 '1']");
    EXPECT_EQ(eval("false.toQuantity()"), "[0 '1']");
    EXPECT_EQ(eval("'4'.toQuantity()"), "[4 '1']");
    EXPECT_EQ(eval("'4 years'.toQuantity()"), "[4 years]");
    EXPECT_EQ(eval("'4 month'.toQuantity()"), "[4 month]");
    EXPECT_EQ(eval("'4 '.toQuantity()"), "[4 '1']");
    EXPECT_EQ(eval("'4days'.toQuantity()"), "[4 days]");
    EXPECT_EQ(eval("'4\\'mg\\''.toQuantity()"), "[4 'mg']");
    EXPECT_EQ(eval("(1 day).toQuantity('days')"), "[1 day]");
    EXPECT_EQ(eval("(2 days).toQuantity('h')"), "[48 'h']");
    EXPECT_EQ(eval("(48 'h').toQuantity('days')"), "[2 days]");
}

TEST_F(FhirPath, TellsTheCallerWhatIsTraced) {
    std::string told;
    Hooks hooks;
    hooks.trace = [&](std::string_view name, std::span<const Item> items) {
        told += name;
        for (const Item& item : items) {
            told += "(" + to_text(item) + ")";
        }
    };
    environment_.hooks = &hooks;
    EXPECT_EQ(eval("(1|2).trace('all')"), "[1][2]");
    EXPECT_EQ(eval("(1|2).trace('more', $this + 2)"), "[1][2]");
    EXPECT_EQ(told, "all(1)(2)more(3)(4)");
    EXPECT_EQ(eval("1.trace(2)"), "error");
    EXPECT_EQ(eval("1.trace('bad', $this + true)"), "error");
    hooks.trace = nullptr;
    EXPECT_EQ(eval("1.trace('nobody listens')"), "[1]");
}

TEST_F(FhirPath, AsksTheCallerWhichCodesAreAboveOthers) {
    EXPECT_EQ(eval("'a'.subsumes('b')"), "not implemented");
    Hooks hooks;
    environment_.hooks = &hooks;
    EXPECT_EQ(eval("'a'.subsumes('b')"), "not implemented");
    EXPECT_EQ(eval("'a'.memberOf('v')"), "not implemented");
    EXPECT_EQ(eval("conformsTo('http://example.org/profile')"), "error");
    hooks.subsumes = [](const Item& a, const Item& b) -> Result<std::optional<bool>> {
        return std::optional(to_text(a) < to_text(b));
    };
    EXPECT_EQ(eval("'a'.subsumes('b')"), "[true]");
    EXPECT_EQ(eval("'b'.subsumes('a')"), "[false]");
    EXPECT_EQ(eval("'a'.subsumedBy('b')"), "[false]");
    EXPECT_EQ(eval("'b'.subsumedBy('a')"), "[true]");
    EXPECT_EQ(eval("{}.subsumes('a')"), "");
    EXPECT_EQ(eval("'a'.subsumes({})"), "");
    EXPECT_EQ(eval("'a'.subsumes('b' | 'c')"), "error");
    EXPECT_EQ(eval("('a' | 'b').subsumes('c')"), "error");
    EXPECT_EQ(eval("'a'.subsumes(1 + true)"), "error");
    hooks.member_of = [](const Item&, std::string_view) -> Result<std::optional<bool>> {
        return Error{Errc::processing, "no answer", {}};
    };
    EXPECT_EQ(eval("'a'.memberOf('v')"), "error");
    EXPECT_EQ(eval("'a'.memberOf({})"), "");
    EXPECT_EQ(eval("{}.memberOf('v')"), "");
    EXPECT_EQ(eval("('a' | 'b').memberOf('v')"), "error");
}

TEST_F(FhirPath, KnowsTheProfilesThatAreTypesOfR4Itself) {
    const std::string base = "http://hl7.org/fhir/StructureDefinition/";
    EXPECT_EQ(eval("conformsTo('" + base + "Patient')"), "[true]");
    EXPECT_EQ(eval("conformsTo('" + base + "Observation')"), "[false]");
    EXPECT_EQ(eval("'a'.conformsTo('" + base + "Patient')"), "[false]");
    EXPECT_EQ(eval("conformsTo('" + base + "bodyweight')"), "error");
    EXPECT_EQ(eval("contact.conformsTo('" + base + "Patient.contact')"), "");
}

TEST_F(FhirPath, LetsNoModifierPassThatIsNotKnown) {
    use(R"({"resourceType":"Patient","name":[{"family":"A"}],"contact":[
        {"modifierExtension":[{"url":"http://example.org/m","valueBoolean":true}]},
        {"modifierExtension":[{"url":"http://example.org/n","valueBoolean":true}]}]})");
    EXPECT_EQ(eval("name.checkModifiers().family"), "[A]");
    EXPECT_EQ(eval("contact[0].checkModifiers('http://example.org/m').count()"), "[1]");
    EXPECT_EQ(eval("contact[0].checkModifiers('http://example.org/n')"), "error");
    EXPECT_EQ(eval("contact.checkModifiers('http://example.org/m')"), "error");
    EXPECT_EQ(
        eval("contact.checkModifiers('http://example.org/m', 'http://example.org/n').count()"),
        "[2]");
    EXPECT_EQ(eval("name.checkModifiers(1)"), "error");
}

// More than eight items are compared by their hashes: equal items must have the same hash.
TEST_F(FhirPath, FindsWhatIsEqualAmongMany) {
    std::string extensions;
    for (const std::string_view value :
         {R"("valueDateTime":"2020-01-01T10:00:00Z")",
          R"("valueDateTime":"2020-01-01T11:00:00+01:00")", R"("valueBoolean":true)",
          R"("valueBoolean":false)", R"("valueBoolean":true)", R"("valueDecimal":1.5)",
          R"("valueDecimal":1.50)", R"("valueInteger":2)", R"("valueDecimal":2.0)",
          R"("valueString":"caf\u00e9")", R"("valueString":"café")",
          R"("valueQuantity":{"value":1,"system":"http://unitsofmeasure.org","code":"kg"})",
          R"("valueQuantity":{"value":1000,"system":"http://unitsofmeasure.org","code":"g"})",
          R"("valuePeriod":{"start":"2020","end":"2021"})",
          R"("valuePeriod":{"end":"2021","start":"2020"})",
          R"("_valueCode":{"extension":[{"url":"x","valueCode":"unknown"}]})",
          R"("_valueCode":{"extension":[{"valueCode":"unknown","url":"x"}]})"}) {
        extensions += (extensions.empty() ? "" : ",") + std::string(R"({"url":"u",)") +
                      std::string(value) + "}";
    }
    use(R"({"resourceType":"Patient","extension":[)" + extensions + "]}");
    EXPECT_EQ(eval("extension.value.count()"), "[17]");
    EXPECT_EQ(eval("extension.value.distinct().count()"), "[9]");
    EXPECT_EQ(eval("(extension.value | true | 2 | 'caf\u00e9' | @2020-01-01T10:00:00Z | 1 'kg' | "
                   "1.5).count()"),
              "[9]")
        << "literals are equal to elements";
    EXPECT_EQ(eval("(1|2|3|4|5|6|7|8|1.5|9|1|1.50|true|false|true).count()"), "[12]");
    EXPECT_EQ(eval("(1|2|3|4|5|6|7|8|9).combine(5 '1' | 300 '%' | 1 'kg').distinct().count()"),
              "[10]")
        << "numbers are equal to quantities of unit one";
    EXPECT_EQ(eval("extension.value.combine(2 '1' | 150 '%').distinct().count()"), "[9]");
}

TEST_F(FhirPath, HasNothingFirstLastOrSingleOfNothing) {
    EXPECT_EQ(eval("1 | {}.first()"), "[1]");
    EXPECT_EQ(eval("1 | {}.last()"), "[1]");
    EXPECT_EQ(eval("1 | {}.single()"), "[1]");
    EXPECT_EQ(eval("'a'.startsWith(1)"), "error");
    EXPECT_EQ(eval("{}.iif(true, 1, 2)"), "[1]");
    EXPECT_EQ(eval("name.iif(true, 1)"), "error");
    EXPECT_EQ(eval("iif({}, 1, 2)"), "[2]");
    EXPECT_EQ(eval("iif({}, 1)"), "");
    EXPECT_EQ(eval("iif(1, 1, 2)"), "error");
    EXPECT_EQ(eval("name[0].iif(family.exists(), given.first(), 2)"), "[Anna]");
}

TEST_F(FhirPath, ReadsNamesDatesAndBlanksAsTheyAreWritten) {
    EXPECT_EQ(eval("1\r+\r\n\t1"), "[2]");
    EXPECT_EQ(eval("Zoo | a_b | _c"), "");
    EXPECT_EQ(eval("%'resource'.id | %\"resource\".id | %`resource`.id"), "[p1]");
    EXPECT_EQ(eval("\"name\".count()"), "[2]");
    EXPECT_EQ(eval("@2012T | @2012-01T | @2012-01-02T"), "[2012][2012-01][2012-01-02]");
    EXPECT_EQ(eval("@2012T is DateTime and @2012 is Date"), "[true]");
    EXPECT_EQ(eval("@2012-01 + 1 month"), "[2012-02]");
    EXPECT_EQ(eval("@2012-01-02T10:00:00.250+01:00"), "[2012-01-02T10:00:00.250+01:00]");
    EXPECT_EQ(eval("@2012-01-02T10:00-05:30"), "[2012-01-02T10:00-05:30]");
    EXPECT_EQ(eval("@2012-1 year"), "syntax");
    EXPECT_EQ(eval("@2012- 1 year"), "[2011]");
    EXPECT_EQ(eval("@T10:30:15.5"), "[10:30:15.5]");
    EXPECT_EQ(eval("@T10:30:15:20"), "syntax");
    EXPECT_EQ(eval("@2012-01-02-03"), "error") << "three from a date";
    EXPECT_EQ(eval("'\\q'"), "syntax");
    EXPECT_EQ(Expression::parse("'\\q'").error().detail,
              "FHIRPath: an unknown escape at character 2");
    EXPECT_EQ(Expression::parse("'\\ud800'").error().detail,
              "FHIRPath: an escape that is not a character at character 2");
}

TEST_F(FhirPath, TakesTheLastInstantOfWhatIsNotSaidWhereOneSideHasAZone) {
    EXPECT_EQ(eval("@2020 < @2021-01-01T12:00Z"), "[true]");
    EXPECT_EQ(eval("@2020 < @2021-01-01T11:00Z"), "");
    EXPECT_EQ(eval("@2020-02 < @2020-03-01T12:00Z"), "[true]");
    EXPECT_EQ(eval("@2020-02 < @2020-03-01T11:00Z"), "");
    EXPECT_EQ(eval("@2020-02-01 < @2020-02-02T12:00Z"), "[true]");
    EXPECT_EQ(eval("@2020-02-01 < @2020-02-02T11:00Z"), "");
    EXPECT_EQ(eval("@2020-02-01T10 < @2020-02-01T23:00Z"), "[true]");
    EXPECT_EQ(eval("@2020-02-01T10 < @2020-02-01T22:30Z"), "");
    EXPECT_EQ(eval("@2020-02-01T10:00 < @2020-02-01T22:01Z"), "[true]");
    EXPECT_EQ(eval("@2020-02-01T10:00 < @2020-02-01T22:00:30Z"), "");
    EXPECT_EQ(eval("@2020-03 < @2020-02-29T09:59Z"), "[false]");
    EXPECT_EQ(eval("@2020-03 < @2020-02-29T10:01Z"), "");
    EXPECT_EQ(eval("@2020-02-01T10:00Z ~ @2020-02-01T10:00"), "[false]");
    EXPECT_EQ(eval("@2020-02-01T00:30Z ~ @2020-01-31T23:30-01:00"), "[true]");
    EXPECT_EQ(eval("@T10:30 < @T09:30"), "[false]");
}

TEST_F(FhirPath, ComputesWithWhatHasAMeaningOnly) {
    EXPECT_EQ(eval("{} + 1 | 1 + {} | {} & {} = ''"), "[true]");
    EXPECT_EQ(eval("'a' & {} & 'b'"), "[ab]");
    EXPECT_EQ(eval("'a' + 1"), "error");
    EXPECT_EQ(eval("1 + 'a'"), "error");
    EXPECT_EQ(eval("'a' - 'b'"), "error");
    EXPECT_EQ(eval("'a' & 1"), "error");
    EXPECT_EQ(eval("1 & 'a'"), "error");
    EXPECT_EQ(eval("1 < (1 | 2)"), "error");
    EXPECT_EQ(eval("(1 | 2) < 1"), "error");
    EXPECT_EQ(eval("(1 | 2) in (1 | 2 | 3)"), "error");
    EXPECT_EQ(eval("(1 | 2 | 3) contains (1 | 2)"), "error");
    EXPECT_EQ(eval("{} in (1 | 2)"), "");
    EXPECT_EQ(eval("1 in {}"), "[false]");
    EXPECT_EQ(eval("@T10:00 + 1 day"), "error");
    EXPECT_EQ(eval("-'a'"), "error");
    EXPECT_EQ(eval("3 'm' div 2"), "error");
    EXPECT_EQ(eval("3 'm' - 1 'cm' = 2.99 'm'"), "[true]");
    EXPECT_EQ(eval("2 * 3 'm' = 6 'm'"), "[true]");
    EXPECT_EQ(eval("6 'm' / 2 = 3 'm'"), "[true]");
    EXPECT_EQ(eval("6 'm' / 2 'm' = 3 '1'"), "[true]");
    EXPECT_EQ(eval("6 / 2 's' = 3 's-1'"), "[true]");
    EXPECT_EQ(eval("-(5 'mg') = 0 'mg' - 5 'mg'"), "[true]");
    EXPECT_EQ(eval("1 year + 2 years = 3 years"), "[true]");
    EXPECT_EQ(eval("3 'm' + 1 's'"), "");
    EXPECT_EQ(eval("3 'mm' + 2 'cm'"), "[23 'mm']") << "the finer of the units";
    EXPECT_EQ(eval("3 'm' - 3 'cm'"), "[297 'cm']");
    EXPECT_EQ(eval("1 'Ym' + 1 'ym'"), "") << "of units too far apart to compare";
    EXPECT_EQ(eval("1 week - 1 day"), "[6 day]");
    EXPECT_EQ(eval("1 day + 1 'wk'"), "[8 day]");
    EXPECT_EQ(eval("1 year + 12 months"), "[24 months]");
    EXPECT_EQ(eval("18 months - 1 year"), "[6 months]");
    EXPECT_EQ(eval("1.50 years + 1 year"), "[2.50 years]") << "nothing to convert";
    EXPECT_EQ(eval("1 year + 1 day"), "");
    EXPECT_EQ(eval("1 year + 1 'a'"), "");
    EXPECT_EQ(eval("1 year / 1 month"), "[12 '1']");
    EXPECT_EQ(eval("(1 year).toQuantity('months')"), "[12 months]");
    EXPECT_EQ(eval("(1 year).comparable(1 month)"), "[true]");
    EXPECT_EQ(eval("(1 year).comparable(1 'a')"), "[false]");
}

TEST_F(FhirPath, TakesNoMemberForWhatStandsBesideAnother) {
    EXPECT_EQ(eval("children().count()"), "[12]");
    EXPECT_EQ(eval("children().where(id = 'b1').count()"), "[1]");
    EXPECT_EQ(eval("name[1].children().count()"), "[2]");
    use(R"({"resourceType":"Patient","name":[{"family":"a","_prefix":[{"id":"x"}]}]})");
    EXPECT_EQ(eval("name.family.id"), "");
    EXPECT_EQ(eval("name.prefix.id"), "[x]");
    EXPECT_EQ(eval("name.children().count()"), "[2]");
}

TEST_F(FhirPath, FollowsAReferenceToThatOneOfSeveral) {
    use(R"({"resourceType":"Patient","id":"p","contained":[
        {"resourceType":"Organization","id":"a","partOf":{"reference":"#"}},
        {"resourceType":"Organization","id":"b","name":"B"}],
        "managingOrganization":{"reference":"#b"}})");
    EXPECT_EQ(eval("managingOrganization.resolve().name"), "[B]");
    EXPECT_EQ(eval("contained.partOf.resolve().id"), "[p]");
    use(R"({"resourceType":"Bundle","type":"collection","entry":[
        {"resource":{"resourceType":"Encounter","id":"b"}},
        {"resource":{"resourceType":"Patient","id":"a","gender":"female"}},
        {"fullUrl":"urn:uuid:1"},
        {"resource":{"resourceType":"Patient","id":"b","gender":"male",
                     "link":[{"other":{"reference":"Patient/b"}},{"other":{"reference":"urn:uuid:1"}}]}}]})");
    EXPECT_EQ(eval("entry.resource.link.other.resolve().gender"), "[male]");
    EXPECT_EQ(eval("entry.resource.link.other.resolve().count()"), "[1]");
}

TEST(FhirPathDecimal, KeepsWithinItsDigits) {
    const auto text = [](const std::optional<Decimal>& value) {
        std::array<char, Decimal::kCharsMax> buffer;
        return value ? std::string(buffer.data(), value->write(buffer.data())) : "none";
    };
    const auto parse = [](std::string_view written) { return *Decimal::parse(written); };
    const std::string nines(Decimal::kDigitsMax, '9');
    const std::string thousands = "1" + std::string(Decimal::kDigitsMax - 1, '0');
    EXPECT_EQ(text(Decimal::parse("1E3")), "1000");
    EXPECT_EQ(text(Decimal::parse("1e+3")), "1000");
    EXPECT_EQ(text(Decimal::parse("0e-40")), "0." + std::string(Decimal::kScaleMax, '0'));
    EXPECT_EQ(text(Decimal::parse("10e-29")),
              "0." + std::string(Decimal::kScaleMax - 1, '0') + "1");
    for (const std::string& none :
         {std::string("1e-"), std::string("1x3"), std::string("1e5x"), std::string("1e5/"),
          std::string("1.2.3"), std::string("1e1001"), std::string("1e37.") + "5",
          std::string(60, '9'), "1e" + std::to_string(Decimal::kDigitsMax)}) {
        EXPECT_EQ(text(Decimal::parse(none)), "none") << none;
    }
    EXPECT_EQ(text(Decimal::multiply(parse(nines), Decimal(1))), nines);
    EXPECT_EQ(text(Decimal::multiply(parse(nines), Decimal(10))), "none");
    EXPECT_EQ(text(Decimal::multiply(parse(nines), parse(nines))), "none");
    EXPECT_EQ(text(Decimal::multiply(parse("1e19"), parse("1e19"))), "none");
    EXPECT_EQ(text(Decimal::multiply(parse("1e-28"), parse("0.5"))), text(parse("1e-28")));
    EXPECT_EQ(text(Decimal::multiply(parse("1e-28"), parse("0.4"))),
              "0." + std::string(Decimal::kScaleMax, '0'));
    EXPECT_EQ(text(Decimal::divide(parse("1e-28"), Decimal(2))), text(parse("1e-28")));
    EXPECT_EQ(text(Decimal::divide(parse(nines), parse("0.1"))), "none");
    EXPECT_EQ(text(Decimal::divide(Decimal(6), Decimal(-3))), "-2");
    EXPECT_EQ(text(Decimal::divide_whole(parse("7.5"), Decimal(2))), "3");
    EXPECT_EQ(text(Decimal::divide_whole(Decimal(7), parse("0.5"))), "14");
    EXPECT_EQ(text(Decimal::divide_whole(parse(thousands), parse("0.1"))), "none");
    EXPECT_EQ(text(Decimal::divide_whole(parse(thousands), parse("1.0"))), thousands);
    EXPECT_EQ(text(Decimal::divide_whole(parse("0.1"), parse(thousands))), "0");
    EXPECT_EQ(text(Decimal::divide_whole(parse(nines), parse("-99.0"))),
              "-1010101010101010101010101010101010101");
    EXPECT_EQ(text(Decimal::remainder(parse("7.5"), Decimal(2))), "1.5");
    EXPECT_EQ(text(Decimal::remainder(Decimal(7), parse("0.3"))), "0.1");
    EXPECT_EQ(text(Decimal::remainder(parse(thousands), parse("0.3"))), "0.1");
    EXPECT_EQ(text(Decimal::remainder(parse("-0.3"), parse(thousands))), "-0.3");
    EXPECT_EQ(text(Decimal::remainder(parse(nines), parse("1.0"))), "0.0");
    EXPECT_EQ(text(Decimal::divide_whole(parse(thousands), parse("1e-28"))), "none");
    EXPECT_EQ(text(Decimal::divide_whole(parse("1e-28"), parse(nines))), "0");
    EXPECT_EQ(text(Decimal::remainder(parse("1e-28"), parse(nines))), text(parse("1e-28")));
    EXPECT_EQ(text(Decimal::add(parse(thousands), parse("0.0"))), thousands);
    EXPECT_EQ(text(Decimal::add(parse("1.500"), parse(thousands.substr(0, 37)))),
              thousands.substr(0, 35) + "01.5");
    EXPECT_EQ(text(Decimal::add(parse(thousands), parse("0.1"))), "none");
    EXPECT_EQ(text(Decimal::add(parse("0.1"), parse(thousands))), "none");
    EXPECT_EQ(text(Decimal::add(parse("0.10"), parse("0.2"))), "0.30");
    EXPECT_EQ(text(Decimal::from_double(1e18L)), "none");
    EXPECT_EQ(text(Decimal::from_double(-999999999999999999.0L)), "-999999999999999999");
    EXPECT_EQ(text(parse(nines).rounded(1)), "none");
    EXPECT_EQ(text(parse("1").rounded(Decimal::kScaleMax + 1)), "none");
    EXPECT_EQ(text(parse("1").rounded(-1)), "none");
    EXPECT_EQ(text(parse("1.50").truncated(0)), "1");
    EXPECT_EQ(text(parse("-1.50").floor()), "-2");
    EXPECT_EQ(text(parse("-1.00").floor()), "-1");
    EXPECT_EQ(text(parse("1.00").ceiling()), "1");
    EXPECT_EQ(parse("9223372036854775807").integer(), INT64_MAX);
    EXPECT_EQ(parse("-9223372036854775808").integer(), INT64_MIN);
    EXPECT_EQ(parse("9223372036854775808").integer(), std::nullopt);
    EXPECT_EQ(parse("-9223372036854775809").integer(), std::nullopt);
    const std::vector<Decimal> ascending = {
        parse("-10"), parse("-1.5"), parse("-1.25"), parse("0"),  parse("0.25"),
        parse("1"),   parse("1.25"), parse("1.5"),   parse("10"), parse(nines)};
    for (std::size_t i = 1; i < ascending.size(); ++i) {
        EXPECT_LT(ascending[i - 1], ascending[i]) << i;
        EXPECT_GT(ascending[i], ascending[i - 1]) << i;
    }
    EXPECT_EQ(parse("0.00"), parse("0"));
    EXPECT_EQ(parse("-1.50"), parse("-1.5"));
}

}  // namespace
}  // namespace annals::fhirpath
