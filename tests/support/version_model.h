// VersionModel: the meaning of the store in its simplest form, to compare with: a list of versions, each erased or not.
//
// Threads: one. All searches are linear.

#pragma once

#include "storage/store.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::test {

class VersionModel {
  public:
    struct Version {
        std::uint64_t resource = 0;  ///< any number that identifies the resource
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

    /// Versions of a resource's current life at or before `bound` (0: all), from the oldest one not
    /// erased, including erased ones.
    std::vector<const Version*> chain(std::uint64_t resource, Position bound = {}) const;

    /// The version that was current at `bound` and `instant`; null: the resource was absent, or that version is
    /// erased (a deletion still counts if no instant is given).
    const Version* standing(std::uint64_t resource, Position bound = {},
                            Instant instant = kEver) const;

    const Version* version(std::uint64_t resource, VersionNumber number) const;
    VersionNumber erased_through(std::uint64_t resource) const;

    /// `resource` replaces HistoryQuery::id.
    storage::HistoryPage history(const storage::HistoryQuery& query,
                                 std::optional<std::uint64_t> resource) const;

    storage::Totals totals(std::optional<TypeId> type) const;

    /// One version per resource that was live then, ordered by first appearance.
    std::vector<storage::VersionInfo> current_at(std::optional<TypeId> type, Instant instant,
                                                 Position bound) const;

  private:
    std::vector<std::uint64_t> resources() const;

    std::vector<Version> versions_;
    std::map<std::uint64_t, VersionNumber> erased_through_;
    std::map<std::uint64_t, std::uint64_t> chains_;
};

/// Whether they are equal in everything but the handle.
bool same(const storage::VersionInfo& a, const storage::VersionInfo& b);

/// Expects `found` to be the model's version; null: none.
void expect_same(const std::optional<storage::VersionInfo>& found,
                 const VersionModel::Version* expected, std::string_view what);

/// "" if the pages are equal, else their first difference.
std::string difference(const storage::HistoryPage& found, const storage::HistoryPage& expected);

}  // namespace annals::test
