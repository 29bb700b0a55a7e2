#include "codec/json/bundle_parts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace annals::json {
namespace {

using PartKind = BundlePart::Kind;

struct Part {
    PartKind kind;
    std::string text;

    bool operator==(const Part&) const = default;
};

std::vector<Part> parts_of(std::string_view text, std::size_t portion) {
    BundleParts parts;
    std::vector<Part> found;
    BundlePart part;
    for (std::size_t i = 0; i < text.size(); i += portion) {
        parts.add(text.substr(i, portion));
        while (parts.next(part)) {
            found.push_back({part.kind, std::string(part.text)});
        }
    }
    if (parts.rest(part)) {
        found.push_back({part.kind, std::string(part.text)});
    }
    return found;
}

TEST(BundleParts, AreHeadEntriesAndTail) {
    const std::vector<Part> expected{
        {PartKind::head, R"({"resourceType":"Bundle","total":2,"entry":[)"},
        {PartKind::entry, R"({"fullUrl":"a]}","resource":{"x":[1,{}]}})"},
        {PartKind::entry, R"({"entry":[{"b":"\"}\\"}]})"},
        {PartKind::tail, R"(],"signature":{"entry":[1]}})"}};
    std::string text;
    for (const Part& part : expected) {
        text += part.text;
        text += &part == &expected[1] ? "," : "";
    }
    for (std::size_t portion = 1; portion <= text.size(); ++portion) {
        EXPECT_EQ(parts_of(text, portion), expected) << portion;
    }
}

TEST(BundleParts, AreAHeadAloneWithoutEntries) {
    constexpr std::string_view kText =
        R"({"resourceType":"Bundle","link":[{"entry":[1]}],"x\"entry":[2],"total":0})";
    for (std::size_t portion = 1; portion <= kText.size(); ++portion) {
        EXPECT_EQ(parts_of(kText, portion),
                  (std::vector<Part>{{PartKind::head, std::string(kText)}}));
    }
}

TEST(BundleParts, KnowAnEmptyListOfEntries) {
    EXPECT_EQ(parts_of(R"({"entry":[]})", 5),
              (std::vector<Part>{{PartKind::head, R"({"entry":[)"}, {PartKind::tail, "]}"}}));
}

}  // namespace
}  // namespace annals::json
