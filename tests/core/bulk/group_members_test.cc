#include "core/bulk/group_members.h"

#include "tests/core/bulk/export_fixture.h"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace annals::core {
namespace {

class GroupMembersTest : public ExportTest {
  protected:
    /// Members that refer to `type`/0 and so on.
    static std::string members(std::string_view type, std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            text += fmt::format(R"({}{{"entity":{{"reference":"{}/{}"}}}})", i == 0 ? "" : ",",
                                type, i);
        }
        return text;
    }

    void put_group(std::string_view id, std::string_view members) {
        put("Group", id, fmt::format(R"("type":"person","actual":true,"member":[{}])", members));
    }

    GroupMembers of(std::string_view group) {
        snapshot_.emplace(store(), store().last_position());
        return GroupMembers(*snapshot_, group, kBaseUrl);
    }

  private:
    std::optional<search::Snapshot> snapshot_;
};

TEST_F(GroupMembersTest, OfALargeGroupAreTakenInTurns) {
    constexpr std::size_t kMembers = 10'000;
    put_group("g", members("Patient", kMembers));
    GroupMembers group = of("g");
    search::Pace pace(std::chrono::microseconds(1));
    std::size_t turns = 0;
    for (bool done = false; !done; ++turns) {
        pace.begin_turn();
        const Result<bool> advanced = group.advance(pace);
        ASSERT_TRUE(advanced);
        done = *advanced;
    }
    EXPECT_EQ(group.patients().size(), kMembers);
    EXPECT_GT(turns, 20U);
}

/// Groups that don't exist take memory, too.
TEST_F(GroupMembersTest, AreAMillionPatientsAndGroupsAtMost) {
    const std::size_t half = GroupMembers::kMembersMax / 2;
    put_group("most", members("Patient", half) + "," + members("Group", half));
    GroupMembers most = of("most");
    const Result<bool> advanced = most.advance(search::Pace());
    ASSERT_TRUE(advanced);
    EXPECT_TRUE(*advanced);
    EXPECT_EQ(most.patients().size(), half);

    put_group("more", R"({"entity":{"reference":"Group/most"}})");
    GroupMembers more = of("more");
    const Result<bool> refused = more.advance(search::Pace());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::too_costly);
}

}  // namespace
}  // namespace annals::core
