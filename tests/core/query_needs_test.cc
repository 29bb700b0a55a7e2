// What reading a query leaves to the terminology worker.

#include "core/interactions/query_needs.h"

#include "core/base/result.h"
#include "core/search/snapshot.h"
#include "core/search/stored.h"
#include "tests/support/service_fixture.h"

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace annals::core {
namespace {

using search::PutOff;

class QueryNeedsTest : public test::ServiceFixture {
  protected:
    /// What reading a query with `look` returns.
    Result<void> read_query(const std::function<Result<void>(QueryNeeds&)>& look) {
        std::future<Result<void>> read;
        on_loop([&] {
            read = asio::co_spawn(loop().context(), prepare_and_look(service(), loop(), look),
                                  asio::use_future);
        });
        return read.get();
    }
};

TEST_F(QueryNeedsTest, GiveTheWorkerOneTimeForAll) {
    std::vector<std::chrono::steady_clock::time_point> ends;
    const auto note_end = [&](const auto&, const PutOff::Limit& limit) -> PutOff::Made {
        ends.push_back(limit.end);
        return PutOff::Held();
    };
    EXPECT_TRUE(read_query([&](QueryNeeds& needs) -> Result<void> {
        if (ends.size() < 3) {
            needs.put_off()->work.push_back({std::to_string(ends.size()), note_end});
        }
        return {};
    }));
    EXPECT_EQ(ends, std::vector(3, ends.at(0)));
}

TEST_F(QueryNeedsTest, HoldSoManyBytesAtMost) {
    for (const auto& [bytes, code] : {std::pair(kHeldBytesMax / 3, Errc()),
                                      std::pair(kHeldBytesMax / 3 + 1, Errc::too_costly)}) {
        int asked = 0;
        const auto find_out = [&asked, held = bytes](const auto&, const auto&) -> PutOff::Made {
            ++asked;
            return PutOff::Held{.made = nullptr, .bytes = held};
        };
        const Result<void> read = read_query([&](QueryNeeds& needs) -> Result<void> {
            if (asked < 3) {
                needs.put_off()->work.push_back({std::to_string(asked), find_out});
            }
            return {};
        });
        EXPECT_EQ(asked, 3);
        EXPECT_EQ(read ? Errc() : read.error().code, code);
    }
}

TEST_F(QueryNeedsTest, AskAgainWhenTheSnapshotGrewTooOldMeanwhile) {
    for (const auto& [times_expired, times_asked] : {std::pair(1, 2), std::pair(9, 4)}) {
        int asked = 0;
        const auto find_out = [&](const auto&, const auto&) -> PutOff::Made {
            if (++asked <= times_expired) {
                return search::expired_snapshot();
            }
            return PutOff::Held();
        };
        const Result<void> read = read_query([&](QueryNeeds& needs) -> Result<void> {
            const auto& done = needs.put_off()->done;
            if (done.empty()) {
                needs.put_off()->work.push_back({"v", find_out});
                return {};
            }
            return done.at("v") ? Result<void>() : done.at("v").error();
        });
        EXPECT_EQ(asked, times_asked);
        EXPECT_EQ(read ? Errc() : read.error().code, asked == 2 ? Errc() : Errc::expired);
    }
}

TEST_F(QueryNeedsTest, LetOthersHaveTheirTurnBetweenReadingsOfWhatIsSmall) {
    int readings = 0;
    int turns_of_others = 0;
    const Result<void> read = read_query([&](QueryNeeds& needs) -> Result<void> {
        EXPECT_EQ(turns_of_others, readings);
        EXPECT_FALSE(needs.put_off()->spent);
        if (++readings <= 5) {
            asio::post(loop().context(), [&] { ++turns_of_others; });
            needs.put_off()->spent = true;
            needs.put_off()->keep(std::to_string(readings), PutOff::Held());
        }
        return {};
    });
    EXPECT_TRUE(read);
    EXPECT_EQ(readings, 6);

    const Result<void> much = read_query([&](QueryNeeds& needs) -> Result<void> {
        needs.put_off()->spent = true;
        needs.put_off()->keep("v", PutOff::Held{.made = nullptr, .bytes = kHeldBytesMax + 1});
        return {};
    });
    ASSERT_FALSE(much);
    EXPECT_EQ(much.error().code, Errc::too_costly);
}

}  // namespace
}  // namespace annals::core
