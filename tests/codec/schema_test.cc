// What the tables say of FHIR R4, and that tools/generate_schema makes the same, if the definitions are at hand.

#include "codec/schema/schema.h"

#include "codec/schema/search_type.h"
#include "tests/support/files.h"
#include "tests/support/search_parameters.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

namespace annals::schema {
namespace {

using test::find_search_parameter;

TEST(Schema, FindsEveryTypeAndElementByItsName) {
    std::size_t elements = 0;
    for (const Type type : types()) {
        EXPECT_EQ(find_type(type.name()), type) << type.name();
        for (const Element element : type.elements()) {
            ++elements;
            EXPECT_EQ(type.find(element.name()), element) << type.name() << "." << element.name();
            EXPECT_TRUE(element.type()) << type.name() << "." << element.name();
            bool in_group = false;
            for (const Element option : type.find_base(element.base_name())) {
                in_group |= option == element;
                EXPECT_EQ(option.base_name(), element.base_name());
                EXPECT_EQ(option.mark(), element.mark());
            }
            EXPECT_TRUE(in_group) << type.name() << "." << element.name();
        }
    }
    EXPECT_EQ(types().size(), 682U);
    EXPECT_EQ(elements, 8266U);
}

TEST(Schema, FindsNothingThatR4DoesNotHave) {
    EXPECT_FALSE(find_type(""));
    EXPECT_FALSE(find_type({}));
    EXPECT_FALSE(find_type("patient"));
    EXPECT_FALSE(find_type("Patient.name"));
    const Type patient = find_type("Patient");
    for (const char* name :
         {"", "n", "names", "Name", "value", "deceased", "_birthDate", "contact.name",
          "aNameThatIsMuchLongerThanAnyNameThatFhirHasEverGivenToAnElementOfAnything"}) {
        EXPECT_FALSE(patient.find(name)) << name;
    }
    EXPECT_FALSE(patient.find(std::string(1000, 'a')));
    EXPECT_FALSE(Type().find("name"));
    EXPECT_TRUE(Type().elements().empty());
    EXPECT_TRUE(Type().find_base("value").empty());
    EXPECT_TRUE(patient.find_base("value").empty());
    EXPECT_TRUE(patient.find_base("deceasedBoolean").size() == 0 ||
                patient.find_base("deceasedBoolean")[0].base_name() == "deceasedBoolean");
    EXPECT_FALSE(Element().type());
}

TEST(Schema, NumbersResourceTypesAsTheRestOfTheServerDoes) {
    for (std::uint16_t i = 0; i < kResourceTypeCount; ++i) {
        const Type type(TypeId{i});
        EXPECT_EQ(type.name(), resource_type_name(TypeId{i}));
        EXPECT_TRUE(type.is_resource());
        EXPECT_FALSE(type.is_abstract());
        EXPECT_TRUE(type.is_a(resource_base_type()));
        ASSERT_TRUE(type.resource_type());
        EXPECT_EQ(type.resource_type()->value, i);
    }
    EXPECT_FALSE(find_type("HumanName").resource_type());
    EXPECT_FALSE(find_type("Patient.contact").resource_type());
    EXPECT_FALSE(resource_base_type().resource_type());
    EXPECT_EQ(extension_type(), find_type("Extension"));
    EXPECT_EQ(reference_type(), find_type("Reference"));
}

TEST(Schema, NumbersPrimitivesAsTheEnumDoes) {
    EXPECT_EQ(find_type("base64Binary").primitive(), Primitive::base64_binary);
    EXPECT_EQ(find_type("dateTime").primitive(), Primitive::date_time);
    EXPECT_EQ(find_type("string").primitive(), Primitive::string);
    EXPECT_EQ(find_type("positiveInt").primitive(), Primitive::positive_int);
    EXPECT_EQ(find_type("xhtml").primitive(), Primitive::xhtml);
    EXPECT_EQ(find_type("Element").primitive(), Primitive::none);
    EXPECT_EQ(Type().primitive(), Primitive::none);
    EXPECT_TRUE(find_type("code").is_a(find_type("string")));
    EXPECT_FALSE(find_type("string").is_a(find_type("code")));
}

TEST(Schema, KnowsOrderCardinalityAndFlags) {
    const Type patient = find_type("Patient");
    std::string order;
    for (const Element element : patient.elements()) {
        order += std::string(element.name()) + " ";
    }
    EXPECT_EQ(
        order,
        "id meta implicitRules language text contained extension modifierExtension identifier "
        "active name "
        "telecom gender birthDate deceasedBoolean deceasedDateTime address maritalStatus "
        "multipleBirthBoolean multipleBirthInteger photo contact communication generalPractitioner "
        "managingOrganization link ");
    EXPECT_TRUE(patient.find("name").repeats());
    EXPECT_TRUE(patient.find("name").is_summary());
    EXPECT_FALSE(patient.find("contact").is_summary());
    EXPECT_TRUE(patient.find("active").is_modifier());
    EXPECT_FALSE(patient.find("birthDate").repeats());
    EXPECT_EQ(patient.find("id").type(), find_type("id"));
    EXPECT_FALSE(patient.find("id").is_attribute());
    EXPECT_TRUE(find_type("HumanName").find("id").is_attribute());
    EXPECT_TRUE(find_type("Extension").find("url").is_attribute());
    EXPECT_EQ(find_type("Extension").find("url").type(), find_type("uri"));
    EXPECT_TRUE(find_type("string").find("value").is_primitive_value());
    EXPECT_EQ(find_type("string").find("value").type(), find_type("string"));
    EXPECT_EQ(find_type("Observation").find("status").min(), 1);
    EXPECT_EQ(find_type("Narrative").find("div").type(), find_type("xhtml"));
    EXPECT_EQ(patient.find("contained").type(), resource_base_type());
    EXPECT_EQ(find_type("Bundle.entry").find("resource").type(), resource_base_type());
    EXPECT_EQ(find_type("Parameters.parameter").find("resource").type(), resource_base_type());
}

TEST(Schema, ExpandsChoicesAndResolvesContentReferences) {
    const Type observation = find_type("Observation");
    const Element quantity = observation.find("valueQuantity");
    EXPECT_TRUE(quantity.is_choice());
    EXPECT_EQ(quantity.base_name(), "value");
    EXPECT_EQ(quantity.type(), find_type("Quantity"));
    EXPECT_EQ(observation.find_base("value").size(), 11U);
    EXPECT_EQ(observation.find_base("status").size(), 1U);
    EXPECT_EQ(find_type("Extension").find_base("value").size(), 50U);
    EXPECT_EQ(observation.find("component").type(), find_type("Observation.component"));
    EXPECT_EQ(find_type("Observation.component").kind(), TypeKind::backbone);
    EXPECT_EQ(find_type("Observation.component").base(), find_type("BackboneElement"));
    EXPECT_EQ(find_type("Timing.repeat").base(), find_type("Element"));
    const Element range = find_type("Observation.component").find("referenceRange");
    EXPECT_EQ(range.type(), find_type("Observation.referenceRange"));
    EXPECT_EQ(find_type("Parameters.parameter").find("part").type(),
              find_type("Parameters.parameter"));
}

TEST(Schema, MarksRequiredElementsAndChoices) {
    for (const Type type : types()) {
        std::uint32_t required = 0;
        for (const Element element : type.elements()) {
            EXPECT_LT(element.mark(), 32U);
            EXPECT_EQ(element.mark() != 0, element.is_choice() || element.min() == 1)
                << type.name() << "." << element.name();
            if (element.min() == 1) {
                required |= 1U << element.mark();
            }
        }
        EXPECT_EQ(tables::kTypes[type.index()].required, required) << type.name();
    }
}

TEST(Schema, KnowsTargetsBindingsAndInvariants) {
    const Element subject = find_type("Observation").find("subject");
    std::set<std::string_view> targets;
    for (const Type target : subject.targets()) {
        targets.insert(target.name());
    }
    EXPECT_EQ(targets, (std::set<std::string_view>{"Patient", "Group", "Device", "Location"}));

    const Element gender = find_type("Patient").find("gender");
    EXPECT_EQ(gender.strength(), Strength::required);
    EXPECT_EQ(gender.value_set().url(), "http://hl7.org/fhir/ValueSet/administrative-gender");
    EXPECT_TRUE(gender.value_set().enumerated());
    EXPECT_EQ(gender.value_set().size(), 4U);
    EXPECT_TRUE(gender.value_set().contains("female"));
    EXPECT_TRUE(gender.value_set().contains("female", "http://hl7.org/fhir/administrative-gender"));
    EXPECT_FALSE(gender.value_set().contains("female", "http://example.org"));
    EXPECT_FALSE(gender.value_set().contains("Female"));
    EXPECT_FALSE(gender.value_set().contains(""));
    EXPECT_EQ(find_value_set("http://hl7.org/fhir/ValueSet/administrative-gender|4.0.1"),
              gender.value_set());
    EXPECT_FALSE(find_value_set("http://example.org"));
    EXPECT_FALSE(find_type("Attachment").find("contentType").value_set().enumerated());
    EXPECT_EQ(find_type("Observation").find("code").strength(), Strength::example);
    EXPECT_EQ(find_type("Patient").find("name").strength(), Strength::none);
    EXPECT_FALSE(find_type("Patient").find("name").value_set());

    std::set<std::string_view> keys;
    for (const Invariant rule : find_type("Observation").invariants()) {
        keys.insert(rule.key());
        EXPECT_FALSE(rule.expression().empty());
    }
    EXPECT_EQ(keys, (std::set<std::string_view>{"dom-2", "dom-3", "dom-4", "dom-5", "dom-6",
                                                "obs-6", "obs-7"}));
    keys.clear();
    for (const Invariant rule : find_type("Patient.contact").invariants()) {
        keys.insert(rule.key());
    }
    EXPECT_EQ(keys, (std::set<std::string_view>{"ele-1", "pat-1"}));
    const List<Invariant> low = find_type("Range").find("low").invariants();
    ASSERT_EQ(low.size(), 1U);
    EXPECT_EQ(low[0].key(), "sqty-1");
    EXPECT_TRUE(low[0].is_error());
}

TEST(Schema, HasEveryCodeOfAnEnumeratedRequiredBinding) {
    std::size_t open = 0;
    for (const Type type : types()) {
        for (const Element element : type.elements()) {
            const ValueSet set = element.value_set();
            if (element.strength() != Strength::required || !set) {
                continue;
            }
            open += !set.enumerated();
            EXPECT_EQ(set.enumerated(), set.size() != 0) << set.url();
            for (std::size_t i = 0; i < set.size(); ++i) {
                EXPECT_TRUE(set.contains(set[i].code, set[i].system)) << set.url();
                EXPECT_TRUE(set[i].system.starts_with("http") || set[i].system.starts_with("urn:"))
                    << set.url();
            }
        }
    }
    EXPECT_GT(open, 0U);
    EXPECT_LT(open, 20U);  // media types, units and a panel of LOINC
}

TEST(Schema, KnowsSearchParameters) {
    const Type patient = find_type("Patient");
    const SearchParameter birthdate = find_search_parameter(patient, "birthdate");
    EXPECT_EQ(birthdate.id(), "individual-birthdate");
    EXPECT_EQ(birthdate.type(), SearchType::date);
    EXPECT_NE(birthdate.expression().find("Patient.birthDate"), std::string_view::npos);
    EXPECT_EQ(find_search_parameter(patient, "_lastUpdated").bases()[0], resource_base_type());
    EXPECT_FALSE(find_search_parameter(patient, "nothing"));
    EXPECT_FALSE(find_search_parameter(Type(), "code"));
    const SearchParameter subject = find_search_parameter(find_type("Observation"), "subject");
    EXPECT_EQ(subject.type(), SearchType::reference);
    EXPECT_EQ(subject.targets().size(), 4U);
    const SearchParameter pair =
        find_search_parameter(find_type("Observation"), "code-value-quantity");
    EXPECT_EQ(pair.type(), SearchType::composite);
    ASSERT_EQ(pair.component_count(), 2U);
    EXPECT_EQ(pair.component(0).parameter.code(), "code");
    EXPECT_EQ(pair.component(0).expression, "code");
    EXPECT_EQ(pair.component(1).parameter.code(), "value-quantity");
    for (const SearchParameter parameter : search_parameters()) {
        EXPECT_FALSE(parameter.bases().empty()) << parameter.id();
        EXPECT_EQ(parameter.component_count() != 0, parameter.type() == SearchType::composite);
        for (const Type base : parameter.bases()) {
            EXPECT_EQ(find_search_parameter(base, parameter.code()), parameter) << parameter.id();
        }
    }
}

TEST(Schema, NamesTypesOfSearchParameters) {
    EXPECT_EQ(search_type_name(SearchType::number), "number");
    EXPECT_EQ(search_type_name(SearchType::quantity), "quantity");
    EXPECT_EQ(search_type_name(SearchType::special), "special");
    EXPECT_EQ(find_search_type("composite"), SearchType::composite);
    EXPECT_EQ(find_search_type("Token"), std::nullopt);
    EXPECT_EQ(find_search_type(""), std::nullopt);
    for (const SearchParameter parameter : search_parameters()) {
        EXPECT_EQ(find_search_type(search_type_name(parameter.type())), parameter.type());
    }
}

TEST(SchemaTables, AreWhatTheGeneratorMakes) {
    const std::filesystem::path definitions = test::test_data("r4-definitions");
    if (definitions.empty()) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-definitions";
    }
    const test::TemporaryDirectory made;
    const std::filesystem::path source = ANNALS_SOURCE_DIR;
    const std::string command = (source / "tools/generate_schema").string() + " " +
                                definitions.string() + " " + std::string(made.path());
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(made.path())) {
        ++files;
        EXPECT_EQ(test::read_whole_file(entry.path()),
                  test::read_whole_file(source / "codec/schema" / entry.path().filename()))
            << entry.path().filename();
    }
    EXPECT_EQ(files, 7U);
}

}  // namespace
}  // namespace annals::schema
