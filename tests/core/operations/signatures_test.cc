// What operations take: each has a signature, which is taken apart into parameters.

#include "core/operations/signatures.h"

#include "core/operations/operations.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace annals::core {
namespace {

TEST(Signatures, AreThereForEveryOperationAndNoOther) {
    std::set<std::string_view> definitions;
    for (const Operation& operation : operations()) {
        definitions.insert(operation.definition);
        EXPECT_NE(find_signature(operation.definition), nullptr) << operation.definition;
    }
    for (const Signature& signature : signatures()) {
        EXPECT_TRUE(definitions.contains(signature.definition)) << signature.definition;
    }
}

TEST(Signatures, AreTakenApart) {
    std::string_view list =
        "url:uri concept:Coding* to:string! input*(type:code! url:url) last:code!*";
    auto parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "url");
    EXPECT_EQ(parameter->type, "uri");
    EXPECT_TRUE(parameter->is_primitive());
    EXPECT_FALSE(parameter->repeats || parameter->required);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->type, "Coding");
    EXPECT_TRUE(parameter->repeats);
    EXPECT_FALSE(parameter->is_primitive());
    EXPECT_TRUE(next_parameter(list)->required);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "input");
    EXPECT_EQ(parameter->type, "");
    EXPECT_EQ(parameter->parts, "type:code! url:url");
    EXPECT_TRUE(parameter->repeats);
    parameter = next_parameter(list);
    EXPECT_EQ(parameter->name, "last");
    EXPECT_TRUE(parameter->required && parameter->repeats);
    EXPECT_FALSE(next_parameter(list));
}

}  // namespace
}  // namespace annals::core
