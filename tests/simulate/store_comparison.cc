#include "tests/simulate/store_comparison.h"

#include "storage/verify.h"
#include "tests/support/search_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace annals::storage {
namespace {

using test::VersionModel;

bool same_totals(const Totals& a, const Totals& b) {
    return a.versions == b.versions && a.live == b.live && a.resources == b.resources;
}

void expect_same(const std::vector<VersionInfo>& found, const std::vector<VersionInfo>& expected,
                 const char* what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(test::same(found[i], expected[i])) << what << ": entry " << i;
    }
}

}  // namespace

bool StoreComparison::holds() const {
    if (store_.last_position() != model_.last_position() ||
        !same_totals(store_.totals(), model_.totals({}))) {
        return false;
    }
    for (std::uint64_t type = 0; type < std::size(kTypes); ++type) {
        for (std::uint64_t i = 0; i < resources_; ++i) {
            const std::uint64_t resource = type * kPerType + i;
            const Head head = store_.head(type_of(resource), id_of(resource));
            const VersionModel::Version* newest = model_.standing(resource);
            if (head.exists != (newest != nullptr) ||
                head.erased_through != model_.erased_through(resource) ||
                (newest != nullptr && head.position != newest->info.position)) {
                return false;
            }
        }
    }
    return true;
}

void StoreComparison::expect_loads(const VersionModel::Version& version) const {
    const auto loaded = store_.load(version.info);
    ASSERT_TRUE(loaded) << loaded.error().detail;
    EXPECT_EQ(loaded->id, id_of(version.resource));
    EXPECT_EQ(loaded->body,
              version.info.deletion
                  ? std::string()
                  : test::expected_body(type_name(version.resource), id_of(version.resource),
                                        version.text, version.info.version, version.info.instant));
}

void StoreComparison::expect_totals(std::optional<TypeId> type) const {
    EXPECT_TRUE(same_totals(store_.totals(type), model_.totals(type)));
}

Instant StoreComparison::pick_instant() {
    const auto& versions = model_.versions();
    return versions.empty() || pick(4) == 0 ? Instant{static_cast<std::int64_t>(pick(3'000'000))}
                                            : versions[pick(versions.size())].info.instant;
}

void StoreComparison::some() {
    const std::uint64_t size = model_.versions().size();
    for (int round = 0; round < 4; ++round) {
        const std::uint64_t resource = pick(std::size(kTypes)) * kPerType + pick(resources_);
        const TypeId type = type_of(resource);
        const std::string id = id_of(resource);
        const Position bound{pick(size + 2)};
        const Instant instant = pick_instant();
        const VersionNumber number{1 + pick(12)};
        const VersionModel::Version* standing = model_.standing(resource, bound);
        expect_same(store_.current(type, id, bound), standing, "current");
        expect_same(store_.version(type, id, number), model_.version(resource, number), "version");
        expect_same(store_.current_at(type, id, instant, bound),
                    model_.standing(resource, bound, instant), "current_at");
        if (standing != nullptr && !standing->erased) {
            expect_loads(*standing);
        }
        const bool typed = pick(3) != 0;
        const auto some_type = typed ? std::optional(type) : std::nullopt;
        expect_totals(some_type);
        std::uint32_t from = 0;
        std::vector<VersionInfo> then;
        while (from < store_.resource_count()) {
            const auto found = store_.current_at(some_type, instant, bound, from,
                                                 static_cast<std::uint32_t>(1 + pick(20)));
            then.insert(then.end(), found.begin(), found.end());
        }
        expect_same(then, model_.current_at(some_type, instant, bound), "current_at of all");
        page_through(some_type, typed && pick(2) == 0 ? std::optional(resource) : std::nullopt,
                     bound);
    }
}

/// Reads a chain of pages from a random start, each beginning after the last version of the one before.
void StoreComparison::page_through(std::optional<TypeId> type,
                                   std::optional<std::uint64_t> resource, Position bound) {
    HistoryQuery query;
    query.type = type;
    const std::string id = resource ? id_of(*resource) : "";
    if (resource) {
        query.id = id;
    }
    query.order = static_cast<HistoryOrder>(pick(4));
    query.bound = bound;
    query.count = pick(8) == 0 ? 0 : 1 + pick(30);
    query.skip = pick(4) == 0 ? pick(30) : 0;
    if (pick(2) == 0) {
        query.since = pick_instant();
    }
    for (int page = 0; page < 6; ++page) {
        const HistoryPage found = store_.history(query);
        ASSERT_EQ(test::difference(found, model_.history(query, resource)), "");
        if (!found.more) {
            break;
        }
        query.after = found.versions.back();
        query.skip = 0;
    }
}

void StoreComparison::everything(FileSystem& fs, const std::string& directory) {
    some();
    for (const VersionModel::Version& version : model_.versions()) {
        expect_same(store_.at(version.info.position), version.erased ? nullptr : &version, "at");
        if (!version.erased) {
            expect_loads(version);
        }
    }
    const auto report = verify(fs, directory);
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->versions, model_.versions().size());
    EXPECT_EQ(report->bodies_left, 0U);
    EXPECT_TRUE(same_totals({report->visible_versions, report->live, report->resources},
                            model_.totals({})));
}

void StoreComparison::search() const {
    for (std::uint64_t type = 0; type < std::size(kTypes); ++type) {
        for (std::uint64_t term = 1; term <= kTerms; ++term) {
            const std::string word = word_of(term);
            std::set<std::uint64_t> expected;
            for (std::uint64_t i = 0; i < resources_; ++i) {
                const VersionModel::Version* newest = model_.standing(type * kPerType + i);
                if (newest != nullptr && !newest->erased && !newest->info.deletion &&
                    std::ranges::count(newest->terms, test::word_term(word)) > 0) {
                    expected.insert(newest->info.position.value);
                }
            }
            ASSERT_EQ(test::find_word(store_, kTypes[type], word), expected)
                << kTypes[type] << " " << word;
        }
    }
}

}  // namespace annals::storage
