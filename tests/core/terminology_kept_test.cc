// What is kept of definitions, and when it goes.

#include "codec/json/document.h"
#include "core/terminology/kept.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

TEST(Kept, CountsTheDocumentsThatAreHeldEachOnce) {
    const auto document = [](std::size_t size = 300'000) {
        json::Parser parser;
        auto parsed = parser.parse(R"({"text":")" + std::string(size, 'x') + R"("})");
        return terminology::Definition(std::make_shared<const json::Document>(*std::move(parsed)));
    };
    terminology::Kept<int> kept(1'000'000);
    const terminology::Definition shared = document();
    std::vector<terminology::Definition> keys;
    for (int i = 0; i < 10; ++i) {
        keys.push_back(document());
        kept.keep(keys.back(), std::make_shared<const int>(i), 10, {shared});
    }
    EXPECT_NE(kept.find(keys.front()), nullptr);
    for (int i = 0; i < 10; ++i) {
        keys.push_back(document());
        kept.keep(keys.back(), std::make_shared<const int>(i), 10,
                  std::vector<terminology::Definition>(4, keys.back()));
    }
    EXPECT_EQ(kept.find(keys.front()), nullptr);
    EXPECT_EQ(kept.find(keys[keys.size() - 4]), nullptr);
    EXPECT_NE(kept.find(keys[keys.size() - 3]), nullptr);
    EXPECT_NE(kept.find(keys.back()), nullptr);

    // What doesn't fit at all displaces nothing.
    const terminology::Definition huge = document(1'100'000);
    kept.keep(huge, std::make_shared<const int>(0), 10, {huge});
    EXPECT_EQ(kept.find(huge), nullptr);
    EXPECT_NE(kept.find(keys.back()), nullptr);

    // But it is found by whoever made it, and by others meanwhile.
    auto made = std::make_shared<const int>(1);
    kept.keep(huge, made, 10, {huge});
    EXPECT_EQ(kept.find(huge), made);
    made.reset();
    EXPECT_EQ(kept.find(huge), nullptr);
}

TEST(Kept, DropsTheLeastRecentlyUsedOfTooMany) {
    std::vector<terminology::Definition> keys;
    terminology::Kept<int> kept(1'000'000, 2);
    for (int i = 0; i < 3; ++i) {
        keys.push_back(std::make_shared<const json::Document>());
        kept.keep(keys.back(), std::make_shared<const int>(i), 10);
        EXPECT_NE(kept.find(keys.front()), nullptr);
    }
    EXPECT_EQ(kept.find(keys[1]), nullptr);
    EXPECT_NE(kept.find(keys[2]), nullptr);
}

}  // namespace
}  // namespace annals::core
