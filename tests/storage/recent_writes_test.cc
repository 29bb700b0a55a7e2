// The writes that guards are checked against.

#include "storage/recent_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace annals::storage {
namespace {

constexpr TypeId kFirstType{1};
constexpr TypeId kSecondType{2};
constexpr std::uint64_t kIdentity = 1'000'000;

SearchEntries entries(std::vector<std::uint64_t> terms, std::vector<std::uint64_t> targets = {}) {
    SearchEntries entries;
    entries.terms = std::move(terms);
    for (const std::uint64_t target : targets) {
        entries.links.push_back({7, target});
    }
    return entries;
}

Guard guard(std::optional<TypeId> type, std::span<const std::uint64_t> terms, Position as_of) {
    return {.type = type, .terms = terms, .as_of = as_of};
}

TEST(RecentWrites, FindTheNewestVersionThatAGuardForbids) {
    RecentWrites recent({10});
    const SearchEntries a = entries({1, 5, 9});
    const SearchEntries b = entries({2, 5}, {77});
    recent.add(kFirstType, {101}, kIdentity, &a);       // position 11
    recent.add(kFirstType, {102}, kIdentity, &b);       // position 12
    recent.add(kFirstType, {103}, kIdentity, nullptr);  // position 13
    recent.add(kSecondType, {104}, kIdentity, &a);      // position 14
    const std::vector<std::uint64_t> five = {4, 5};
    const std::vector<std::uint64_t> target = {77};
    const std::vector<std::uint64_t> none = {3, 4, 6};
    const auto at = [&](const Guard& guard) {
        const auto hit = recent.find(guard);
        return hit ? hit->position.value : 0;
    };
    EXPECT_EQ(at(guard(kFirstType, five, {10})), 12U);
    EXPECT_EQ(recent.find(guard(kFirstType, five, {10}))->ticket, Ticket{102});
    EXPECT_EQ(at(guard(kFirstType, five, {11})), 12U);
    EXPECT_FALSE(recent.find(guard(kFirstType, five, {12})));
    EXPECT_EQ(at(guard({}, five, {12})), 14U);
    EXPECT_EQ(at(guard({}, target, {10})), 12U);
    EXPECT_FALSE(recent.find(guard({}, none, {10})));
    const std::vector<std::uint64_t> identity = {kIdentity};
    EXPECT_EQ(at(guard(kFirstType, identity, {10})), 13U);
    EXPECT_EQ(at(guard(kFirstType, {}, {10})), 13U);
    EXPECT_EQ(at(guard({}, {}, {13})), 14U);
    EXPECT_FALSE(recent.find(guard({}, {}, {14})));
}

TEST(RecentWrites, SayThatWhatStoodBeforeThemIsForgotten) {
    RecentWrites recent({10});
    EXPECT_FALSE(recent.find(guard({}, {}, {10})));
    const auto hit = recent.find(guard({}, {}, {9}));
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->position, Position{});
}

TEST(RecentWrites, ForgetOnlyWhatIsSettled) {
    RecentWrites recent({0});
    const std::vector<std::uint64_t> term = {42};
    const SearchEntries carrier = entries({42});
    recent.add(kFirstType, {1}, kIdentity, &carrier);
    constexpr std::uint64_t kMany = 4 * RecentWrites::kWritesKept;
    for (std::uint64_t i = 2; i <= kMany; ++i) {
        recent.add(kSecondType, {i}, kIdentity, nullptr);
    }
    recent.settle({0});
    EXPECT_EQ(recent.find(guard(kFirstType, term, {0}))->position, Position{1});
    recent.settle({kMany});
    EXPECT_EQ(recent.find(guard(kFirstType, term, {0}))->position, Position{0});
    // Of the settled versions, the newest are kept.
    EXPECT_FALSE(recent.find(guard(kFirstType, term, {kMany - RecentWrites::kWritesKept})));
}

