// Sets of tags, labels and profiles, and what is no set.

#include "core/operations/meta_set.h"

#include <gtest/gtest.h>

namespace annals::core {
namespace {

/// The changed meta; "-" if nothing changes, "!" if it is refused.
std::string changed(std::string_view meta, std::string_view change, MetaChange what) {
    json::Parser parser;
    const auto before = parser.parse(meta);
    json::Parser other;
    const auto by = other.parse(change);
    const auto result = change_meta(before->root(), by->root(), what);
    if (!result) {
        EXPECT_EQ(result.error().code, Errc::structure);
        return "!";
    }
    return *result ? **result : "-";
}

std::string added(std::string_view meta, std::string_view change) {
    return changed(meta, change, MetaChange::add);
}

std::string removed(std::string_view meta, std::string_view change) {
    return changed(meta, change, MetaChange::remove);
}

TEST(MetaSet, AddsEachOnceAndKeepsAllElse) {
    EXPECT_EQ(added(R"({"versionId":"1","source":"s"})", R"({"tag":[{"code":"a"},{"code":"a"}]})"),
              R"({"versionId":"1","source":"s","tag":[{"code":"a"}]})");
    EXPECT_EQ(
        added(R"({"tag":[{"code":"a","display":"A"}],"x":1})",
              R"({"tag":[{"system":"s","code":"a"}],"profile":["p"]})"),
        R"({"x":1,"profile":["p"],"tag":[{"code":"a","display":"A"},{"system":"s","code":"a"}]})");
    EXPECT_EQ(added(R"({"tag":[{"code":"a"}]})", R"({"tag":[{"code":"a"}],"source":"s"})"), "-");
    EXPECT_EQ(added("{}", R"({"security":[{"code":"R"}]})"), R"({"security":[{"code":"R"}]})");
    EXPECT_EQ(added("{}", "{}"), "-");
}

TEST(MetaSet, ComparesCodesWithTheirEscapesResolved) {
    EXPECT_EQ(added(R"({"tag":[{"code":"A"}]})", R"({"tag":[{"code":"\u0041"}]})"), "-");
    EXPECT_EQ(removed(R"({"profile":["http:\/\/p"]})", R"({"profile":["http://p"]})"), "{}");
}

TEST(MetaSet, RemovesByKeyAndLeavesNoEmptyList) {
    EXPECT_EQ(removed(R"({"versionId":"3","tag":[{"code":"a"},{"code":"b"},{"code":"a"}]})",
                      R"({"tag":[{"code":"a","display":"other"}]})"),
              R"({"versionId":"3","tag":[{"code":"b"}]})");
    EXPECT_EQ(removed(R"({"tag":[{"code":"a"}]})", R"({"tag":[{"code":"a"}]})"), "{}");
    EXPECT_EQ(removed(R"({"tag":[{"code":"a"}]})", R"({"security":[{"code":"a"}]})"), "-");
    EXPECT_EQ(removed("{}", R"({"profile":["p"]})"), "-");
}

TEST(MetaSet, KeepsTheExtensionsOfProfilesBesideThem) {
    EXPECT_EQ(removed(R"({"profile":["p","q","r"],"_profile":[null,{"id":"x"},null]})",
                      R"({"profile":["p"]})"),
              R"({"profile":["q","r"],"_profile":[{"id":"x"},null]})");
    EXPECT_EQ(
        removed(R"({"profile":["p","q"],"_profile":[null,{"id":"x"}]})", R"({"profile":["q"]})"),
        R"({"profile":["p"]})");
    EXPECT_EQ(added(R"({"profile":["p"],"_profile":[{"id":"x"}]})", R"({"profile":["q"]})"),
              R"({"profile":["p","q"],"_profile":[{"id":"x"},null]})");
}

TEST(MetaSet, KeepsProfilesThatHaveOnlyExtensions) {
    EXPECT_EQ(added(R"({"_profile":[{"id":"x"}]})", R"({"profile":["p"]})"),
              R"({"profile":[null,"p"],"_profile":[{"id":"x"},null]})");
    EXPECT_EQ(added(R"({"profile":["p"],"_profile":[null,{"id":"x"}]})", R"({"profile":["q"]})"),
              R"({"profile":["p",null,"q"],"_profile":[null,{"id":"x"},null]})");
    EXPECT_EQ(removed(R"({"profile":["p",null],"_profile":[null,{"id":"x"}]})",
                      R"({"profile":["p",""]})"),
              R"({"_profile":[{"id":"x"}]})");
    MetaUnion all;
    json::Parser parser;
    const auto meta = parser.parse(R"({"profile":[null,"p"],"_profile":[{"id":"x"},null]})");
    ASSERT_TRUE(all.add(meta->root()));
    EXPECT_EQ(all.json(), R"({"profile":["p"]})");
}

TEST(MetaSet, TellsApartCodesThatAreWrittenAlike) {
    constexpr std::string_view kBoth =
        R"({"tag":[{"system":"s","code":"a|b"},{"system":"s|a","code":"b"}]})";
    EXPECT_EQ(removed(kBoth, R"({"tag":[{"system":"s","code":"a|b"}]})"),
              R"({"tag":[{"system":"s|a","code":"b"}]})");
    EXPECT_EQ(added(R"({"tag":[{"system":"s","code":"a|b"}]})",
                    R"({"tag":[{"system":"s|a","code":"b"}]})"),
              kBoth);
    MetaUnion all;
    json::Parser parser;
    ASSERT_TRUE(all.add(parser.parse(kBoth)->root()));
    EXPECT_EQ(all.json(), kBoth);
}

// Without validation, a system may contain a line break.
TEST(MetaSet, TellsApartSystemsAndCodesWithLineBreaks) {
    EXPECT_EQ(added(R"({"tag":[{"system":"a\nb","code":"c"}]})",
                    R"({"tag":[{"system":"a","code":"b\nc"}]})"),
              R"({"tag":[{"system":"a\nb","code":"c"},{"system":"a","code":"b\nc"}]})");
}

TEST(MetaSet, ComparesCodingsWithoutACodeWhole) {
    constexpr std::string_view kBoth = R"({"tag":[{"display":"a"},{"display":"b"}]})";
    EXPECT_EQ(added(R"({"tag":[{"display":"a"}]})", kBoth), kBoth);
    EXPECT_EQ(added(kBoth, R"({"tag":[{"display":"b"}]})"), "-");
    EXPECT_EQ(removed(kBoth, R"({"tag":[{"display":"a"}]})"), R"({"tag":[{"display":"b"}]})");
    MetaUnion all;
    json::Parser parser;
    ASSERT_TRUE(all.add(
        parser.parse(R"({"tag":[{"display":"b"},{"display":"a"},{"system":"s","code":"c"}]})")
            ->root()));
    EXPECT_EQ(all.json(), R"({"tag":[{"system":"s","code":"c"},{"display":"a"},{"display":"b"}]})");
}

TEST(MetaSet, RefusesWhatIsNoMeta) {
    for (const char* change :
         {"[]", "7", R"({"tag":{}})", R"({"tag":["a"]})", R"({"tag":[null]})", R"({"profile":"p"})",
          R"({"profile":[{}]})", R"({"security":[[]]})"}) {
        EXPECT_EQ(added("{}", change), "!") << change;
        EXPECT_EQ(removed("{}", change), "!") << change;
    }
}

TEST(MetaSet, UnitesManyInOrder) {
    MetaUnion all;
    json::Parser parser;
    for (const char* meta :
         {R"({"tag":[{"system":"b","code":"1"},{"system":"a","code":"2"}],"profile":["p"]})",
          R"({"tag":[{"system":"a","code":"2","display":"later"}],"security":[{"code":"R"}]})",
          R"({"tag":[{"system":"a/b","code":"1"},{"code":"x"}]})", "{}",
          R"({"tag":{"odd":1},"profile":7})"}) {
        const auto document = parser.parse(meta);
        ASSERT_TRUE(all.add(document->root()));
    }
    EXPECT_EQ(all.json(), R"({"profile":["p"],"security":[{"code":"R"}],)"
                          R"("tag":[{"code":"x"},{"system":"a","code":"2"},)"
                          R"({"system":"a/b","code":"1"},{"system":"b","code":"1"}]})");
    EXPECT_EQ(MetaUnion().json(), "{}");
}

TEST(MetaSet, BoundsAUnion) {
    std::string meta = R"({"tag":[)";
    for (std::size_t i = 0; i <= kMetaUnionMax; ++i) {
        meta += (i == 0 ? "" : ",") + std::string(R"({"code":")") + std::to_string(i) + R"("})";
    }
    json::Parser parser;
    const auto document = parser.parse(meta + "]}");
    MetaUnion all;
    const Result<void> refused = all.add(document->root());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::too_costly);
}

TEST(MetaSet, BoundsTheSizeOfAUnion) {
    MetaUnion all;
    const auto add = [&](char code) {
        json::Parser parser;
        const auto document =
            parser.parse(R"({"tag":[{"code":")" + std::string(1, code) + R"(","display":")" +
                         std::string(kMetaUnionBytesMax / 3, 'x') + R"("}]})");
        return all.add(document->root());
    };
    EXPECT_TRUE(add('a'));
    EXPECT_TRUE(add('b'));
    EXPECT_TRUE(add('b'));
    const Result<void> refused = add('c');
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::too_costly);
}

TEST(MetaSet, BoundsAChange) {
    const auto tags = [](std::size_t count) {
        std::string meta = R"({"tag":[)";
        for (std::size_t i = 0; i < count; ++i) {
            meta += (i == 0 ? "" : ",") + std::string(R"({"code":")") + std::to_string(i) + R"("})";
        }
        return meta + "]}";
    };
    EXPECT_EQ(added("{}", tags(kMetaChangeMax)), tags(kMetaChangeMax));
    json::Parser parser;
    const auto change = parser.parse(tags(kMetaChangeMax + 1));
    const auto refused = change_meta(json::Value(), change->root(), MetaChange::add);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::too_costly);
    EXPECT_EQ(refused.error().expression, "meta.tag");
}

}  // namespace
}  // namespace annals::core
