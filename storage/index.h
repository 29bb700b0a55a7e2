// Index: what the store knows of every version without touching the log. Derived; rebuilt at open.
//
// Layer:   storage. Store owns one; the log writer (or open()) feeds it, everyone reads it.
// Memory:  at most 64 bytes per version, its resource with it, beside 6 MiB; bytes() counts.
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

/// Where a record's bytes are: segment, and offset of the record in its file.
struct Location {
    std::uint32_t segment = 0;  ///< its slot in the SegmentTable
    std::uint64_t offset = 0;
};

/// One version as the log writer or recovery hands it over.
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

/// One erase as the log has it.
struct IndexedErase {
    Hash128 key;
    Erase::Scope scope = Erase::Scope::everything;
    VersionNumber version;
};

/// The key of a resource: XXH3-128 of "Type/id" under the store's own random seed, so that nobody can choose
/// ids that collide. Store::load compares the full key all the same.
Hash128 resource_key(std::uint64_t store_seed, TypeId type, std::string_view id) noexcept;

class Index {
  public:
    /// There can be no more: whoever gives positions sees to it. What was erased counts.
    static constexpr std::uint64_t kPositionMax = 0xffff'fffe;
    static constexpr std::uint32_t kResourcesMax = 0x7fff'fffe;

    Index();
    ~Index();
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    // ---- the writer's side ----

    /// Makes room before a bulk load, so that nothing grows while it runs.
    void reserve(std::uint64_t versions, std::uint64_t resources);

    /// Touches, from a thread beside the writer's, the memory that reserve() of so many in an empty index made:
    /// half of what opening a large store takes is the system's work of giving pages.
    void touch_reserved(std::uint64_t versions, std::uint64_t resources) const noexcept;

    /// Adds a version; invisible until publish().
    ///
    /// Requires: positions ascend without a gap; version numbers ascend within a resource.
    void add(const IndexedVersion& version);

    /// The same for many, faster: memory is fetched ahead.
    void add_batch(std::span<const IndexedVersion> batch);

    /// Publishes everything added so far, then applies an erase; both are seen at once. So a commit's
    /// erases stand before or after all of its versions. Returns how many versions it erased.
    ///
    /// Scope::version of the newest version erases only a deletion, and the resource stays deleted:
    /// current() and head() go on to report the deletion, version(), at(), history and totals don't
    /// know it. When a resource's last version goes, it is absent, whatever the scope;
    /// Head::erased_through is then its highest number ever, and the next add starts a new chain.
    /// `erased` gets the positions of what it erased, if it isn't null.
    std::uint64_t erase(const IndexedErase& erase, std::vector<Position>* erased = nullptr);

    /// Makes everything at or before `through` visible, atomically. Requires: it was added.
    void publish(Position through);

    /// The record of a version is found at `location` from now on. Any thread, one at a time; readers see either.
    void relocate(Position position, const Location& location) noexcept;

    // ---- the readers' side ----

    Position last_position() const noexcept;

    /// The newest version at or before `bound` (0: all visible); none if it was erased. An erased deletion
    /// still counts while its resource has versions: what it deleted does not come back.
    std::optional<VersionInfo> current(const Hash128& key, Position bound) const;
    std::optional<VersionInfo> version(const Hash128& key, VersionNumber number) const;
    std::optional<VersionInfo> current_at(const Hash128& key, Instant instant) const;
    std::optional<VersionInfo> at(Position position) const;

    /// The head of a resource among all that is visible; Head::ticket is 0.
    Head head(const Hash128& key) const;

    /// Brings into the nearer caches what a question about the resource looks at first.
    void fetch_ahead(const Hash128& key) const noexcept;

    /// How many versions of a resource erase() would remove; 0 if it names none or the current version
    /// of a live resource.
    std::uint64_t erasable(const IndexedErase& erase) const;

    /// What goes of resource `number` where the most recent versions are kept that `limits` say. Requires: number is below
    /// resource_count(). Cost: O(log n), or of the versions kept where some between were erased.
    std::optional<Surplus> surplus(std::uint32_t number, const HistoryLimits& limits) const;

    Location location(Position position) const;

    /// The last position of the commit that the version at `position`, erased or not, is of. Requires: it is visible.
    /// Cost: of the versions between.
    Position commit_end(Position position) const noexcept;
    Position commit_begin(Position position) const noexcept;

    /// A version in its resource's chain, erased or not.
    struct Link {
        VersionInfo info;
        Hash128 key;        ///< of the resource
        Position previous;  ///< 0: the first of its chain
        bool erased = false;
    };

    /// Requires: a position that is visible.
    Link link(Position position) const noexcept;
    Position previous(Position position) const noexcept;

    /// link() of many, faster: memory is fetched ahead. Requires: `links` has room for as many as `positions`.
    void links(std::span<const std::uint32_t> positions, std::span<Link> links) const noexcept;

    /// HistoryQuery::id is ignored: one resource is given as `key`. `more` is exact, and false where
    /// `count` is 0. Cost: of the page; with `since`, unless the total is known, also of the blocks of 1024 that
    /// `since` cuts; by instant, where instants were kept out of order, of the blocks whose spans of time overlap the page:
    /// up to every version where histories were brought in one by one. HistoryWalk does the same in steps.
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

    /// Memory that the index holds, in bytes.
    std::uint64_t bytes() const noexcept;

  private:
    friend class HistoryWalk;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
