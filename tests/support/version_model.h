// VersionModel: the meaning of the store in the plainest words, to compare with: a list of versions, each erased or not.
//
// Threads: one. Everything is searched from end to end.

#pragma once

#include "storage/store.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace annals::test {

class VersionModel {
  public:
    struct Version {
        std::uint64_t resource = 0;  ///< any number that tells resources apart
        storage::VersionInfo info;
        bool erased = false;
        std::uint64_t chain = 0;  ///< how often its resource had become absent before
        std::vector<std::uint64_t> terms;
        std::string text;
    };

    static constexpr Instant kEver{std::numeric_limits<std::int64_t>::max()};

    void add(std::uint64_t resource, TypeId type, VersionNumber number, Instant instant,
             bool deletion, std::string text = {}, std::vector<std::uint64_t> terms = {});

    /// Returns how many versions it erased.
    std::uint64_t erase(std::uint64_t resource, storage::Erase::Scope scope, VersionNumber number);

    const std::vector<Version>& versions() const { return versions_; }

    Position last_position() const { return {versions_.size()}; }

    /// Versions of a resource's present life at or before `bound` (0: all), from the oldest that is not
    /// erased, erased ones among them.
    std::vector<const Version*> chain(std::uint64_t resource, Position bound = {}) const;

    /// The version that says how the resource stood at `bound` and `instant`; null: it was absent, or what it was then is
    /// erased (a deletion still counts where no instant is asked for).
    const Version* standing(std::uint64_t resource, Position bound = {},
                            Instant instant = kEver) const;

    const Version* version(std::uint64_t resource, VersionNumber number) const;
    VersionNumber erased_through(std::uint64_t resource) const;

    /// HistoryQuery::id is given as `resource`.
    storage::HistoryPage history(const storage::HistoryQuery& query,
                                 std::optional<std::uint64_t> resource) const;

    storage::Totals totals(std::optional<TypeId> type) const;

    /// One version per resource that was live then, by first appearance.
    std::vector<storage::VersionInfo> current_at(std::optional<TypeId> type, Instant instant,
                                                 Position bound) const;

  private:
    std::vector<std::uint64_t> resources() const;

    std::vector<Version> versions_;
    std::map<std::uint64_t, VersionNumber> erased_through_;
    std::map<std::uint64_t, std::uint64_t> chains_;
};

/// Equal in all that VersionInfo says but its handle.
bool same(const storage::VersionInfo& a, const storage::VersionInfo& b);

/// "" if the pages are equal, else where they differ first.
std::string difference(const storage::HistoryPage& found, const storage::HistoryPage& expected);

}  // namespace annals::test
