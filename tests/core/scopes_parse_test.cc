// What is read from the scopes of a token.

#include "core/access.h"
#include "tests/support/commits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {
namespace {

bool may(std::string_view scopes, std::uint8_t permissions, std::optional<TypeId> type) {
    return Principal("x", scopes).may(permissions, type);
}

TEST(Scopes, OfVersion2PermitTheirLetters) {
    EXPECT_TRUE(may("system/Patient.r", kMayRead, test::type_of("Patient")));
    EXPECT_FALSE(may("system/Patient.r", kMaySearch, test::type_of("Patient")));
    EXPECT_FALSE(may("system/Patient.r", kMayRead, test::type_of("Observation")));
    EXPECT_TRUE(may("user/Patient.cruds", kMayAll, test::type_of("Patient")));
    EXPECT_FALSE(may("user/Patient.cruds", kMayRead, std::nullopt));
    EXPECT_TRUE(may("system/*.rs", kMayRead | kMaySearch, test::type_of("Observation")));
    EXPECT_TRUE(may("system/*.rs", kMayRead | kMaySearch, std::nullopt));
    EXPECT_FALSE(may("system/*.rs", kMayCreate, test::type_of("Patient")));
    EXPECT_TRUE(may("openid system/*.r system/Patient.cu", kMayCreate | kMayRead,
                    test::type_of("Patient")));
}

TEST(Scopes, OfVersion1AreTranslated) {
    EXPECT_TRUE(may("system/Patient.read", kMayRead | kMaySearch, test::type_of("Patient")));
    EXPECT_FALSE(may("system/Patient.read", kMayUpdate, test::type_of("Patient")));
    EXPECT_TRUE(may("system/*.write", kMayCreate | kMayUpdate | kMayDelete, std::nullopt));
    EXPECT_FALSE(may("system/*.write", kMayRead, test::type_of("Patient")));
    EXPECT_TRUE(may("user/*.*", kMayAll, std::nullopt));
}

TEST(Scopes, OnTheWholeSystemAreThoseOfTheContextSystemForEveryType) {
    const auto permits = [](std::string_view scopes, std::uint8_t permissions) {
        return Principal("x", scopes, "p").may_on_system(permissions);
    };
    EXPECT_TRUE(permits("system/*.cruds", kMayAll));
    EXPECT_TRUE(permits("system/*.*", kMayAll));
    EXPECT_TRUE(permits("system/*.read system/*.write", kMayAll));
    EXPECT_FALSE(permits("user/*.cruds", kMayCreate));
    EXPECT_FALSE(permits("patient/*.cruds", kMayCreate));
    EXPECT_FALSE(permits("system/*.cruds?_id=a", kMayCreate));
    EXPECT_FALSE(permits("system/Patient.cruds", kMayCreate));
    EXPECT_FALSE(permits("user/*.cruds system/*.rs", kMayAll));
}

TEST(Scopes, ThatAreMalformedPermitNothing) {
    for (const char* scopes : {"",
                               "system",
                               "system/",
                               "system/Patient",
                               "system/Patient.",
                               "system/Patient.sr",
                               "system/Patient.rr",
                               "system/Patient.x",
                               "system/Patient.Read",
                               "system/patient.r",
                               "SYSTEM/Patient.r",
                               "system/Patients.r",
                               "other/Patient.r",
                               "Patient.r",
                               "*/*.*",
                               "system/Patient.r?status=a",
                               "system/Patient.r?",
                               "patient/Patient.r",
                               "patient/*.cruds",
                               "launch/patient",
                               "system/ Patient.r",
                               "system/Patient.r,system/Observation.r"}) {
        EXPECT_FALSE(may(scopes, kMayRead, test::type_of("Patient"))) << scopes;
    }
    for (const char* scopes : {"system/Patient.r?", "system/Patient.read?status=a",
                               "patient/Practitioner.r", "patient/Patients.r", "patient/*"}) {
        EXPECT_FALSE(Principal("x", scopes, "1").is_restricted()) << scopes;
    }
    EXPECT_FALSE(Principal("x", "patient/*.cruds").is_restricted());
}

TEST(Scopes, OfAPatientAndGranularOnesPermitAPart) {
    const Principal patient("x", "patient/*.rs patient/Observation.c", "1");
    EXPECT_FALSE(patient.may(kMayRead, test::type_of("Patient")));
    EXPECT_TRUE(patient.may_in_part(kMayRead | kMaySearch, test::type_of("Patient")));
    EXPECT_TRUE(patient.may_in_part(kMayRead, std::nullopt));
    EXPECT_TRUE(patient.may_in_part(kMayRead | kMayCreate, test::type_of("Observation")));
    EXPECT_FALSE(patient.may_in_part(kMayCreate, test::type_of("Patient")));
    EXPECT_FALSE(patient.may_in_part(kMayUpdate, test::type_of("Observation")));
    // Types outside the patient compartment are never the patient's.
    EXPECT_FALSE(patient.may_in_part(kMayRead, *find_resource_type("Practitioner")));
    EXPECT_TRUE(patient.may_in_part(kMayRead, *find_resource_type("Device")));

    const Principal granular("x", "system/Observation.rs?category=laboratory user/Patient.r");
    EXPECT_FALSE(granular.may(kMayRead, test::type_of("Observation")));
    EXPECT_TRUE(granular.may_in_part(kMayRead | kMaySearch, test::type_of("Observation")));
    EXPECT_FALSE(granular.may_in_part(kMaySearch, std::nullopt));
    EXPECT_TRUE(granular.may(kMayRead, test::type_of("Patient")));

    // Where everything is permitted, restrictions to a part don't matter.
    EXPECT_FALSE(Principal("x", "patient/*.rs system/*.cruds", "1").is_restricted());
    EXPECT_TRUE(Principal("x", "patient/*.rs system/*.r", "1").is_restricted());
}

TEST(Scopes, OfAPartPermitSomething) {
    EXPECT_TRUE(Principal("x", "").may_nothing());
    EXPECT_TRUE(Principal("x", "patient/Practitioner.r", "1").may_nothing());
    EXPECT_FALSE(Principal("x", "patient/Patient.r", "1").may_nothing());
    EXPECT_FALSE(Principal("x", "system/Patient.r?active=true").may_nothing());
}

TEST(Scopes, BeyondTheirBoundsPermitNothing) {
    std::string many;
    for (int i = 0; i < 1000; ++i) {
        many += "system/Basic.r ";
    }
    EXPECT_FALSE(may(many + "system/Patient.r", kMayRead, test::type_of("Patient")));
    std::string granular;
    for (int i = 0; i < 100; ++i) {
        granular += "system/Basic.r?code=" + std::to_string(i) + ' ';
    }
    EXPECT_FALSE(Principal("x", granular + "system/Patient.r?active=true")
                     .may_in_part(kMayRead, test::type_of("Patient")));
}

TEST(Scopes, MakeAnotherOfWhomTheyHoldToAnotherPart) {
    const auto identity = [](std::string_view scopes, std::string_view patient) {
        return Principal("x", scopes, patient).identity();
    };
    EXPECT_EQ(identity("system/*.cruds", ""), "x");
    EXPECT_EQ(identity("patient/*.r patient/Basic.c", "1"),
              identity("patient/Basic.c patient/*.r", "1"));
    EXPECT_NE(identity("patient/*.r", "1"), identity("patient/*.r", "2"));
    EXPECT_NE(identity("patient/*.r", "1"), "x");
    EXPECT_NE(identity("patient/Basic.r", "1"), identity("patient/Patient.r", "1"));
    EXPECT_NE(identity("patient/Basic.r", "1"), identity("patient/Basic.c", "1"));
    EXPECT_NE(identity("patient/*.r patient/*.r", "1"), identity("patient/*.r patient/*.r", "2"));
    EXPECT_NE(identity("system/Basic.r?code=a", ""), identity("system/Basic.r?code=b", ""));
    EXPECT_EQ(Principal::name_in(identity("patient/*.r", "1")), "x");
    EXPECT_EQ(Principal::name_in("x"), "x");
    EXPECT_EQ(Principal::name_in(""), "");
    // A name that reads like somebody's identity doesn't give that identity.
    const std::string held = identity("patient/*.r", "1");
    EXPECT_NE(Principal(held, "system/*.r").identity(), held);
    EXPECT_EQ(Principal::name_in(Principal(held, "system/*.r").identity()), held);
}

}  // namespace
}  // namespace annals::core