TEST(RecentWrites, KeepLittleOfVersionsWithManyTerms) {
    RecentWrites recent({0});
    SearchEntries heavy;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        heavy.terms.push_back(2 * i);
    }
    for (std::uint64_t i = 1; i <= 100; ++i) {
        recent.add(kFirstType, {i}, kIdentity, &heavy);
        recent.settle({i});
    }
    const std::vector<std::uint64_t> odd = {1};
    const auto old = recent.find(guard({}, odd, {80}));
    ASSERT_TRUE(old);
    EXPECT_EQ(old->position, Position{});
    EXPECT_FALSE(recent.find(guard({}, odd, {98})));
}

TEST(RecentWrites, ForgetWhatWasDropped) {
    for (const std::uint64_t count : {5U, 1024U, 1025U, 5000U}) {
        for (const std::uint64_t kept : {0UL, 1UL, 4UL, std::min(1024UL, count)}) {
            RecentWrites recent({0});
            const SearchEntries old = entries({1});
            const SearchEntries now = entries({2});
            for (std::uint64_t i = 1; i <= count; ++i) {
                recent.add(kFirstType, {i}, kIdentity, &old);
            }
            recent.drop_after({kept});
            recent.add(kFirstType, {9'999}, kIdentity, &now);
            const std::vector<std::uint64_t> first = {1};
            const std::vector<std::uint64_t> second = {2};
            const auto hit = recent.find(guard({}, first, {0}));
            EXPECT_EQ(hit ? hit->position.value : 0, kept);
            ASSERT_TRUE(recent.find(guard({}, second, {0})));
            EXPECT_EQ(recent.find(guard({}, second, {0}))->position.value, kept + 1);
            EXPECT_EQ(recent.find(guard({}, second, {0}))->ticket, Ticket{9'999});
        }
    }
}

TEST(RecentWrites, AgreeWithAListOfAllVersions) {
    struct Seen {
        TypeId type;
        std::vector<std::uint64_t> values;
    };

    std::mt19937_64 random(20260105);
    const auto pick = [&](std::uint64_t below) { return random() % below; };
    RecentWrites recent({0});
    std::vector<Seen> all(1);
    for (int step = 0; step < 20'000; ++step) {
        if (pick(100) == 0) {
            const std::uint64_t last =
                all.size() - 1 - pick(std::min<std::uint64_t>(all.size(), 1500));
            recent.drop_after({last});
            all.resize(last + 1);
        }
        SearchEntries written;
        for (std::uint64_t t = 0; t < 40; ++t) {
            if (pick(10) == 0) {
                written.terms.push_back(t);
            }
        }
        if (pick(4) == 0) {
            written.links.push_back({1, 40 + pick(20)});
        }
        Seen seen{{static_cast<std::uint16_t>(pick(3))}, written.terms};
        for (const auto& link : written.links) {
            seen.values.push_back(link.target);
        }
        recent.add(seen.type, {all.size()}, kIdentity, &written);
        all.push_back(seen);
        if (pick(3) == 0) {
            std::vector<std::uint64_t> terms;
            for (std::uint64_t t = pick(20); t < 60 && terms.size() < 6; t += 1 + pick(20)) {
                terms.push_back(t);
            }
            const Guard asked =
                guard(pick(2) == 0 ? std::optional<TypeId>()
                                   : std::optional(TypeId{static_cast<std::uint16_t>(pick(3))}),
                      terms, {all.size() - 1 - pick(std::min<std::uint64_t>(all.size(), 30))});
            std::uint64_t expected = 0;
            for (std::uint64_t p = asked.as_of.value + 1; p < all.size(); ++p) {
                const bool carries = std::ranges::any_of(terms, [&](std::uint64_t term) {
                    return std::ranges::count(all[p].values, term) > 0;
                });
                if ((!asked.type || all[p].type == *asked.type) && (terms.empty() || carries)) {
                    expected = p;
                }
            }
            const auto hit = recent.find(asked);
            ASSERT_EQ(hit ? hit->position.value : 0, expected) << "step " << step;
        }
    }
}

}  // namespace
}  // namespace annals::storage
