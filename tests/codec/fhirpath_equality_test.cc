// FHIRPath: when items are equal, equivalent or ordered, and when that is unknown.

#include "tests/codec/fhirpath_fixture.h"

namespace annals::fhirpath {
namespace {

TEST_F(FhirPath, FindsNothingOfAnotherKindEqual) {
    EXPECT_EQ(eval("'1' = 1"), "[false]");
    EXPECT_EQ(eval("1 = '1'"), "[false]");
    EXPECT_EQ(eval("1 = true"), "[false]");
    EXPECT_EQ(eval("true = 1"), "[false]");
    EXPECT_EQ(eval("true = 'a'"), "[false]");
    EXPECT_EQ(eval("'a' = true"), "[false]");
    EXPECT_EQ(eval("@2012 = 5"), "[false]");
    EXPECT_EQ(eval("@T10 = 5"), "[false]");
    EXPECT_EQ(eval("5 = @T10"), "[false]");
    EXPECT_EQ(eval("@2012 = @T10"), "[false]");
    EXPECT_EQ(eval("1 'cm' = 'a'"), "[false]");
    EXPECT_EQ(eval("'a' = 1 'cm'"), "[false]");
    EXPECT_EQ(eval("name[0] = 'a'"), "[false]");
    EXPECT_EQ(eval("'a' = name[0]"), "[false]");
    EXPECT_EQ(eval("1 ~ 'a'"), "[false]");
    EXPECT_EQ(eval("1 'cm' ~ 'a'"), "[false]");
    EXPECT_EQ(eval("'a' ~ 1 'cm'"), "[false]");
    EXPECT_EQ(eval("'a' ~ 1"), "[false]");
    EXPECT_EQ(eval("@2012 ~ 1"), "[false]");
    EXPECT_EQ(eval("1 ~ @2012"), "[false]");
    EXPECT_EQ(eval("name[0] ~ 1"), "[false]");
    EXPECT_EQ(eval("true ~ true"), "[true]");
    EXPECT_EQ(eval("true ~ false"), "[false]");
    EXPECT_EQ(eval("@T10:00 = @T10:00"), "[true]");
    EXPECT_EQ(eval("1.type() = 2.type()"), "[true]");
    EXPECT_EQ(eval("1.type() = 'a'.type()"), "[false]");
    EXPECT_EQ(eval("active.type() = birthDate.type()"), "[false]");
    EXPECT_EQ(eval("active.type() = deceased.type()"), "[true]");
}

TEST_F(FhirPath, ComparesElementsWithoutAValueByWhatStandsBesideThem) {
    EXPECT_EQ(eval("gender = gender"), "[true]");
    EXPECT_EQ(eval("gender ~ gender"), "[true]");
    EXPECT_EQ(eval("gender = name[1].given[1]"), "[false]");
    EXPECT_EQ(eval("gender ~ name[1].given[1]"), "[false]");
    EXPECT_EQ(eval("gender = active"), "[false]");
    EXPECT_EQ(eval("active = gender"), "[false]");
    EXPECT_EQ(eval("gender ~ active"), "[false]");
    EXPECT_EQ(eval("active ~ gender"), "[false]");
    EXPECT_EQ(eval("gender < 'a'"), "");
    EXPECT_EQ(eval("'a' < gender"), "");
}

TEST_F(FhirPath, ComparesNumbersStringsAndListsInsideOfElements) {
    use(R"({"resourceType":"Patient","extension":[
        {"url":"u","valueDecimal":1.0}, {"url":"u","valueDecimal":1.00},
        {"url":"u","valueDecimal":1.04}, {"url":"u","valueDecimal":2.0},
        {"url":"u","valueString":"1.0"}, {"url":"u","valueBoolean":true},
        {"url":"u","valueBoolean":false}],
        "name":[{"given":["A","B"]}, {"given":["B","A"]}, {"given":["a","b"]}, {"given":["A"]},
                {"given":["A","C"]}, {"given":["\u0041","\u0042"]}, {"given":["A","B"],"family":"F"},
                {"given":["A","A"]}]})");
    EXPECT_EQ(eval("extension[0] = extension[1]"), "[true]");
    EXPECT_EQ(eval("extension[0] = extension[2]"), "[false]");
    EXPECT_EQ(eval("extension[0] ~ extension[2]"), "[true]") << "to the less precise of the two";
    EXPECT_EQ(eval("extension[0] ~ extension[3]"), "[false]");
    EXPECT_EQ(eval("extension[0] = extension[4]"), "[false]");
    EXPECT_EQ(eval("extension[5] = extension[6]"), "[false]");
    EXPECT_EQ(eval("extension[5] ~ extension[6]"), "[false]");
    EXPECT_EQ(eval("name[0] = name[0]"), "[true]");
    EXPECT_EQ(eval("name[0] = name[1]"), "[false]") << "lists have an order";
    EXPECT_EQ(eval("name[0] ~ name[1]"), "[true]") << "in any order";
    EXPECT_EQ(eval("name[0] ~ name[2]"), "[true]");
    EXPECT_EQ(eval("name[0] = name[2]"), "[false]");
    EXPECT_EQ(eval("name[0] = name[3]"), "[false]");
    EXPECT_EQ(eval("name[3] = name[0]"), "[false]");
    EXPECT_EQ(eval("name[3] ~ name[7]"), "[false]");
    EXPECT_EQ(eval("name[0] = name[4]"), "[false]");
    EXPECT_EQ(eval("name[0] ~ name[4]"), "[false]");
    EXPECT_EQ(eval("name[0] = name[5]"), "[true]") << "an escape is the character it means";
    EXPECT_EQ(eval("name[5] = name[0]"), "[true]");
    EXPECT_EQ(eval("name[0] = name[6]"), "[false]");
    EXPECT_EQ(eval("name[6] = name[0]"), "[false]");
}

