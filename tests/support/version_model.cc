#include "tests/support/version_model.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace annals::test {

using storage::Erase;
using storage::HistoryOrder;
using storage::HistoryPage;
using storage::HistoryQuery;
using storage::Totals;
using storage::VersionInfo;

void VersionModel::add(std::uint64_t resource, TypeId type, VersionNumber number, Instant instant,
                       bool deletion, std::string text, std::vector<std::uint64_t> terms) {
    VersionInfo info;
    info.position = {versions_.size() + 1};
    info.version = number;
    info.instant = instant;
    info.type = type;
    info.deletion = deletion;
    versions_.push_back(
        {resource, info, false, chains_[resource], std::move(terms), std::move(text)});
}

std::uint64_t VersionModel::erase(std::uint64_t resource, Erase::Scope scope,
                                  VersionNumber number) {
    const Version* newest = standing(resource);
    if (newest == nullptr) {
        return 0;
    }
    const bool live = !newest->info.deletion;
    VersionNumber& through = erased_through_[resource];
    std::uint64_t count = 0;
    bool any_left = false;
    for (Version& version : versions_) {
        if (version.resource != resource || version.erased) {
            continue;
        }
        const bool kept = live && &version == newest;
        if (scope == Erase::Scope::everything ||
            (scope == Erase::Scope::all_but_current && !kept) ||
            (scope == Erase::Scope::version && version.info.version == number && !kept) ||
            (scope == Erase::Scope::through && version.info.version <= number &&
             &version != newest)) {
            version.erased = true;
            ++count;
            through = std::max(through, version.info.version);
        }
        any_left = any_left || !version.erased;
    }
    if (!any_left) {
        through = std::max(through, newest->info.version);
        ++chains_[resource];
    }
    return count;
}

std::vector<const VersionModel::Version*> VersionModel::chain(std::uint64_t resource,
                                                              Position bound) const {
    std::vector<const Version*> found;
    const auto found_life = chains_.find(resource);
    const std::uint64_t life = found_life == chains_.end() ? 0 : found_life->second;
    for (const Version& version : versions_) {
        if (version.resource == resource && version.chain == life &&
            (bound.value == 0 || version.info.position <= bound) &&
            (!found.empty() || !version.erased)) {
            found.push_back(&version);
        }
    }
    return found;
}

const VersionModel::Version* VersionModel::standing(std::uint64_t resource, Position bound,
                                                    Instant instant) const {
    const auto all = chain(resource, bound);
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        if ((*at)->info.instant <= instant) {
            const bool deleted_now = (*at)->info.deletion && instant == kEver;
            return !(*at)->erased || deleted_now ? *at : nullptr;
        }
    }
    return nullptr;
}

const VersionModel::Version* VersionModel::version(std::uint64_t resource,
                                                   VersionNumber number) const {
    for (const Version* version : chain(resource)) {
        if (version->info.version == number && !version->erased) {
            return version;
        }
    }
    return nullptr;
}

VersionNumber VersionModel::erased_through(std::uint64_t resource) const {
    const auto found = erased_through_.find(resource);
    return found == erased_through_.end() ? VersionNumber{} : found->second;
}

HistoryPage VersionModel::history(const HistoryQuery& query,
                                  std::optional<std::uint64_t> resource) const {
    std::vector<VersionInfo> all;
    for (const Version& version : versions_) {
        if (!version.erased && (query.bound.value == 0 || version.info.position <= query.bound) &&
            (resource ? version.resource == *resource
                      : !query.type || version.info.type == *query.type) &&
            (!query.since || version.info.instant >= *query.since)) {
            all.push_back(version.info);
        }
    }
    const auto before = [&](const VersionInfo& a, const VersionInfo& b) {
        switch (query.order) {
            case HistoryOrder::newest_first:
                return a.position > b.position;
            case HistoryOrder::oldest_first:
                return a.position < b.position;
            case HistoryOrder::last_updated:
                return std::tie(a.instant, a.position) < std::tie(b.instant, b.position);
            case HistoryOrder::last_updated_reverse:
                return std::tie(a.instant, a.position) > std::tie(b.instant, b.position);
        }
        return false;
    };
    std::sort(all.begin(), all.end(), before);
    HistoryPage page;
    page.total = all.size();
    if (query.count == 0) {
        return page;
    }
    std::uint64_t skip = query.skip;
    for (const VersionInfo& info : all) {
        if (query.after && !before(*query.after, info)) {
            continue;
        }
        if (skip > 0) {
            --skip;
        } else if (page.versions.size() == query.count) {
            page.more = true;
            break;
        } else {
            page.versions.push_back(info);
        }
    }
    return page;
}

std::vector<std::uint64_t> VersionModel::resources() const {
    std::vector<std::uint64_t> all;
    std::set<std::uint64_t> seen;
    for (const Version& version : versions_) {
        if (seen.insert(version.resource).second) {
            all.push_back(version.resource);
        }
    }
    return all;
}

Totals VersionModel::totals(std::optional<TypeId> type) const {
    Totals totals;
    for (const Version& version : versions_) {
        totals.versions += !version.erased && (!type || version.info.type == *type) ? 1 : 0;
    }
    for (const std::uint64_t resource : resources()) {
        const Version* newest = standing(resource);
        if (newest != nullptr && (!type || newest->info.type == *type)) {
            ++totals.resources;
            totals.live += newest->info.deletion ? 0 : 1;
        }
    }
    return totals;
}

std::vector<VersionInfo> VersionModel::current_at(std::optional<TypeId> type, Instant instant,
                                                  Position bound) const {
    std::vector<VersionInfo> found;
    for (const std::uint64_t resource : resources()) {
        const Version* then = standing(resource, bound, instant);
        if (then != nullptr && !then->info.deletion && (!type || then->info.type == *type)) {
            found.push_back(then->info);
        }
    }
    return found;
}

bool same(const VersionInfo& a, const VersionInfo& b) {
    return a.position == b.position && a.version == b.version && a.instant == b.instant &&
           a.type == b.type && a.deletion == b.deletion;
}

void expect_same(const std::optional<VersionInfo>& found, const VersionModel::Version* expected,
                 std::string_view what) {
    ASSERT_EQ(found.has_value(), expected != nullptr) << what;
    if (expected != nullptr) {
        EXPECT_TRUE(same(*found, expected->info))
            << what << ": position " << found->position.value << " instead of "
            << expected->info.position.value;
    }
}

std::string difference(const HistoryPage& found, const HistoryPage& expected) {
    if (found.total != expected.total || found.more != expected.more ||
        found.versions.size() != expected.versions.size()) {
        return fmt::format("{} versions of {}, more: {}; expected {} of {}, more: {}",
                           found.versions.size(), found.total, found.more, expected.versions.size(),
                           expected.total, expected.more);
    }
    for (std::size_t i = 0; i < found.versions.size(); ++i) {
        if (!same(found.versions[i], expected.versions[i])) {
            return fmt::format("entry {} has position {} instead of {}", i,
                               found.versions[i].position.value,
                               expected.versions[i].position.value);
        }
    }
    return {};
}

}  // namespace annals::test
