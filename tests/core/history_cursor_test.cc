#include "core/interactions/history_cursor.h"

#include "core/base/digest.h"
#include "core/base/resource_types.h"
#include "core/target.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace annals::core {
namespace {

TEST(HistoryCursor, ReadsBackWhatItWrote) {
    Target target;
    target.level = Level::type_history;
    HistoryCursor cursor;
    cursor.order = storage::HistoryOrder::last_updated;
    cursor.backwards = true;
    cursor.edge.emplace();
    cursor.edge->position = {77};
    cursor.edge->instant = {-5};
    cursor.bound = {99};
    cursor.since = Instant{-1};
    const std::string text = write_cursor(cursor, target);
    EXPECT_EQ(percent_encode(text), text);
    const auto read = read_cursor(text, target);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(write_cursor(*read, target), text);
    EXPECT_EQ(read->edge->instant.us, -5);
    EXPECT_EQ(read->since->us, -1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string broken = text;
        broken[i] = broken[i] == '1' ? '2' : '1';
        EXPECT_FALSE(read_cursor(broken, target).has_value()) << broken;
        EXPECT_FALSE(read_cursor(text.substr(0, i), target).has_value());
    }
}

/// Anybody who makes up a cursor can compute its check, too, which is no secret.
Result<HistoryCursor> read_made_up(std::string_view text) {
    Target target;
    target.level = Level::system_history;
    const std::uint64_t seed = hash64("", static_cast<std::uint64_t>(target.level));
    return read_cursor(fmt::format("{}.{:08x}", text, hash64(text, seed) & 0xffff'ffff), target);
}

TEST(HistoryCursor, IsNotReadWhenItIsMalformedUnderTheRightCheck) {
    ASSERT_TRUE(read_made_up("1nf.-.-.5.-.-.-.-").has_value());
    for (const std::string_view text : {
             "", "1", "1n", "1nf",
             "2nf.-.-.5.-.-.-.-",    // no such version
             "1xf.-.-.5.-.-.-.-",    // order
             "1nx.-.-.5.-.-.-.-",    // direction
             "1nf-.-.5.-.-.-.-",     // no dot before the first
             "1nf.-.-.5.-.-.-",      // one too few
             "1nf.-.-.5.-.-.-.-.-",  // one too many
             "1nf.-.-.5.-.-.-.--",   // more behind the last
             "1nf.-.-.-.-.-.-.-",    // without a bound
             "1nf.-.-.5.-.-.1.-",    // with a number that no cursor has
             "1nf.-.-.5.-.-.-.",     // empty
             "1nf.-.-.5.-.-.-.g",    // not in hex
             "1nf.-.-.5.-.-.-.1g",
             "1nf.-.-.5.-.-.-.10000000000000000",  // beyond 64 bits
         }) {
        EXPECT_FALSE(read_made_up(text).has_value()) << text;
    }
}

TEST(HistoryCursor, HoldsForItsOwnHistoryAlone) {
    const auto target = [](Level level, std::string_view type, std::string_view id) {
        Target target;
        target.level = level;
        target.type = *find_resource_type(type);
        target.id = id;
        return target;
    };
    const Target targets[] = {target(Level::type_history, "Patient", ""),
                              target(Level::type_history, "Observation", ""),
                              target(Level::instance_history, "Patient", "1"),
                              target(Level::instance_history, "Patient", "2"),
                              target(Level::instance_history, "Observation", "1"),
                              target(Level::system_history, "Patient", "")};
    HistoryCursor cursor;
    cursor.bound = {5};
    for (const Target& own : targets) {
        for (const Target& other : targets) {
            EXPECT_EQ(read_cursor(write_cursor(cursor, own), other).has_value(), &own == &other);
        }
    }
}

TEST(HistoryCursor, HasAnEdgeWhereBothItsNumbersStand) {
    EXPECT_EQ(read_made_up("1nf.7.9.5.-.-.-.-")->edge->position, Position{7});
    EXPECT_FALSE(read_made_up("1nf.7.-.5.-.-.-.-")->edge.has_value());
    EXPECT_FALSE(read_made_up("1nf.7.9.5.-.-.-.-")->since.has_value());
    EXPECT_FALSE(read_made_up("1nf.7.9.5.-.-.-.-")->at.has_value());
    EXPECT_FALSE(read_made_up("1nf.-.9.5.-.-.-.-")->edge.has_value());
}

}  // namespace
}  // namespace annals::core
