// The table of compartments: every name in it exists, and it agrees with R4's definitions.

#include "core/search/compartments.h"

#include "codec/json/document.h"
#include "tests/support/commits.h"
#include "tests/support/files.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace annals::core::search {
namespace {

using ::testing::Contains;

TEST(Compartments, HaveConditionsOfPatientsAndEncounters) {
    for (const char* of : {"Patient", "Encounter", "RelatedPerson", "Practitioner"}) {
        EXPECT_THAT(compartment_members(test::type_of(of)), Contains(test::type_of("Condition")))
            << of;
    }
}

TEST(Compartments, AreThoseOfTheDefinitions) {
    int read = 0;
    for (const char* name : {"patient", "encounter", "relatedPerson", "practitioner", "device"}) {
        const auto path = test::test_data(
            fmt::format("r4-official-dev/r4-examples/json/CompartmentDefinition-{}.json", name));
        if (path.empty()) {
            continue;
        }
        json::Parser parser;
        const auto document = parser.parse(test::read_whole_file(path));
        ASSERT_TRUE(document) << path;
        const TypeId of = test::type_of(document->root()["code"].string());
        std::vector<TypeId> expected{of};
        for (const json::Value resource : document->root()["resource"].elements()) {
            const TypeId type = test::type_of(resource["code"].string());
            if (resource["param"].size() != 0 && type != of) {
                expected.push_back(type);
            }
        }
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(compartment_members(of), expected) << name;
        ++read;
    }
    if (read == 0) {
        GTEST_SKIP() << "ANNALS_TEST_DATA has no r4-official-dev";
    }
}

TEST(Compartments, AreReachedByParametersThatThereAre) {
    const auto parameters = ParameterSet::standard();
    for (const std::string_view name : compartment_types()) {
        const TypeId of = test::type_of(name);
        for (const TypeId type : compartment_members(of)) {
            EXPECT_TRUE(in_compartment(*parameters, of, 7, type))
                << name << " " << resource_type_name(type);
            EXPECT_TRUE(in_any_compartment(*parameters, of, type))
                << name << " " << resource_type_name(type);
        }
        EXPECT_FALSE(in_any_compartment(*parameters, of, test::type_of("ValueSet")));
    }
    EXPECT_FALSE(
        in_any_compartment(*parameters, test::type_of("ValueSet"), test::type_of("Patient")));
}

}  // namespace
}  // namespace annals::core::search
