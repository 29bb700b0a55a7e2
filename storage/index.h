// Index: what the store knows of every version without touching the log. Derived from it; rebuilt at open.
//
// Layer:   storage. Store owns one; the log writer (or open()) feeds it, everyone reads it.
// Memory:  at most 64 bytes per version, its resource included, plus 6 MiB; bytes() tells.
// Threads: add(), erase() and publish() from one thread at a time (the log writer's). Everything const from
//          any thread at any time: readers see what publish() made visible and take no lock that the
//          writer holds for longer than a pointer swap.

#pragma once

#include "core/base/digest.h"
#include "storage/store.h"
#include "storage/types.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace annals::storage {

/// Where a record is: its segment, and its offset in the file.
struct Location {
    std::uint32_t segment = 0;  ///< its slot in the SegmentTable
    std::uint64_t offset = 0;
};

/// One version, as the log writer or recovery adds it.
struct IndexedVersion {
    Hash128 key;  ///< resource_key() of type and id
    TypeId type;
    Position position;
    VersionNumber version;
    Instant instant;
    bool deletion = false;
    bool continues = false;  ///< it is of the same commit as the version before it
    Location location;
};

/// One erase record.
struct IndexedErase {
    Hash128 key;
    Erase::Scope scope = Erase::Scope::everything;
    VersionNumber version;
};

/// The key of a resource: XXH3-128 of "Type/id" under the store's own random seed, so that nobody can choose
/// ids that collide. Look-ups compare all of it.
Hash128 resource_key(std::uint64_t store_seed, TypeId type, std::string_view id) noexcept;

/// The same of `name`, which is "Type/id".
Hash128 resource_key(std::uint64_t store_seed, std::string_view name) noexcept;

class Index {
  public:
    /// Upper limits, enforced by the code that assigns positions; erased versions count.
    static constexpr std::uint64_t kPositionMax = 0xffff'fffe;
    static constexpr std::uint32_t kResourcesMax = 0x7fff'fffe;

    Index();
    ~Index();
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    // ---- the writer's side ----

    /// Makes room before a bulk load, so that nothing grows while it runs.
    void reserve(std::uint64_t versions, std::uint64_t resources);

    /// Pre-faults, from a thread other than the writer's, the memory that reserve() of the same counts made in an empty index:
    /// half the time of opening a large store is the kernel providing pages.
    void touch_reserved(std::uint64_t versions, std::uint64_t resources) const noexcept;

    /// Adds a version; invisible until publish().
    ///
    /// Requires: positions ascend without a gap; version numbers ascend within a resource.
    void add(const IndexedVersion& version);

    /// add() for many, faster: memory is prefetched.
    void add_batch(std::span<const IndexedVersion> batch);

    /// Publishes everything added so far and applies an erase; both become visible together. A commit's
    /// erases therefore come before or after all of its versions. Returns how many versions it erased.
    ///
    /// Scope::version of the newest version erases only a deletion, and the resource stays deleted:
    /// current() and head() continue to report the deletion, while version(), at(), history and totals
    /// no longer have it. A resource whose last version is erased is absent, whatever the scope;
    /// Head::erased_through is then its highest number ever, and the next add starts a new chain.
    /// `erased`, if not null, receives the positions of what was erased.
    std::uint64_t erase(const IndexedErase& erase, std::vector<Position>* erased = nullptr);

    /// Makes everything at or before `through` visible, atomically. Requires: it was added.
    void publish(Position through);

    /// Points a version to another location of its record. Any thread, one at a time; readers see the old or the new one.
    void relocate(Position position, const Location& location) noexcept;

    // ---- the readers' side ----

    Position last_position() const noexcept;

    /// The newest version at or before `bound` (0: all visible); none if it was erased. An erased deletion
    /// still counts while its resource has versions: what it deleted does not come back.
    std::optional<VersionInfo> current(const Hash128& key, Position bound) const;
    std::optional<VersionInfo> version(const Hash128& key, VersionNumber number) const;
    std::optional<VersionInfo> current_at(const Hash128& key, Instant instant,
                                          Position bound) const;
    std::optional<VersionInfo> at(Position position) const;

    /// The head of a resource among all that is visible; Head::ticket is 0.
    Head head(const Hash128& key) const;

    /// As Store::fetch_ahead().
    void fetch_ahead(const Hash128& key) const noexcept;

    /// How many versions of a resource erase() would remove; 0 if it names none or the current version
    /// of a live resource.
    std::uint64_t erasable(const IndexedErase& erase) const;

    /// As Store::surplus(). Requires: `number` is below resource_count().
    std::optional<Surplus> surplus(std::uint32_t number, const HistoryLimits& limits) const;

    Location location(Position position) const;

    /// The last and first position of the commit of the version at `position`, erased or not.
    /// Requires: it is visible. Cost: O(versions between).
    Position commit_end(Position position) const noexcept;
    Position commit_begin(Position position) const noexcept;

    /// A version in its resource's chain, erased or not.
    struct Link {
        VersionInfo info;
        Hash128 key;        ///< of the resource
        Position previous;  ///< 0: the first of its chain
        bool erased = false;
    };

    /// Requires: the position is visible.
    Link link(Position position) const noexcept;
    Position previous(Position position) const noexcept;

    /// link() of many, faster: memory is prefetched. Requires: `links` is as long as `positions`.
    void links(std::span<const std::uint32_t> positions, std::span<Link> links) const noexcept;

    /// A page of history, of one resource if `key` is given; HistoryQuery::id is ignored. `more` is exact, and false if
    /// `count` is 0. HistoryWalk does the same in steps.
    /// Cost: O(page); with `since`, unless the total is known, plus the blocks of 1,024 versions that `since` cuts; in an order
    ///       by instant where instants do not ascend, plus the blocks whose time spans overlap the page, which can be every
    ///       version if histories were imported one resource after another.
    HistoryPage history(const HistoryQuery& query, const std::optional<Hash128>& key) const;

    std::vector<VersionInfo> current_at(std::optional<TypeId> type, Instant instant, Position bound,
                                        std::uint32_t& from, std::uint32_t count_scanned) const;
    std::uint32_t resource_count() const noexcept;

    /// As Store::before().
    Position before(Instant instant) const;

    /// As Store::was_live_at().
    bool was_live_at(const VersionInfo& info, Instant instant, Position bound) const;

    /// As Store::scan().
    void scan(const LogScan& what, Position& after, std::uint64_t count_scanned,
              std::vector<VersionInfo>& found) const;

    Totals totals(std::optional<TypeId> type) const;

    /// As Store::instants_ascend().
    bool instants_ascend(std::optional<TypeId> type) const noexcept;

    /// Memory that the index holds, in bytes.
    std::uint64_t bytes() const noexcept;

  private:
    friend class HistoryWalk;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