TEST_F(FhirPath, ComparesCollectionsItemByItemAndEquivalentOnesInAnyOrder) {
    EXPECT_EQ(eval("(1|2) = (1|2)"), "[true]");
    EXPECT_EQ(eval("(1|2) = (2|1)"), "[false]");
    EXPECT_EQ(eval("(1|2) = (1|2|3)"), "[false]");
    EXPECT_EQ(eval("@2012.combine(5) = @2012-01.combine(5)"), "") << "one can't be told";
    EXPECT_EQ(eval("@2012.combine(5) = @2012-01.combine(6)"), "[false]") << "one is not, anyway";
    EXPECT_EQ(eval("(1|2) ~ (2|1)"), "[true]");
    EXPECT_EQ(eval("(1|2) ~ (2|1|3)"), "[false]");
    EXPECT_EQ(eval("1.combine(1) ~ 1.combine(2)"), "[false]") << "each matches one only";
    EXPECT_EQ(eval("1.combine(2) ~ 1.combine(1)"), "[false]");
    EXPECT_EQ(eval("1.combine(2).combine(1) ~ 2.combine(1).combine(1)"), "[true]");
    use(R"({"resourceType":"Patient","name":[{"given":["a","a","b"]},{"given":["a","b","b"]},
        {"given":["b","a","a"]}]})");
    EXPECT_EQ(eval("name[0] ~ name[1]"), "[false]") << "so within elements";
    EXPECT_EQ(eval("name[0] ~ name[2]"), "[true]");
}

TEST_F(FhirPath, ComparesQuantitiesOnlyAsFarAsTheirUnitsAreKnown) {
    EXPECT_EQ(eval("12 'month' = 1 'year'"), "") << "words are no codes of UCUM";
    EXPECT_EQ(eval("1 month ~ 1 'mo'"), "[true]");
    EXPECT_EQ(eval("1 month = 1 'mo'"), "");
    EXPECT_EQ(eval("1 'mo' = 1 month"), "");
    EXPECT_EQ(eval("1 month > 1 day"), "");
    EXPECT_EQ(eval("1 'nonsense' = 1 'm'"), "");
    EXPECT_EQ(eval("1 'm' = 1 'nonsense'"), "");
    EXPECT_EQ(eval("3 'nonsense' ~ 3 'nonsense'"), "[true]");
    EXPECT_EQ(eval("1 'nonsense' ~ 1 'm'"), "[false]");
    EXPECT_EQ(eval("1 'm' ~ 1 'nonsense'"), "[false]");
    EXPECT_EQ(eval("1 'cm' ~ 1 's'"), "[false]");
    EXPECT_EQ(eval("5 = 5 '1'"), "[true]");
    EXPECT_EQ(eval("5 '1' = 5"), "[true]");
    EXPECT_EQ(eval("5 '1' ~ 5"), "[true]");
    EXPECT_EQ(eval("5 ~ 5 '1'"), "[true]");
    EXPECT_EQ(eval("5 '1' > 4"), "[true]");
    EXPECT_EQ(eval("5 > 4 '1'"), "[true]");
    EXPECT_EQ(eval("5 'cm' = 5"), "");
    EXPECT_EQ(eval("5 'cm' > 'a'"), "error");
    EXPECT_EQ(eval("'a' > 5 'cm'"), "error");
    EXPECT_EQ(eval("5 > 'a'"), "error");
    EXPECT_EQ(eval("@2012 > 5"), "error");
    EXPECT_EQ(eval("@T10 > @T09:30"), "[true]");
}

