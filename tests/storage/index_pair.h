// An index and a model of it, which are given the same and must answer alike.

#pragma once

#include "storage/history_walk.h"
#include "storage/index.h"
#include "tests/support/version_model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace annals::storage {

inline constexpr TypeId kPatient{103};
inline constexpr TypeId kObservation{97};

inline Hash128 key_of(std::uint64_t number) {
    return hash128({reinterpret_cast<const char*>(&number), sizeof number}, 7);
}

inline HistoryQuery pages_of(std::size_t count) {
    HistoryQuery query;
    query.count = count;
    return query;
}

/// What the index finds in steps of `looks`, and the number of steps.
inline std::pair<HistoryPage, std::uint64_t> walked(const Index& index, const HistoryQuery& query,
                                                    std::uint64_t looks) {
    HistoryWalk walk(index, query, {});
    std::uint64_t steps = 1;
    while (!walk.advance(looks)) {
        ++steps;
    }
    EXPECT_TRUE(walk.advance(looks));  // The page is complete: nothing is added to it.
    return {std::move(walk.page()), steps};
}

/// An index and its model, always given the same.
class Pair {
  public:
    void add(std::uint64_t resource, TypeId type, std::uint64_t number, std::int64_t instant,
             bool deletion = false) {
        index.add(
            {.key = key_of(resource),
             .type = type,
             .position = {model.versions().size() + 1},
             .version = {number},
             .instant = {instant},
             .deletion = deletion,
             .location = {.segment = static_cast<std::uint32_t>(number), .offset = resource}});
        model.add(resource, type, {number}, {instant}, deletion);
    }

    void publish() { index.publish({model.versions().size()}); }

    void erase(std::uint64_t resource, Erase::Scope scope, std::uint64_t number = 0) {
        const IndexedErase erase{.key = key_of(resource), .scope = scope, .version = {number}};
        const std::uint64_t erasable = index.erasable(erase);
        const std::uint64_t erased = index.erase(erase);
        EXPECT_EQ(erased, erasable);
        EXPECT_EQ(erased, model.erase(resource, scope, {number}));
    }

    void check_resource(std::uint64_t resource, Position bound, Instant instant,
                        VersionNumber number) {
        const Hash128 key = key_of(resource);
        expect_same(index.current(key, bound), model.standing(resource, bound), "current");
        expect_same(index.current_at(key, instant, bound), model.standing(resource, bound, instant),
                    "current_at");
        expect_same(index.version(key, number), model.version(resource, number), "version");
        const Head head = index.head(key);
        const test::VersionModel::Version* newest = model.standing(resource);
        EXPECT_EQ(head.exists, newest != nullptr);
        EXPECT_EQ(head.version, newest == nullptr ? VersionNumber{} : newest->info.version);
        EXPECT_EQ(head.erased_through, model.erased_through(resource));
    }

    void check_history(const HistoryQuery& query, std::optional<std::uint64_t> resource) {
        const auto key = resource ? std::optional(key_of(*resource)) : std::nullopt;
        const HistoryPage expected = model.history(query, resource);
        EXPECT_EQ(test::difference(index.history(query, key), expected), "");
        if (!resource) {
            EXPECT_EQ(test::difference(walked(index, query, 1).first, expected), "");
            EXPECT_EQ(test::difference(walked(index, query, 1500).first, expected), "");
        }
    }

    void check_totals() {
        for (const std::optional<TypeId> type :
             {std::optional<TypeId>(), std::optional(kPatient), std::optional(kObservation)}) {
            const Totals found = index.totals(type);
            const Totals expected = model.totals(type);
            EXPECT_EQ(found.versions, expected.versions);
            EXPECT_EQ(found.live, expected.live);
            EXPECT_EQ(found.resources, expected.resources);
        }
    }

    Index index;
    test::VersionModel model;
};

}  // namespace annals::storage