TEST_F(FhirPath, FindsQuantitiesEquivalentInTheLargerOfTheirUnits) {
    EXPECT_EQ(eval("1 'kg' ~ 1001 'g'"), "[true]");
    EXPECT_EQ(eval("1001 'g' ~ 1 'kg'"), "[true]");
    EXPECT_EQ(eval("2 'kg' ~ 1001 'g'"), "[false]");
    EXPECT_EQ(eval("1001 'g' ~ 2 'kg'"), "[false]");
}

TEST_F(FhirPath, ComparesNoQuantitiesThatAreTooLargeToBeTurned) {
    const std::string large = "(9999999999999999999.0 * 9999999999999999999.0)";
    EXPECT_EQ(eval(large + " * 1 'km' = 1 'm'"), "");
    EXPECT_EQ(eval("1 'm' = " + large + " * 1 'km'"), "");
    EXPECT_EQ(eval(large + " * 1 year > 1 month"), "");
    EXPECT_EQ(eval("1 month < " + large + " * 1 year"), "");
}

TEST_F(FhirPath, TellsOfCollectionsWhichHaveAllOrAnyOfSome) {
    EXPECT_EQ(eval("(true | false).anyTrue()"), "[true]");
    EXPECT_EQ(eval("(false | true).anyTrue()"), "[true]");
    EXPECT_EQ(eval("false.anyTrue()"), "[false]");
    EXPECT_EQ(eval("(true | false).anyFalse()"), "[true]");
    EXPECT_EQ(eval("(false | true).anyFalse()"), "[true]");
    EXPECT_EQ(eval("true.anyFalse()"), "[false]");
    EXPECT_EQ(eval("(true | false).allTrue()"), "[false]");
    EXPECT_EQ(eval("(false | true).allTrue()"), "[false]");
    EXPECT_EQ(eval("true.allTrue()"), "[true]");
    EXPECT_EQ(eval("(true | false).allFalse()"), "[false]");
    EXPECT_EQ(eval("(false | true).allFalse()"), "[false]");
    EXPECT_EQ(eval("false.allFalse()"), "[true]");
    EXPECT_EQ(eval("{}.allTrue() and {}.allFalse()"), "[true]");
    EXPECT_EQ(eval("{}.anyTrue() or {}.anyFalse()"), "[false]");
    EXPECT_EQ(eval("1.allTrue()"), "error");
    EXPECT_EQ(eval("gender.allTrue()"), "error");
    EXPECT_EQ(eval("(1|2).subsetOf(2|3)"), "[false]");
    EXPECT_EQ(eval("(2|1).subsetOf(2|3)"), "[false]");
    EXPECT_EQ(eval("(2|3).subsetOf(1|2|3)"), "[true]");
    EXPECT_EQ(eval("(1|2).supersetOf(3|2)"), "[false]");
    EXPECT_EQ(eval("(1|2|3).supersetOf(3|2)"), "[true]");
}

TEST_F(FhirPath, TakesNothingByAnArgumentThatIsNone) {
    EXPECT_EQ(eval("(1|2).skip({})"), "");
    EXPECT_EQ(eval("(1|2).take({})"), "");
    EXPECT_EQ(eval("extension({})"), "");
    EXPECT_EQ(eval("(1|2|3).skip(-1).count()"), "[3]");
    EXPECT_EQ(eval("(1|2|3).take(-1)"), "");
    EXPECT_EQ(eval("(1|2|3).take(5).count()"), "[3]");
    EXPECT_EQ(eval("(1|2|3).skip('a')"), "error");
    EXPECT_EQ(eval("(1|2|3).tail()"), "[2][3]");
}

TEST_F(FhirPath, HasTheValuesOfPrimitivesOnly) {
    EXPECT_EQ(eval("birthDate.getValue()"), "[1974-12-25]");
    EXPECT_EQ(eval("1.getValue()"), "[1]");
    EXPECT_EQ(eval("1.hasValue()"), "[true]");
    EXPECT_EQ(eval("gender.getValue()"), "");
    EXPECT_EQ(eval("name[0].hasValue()"), "[false]");
    EXPECT_EQ(eval("name[0].getValue()"), "");
    EXPECT_EQ(eval("name.given.hasValue()"), "[false]");
    EXPECT_EQ(eval("name.given.getValue()"), "");
}

}  // namespace
}  // namespace annals::fhirpath
