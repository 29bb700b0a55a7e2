// Store: the face of storage. A durable, versioned map of (type, id) to versions, in commit order.
//
// Layer:   storage; depends on core/base only, knows no event loop.
// Format:  docs/format.md.
// Threads: every member from any thread unless its comment says otherwise. One thread, the log
//          writer, belongs to the store; listeners are called from it.

#pragma once

#include "core/base/result.h"
#include "storage/search_index.h"
#include "storage/types.h"
#include "storage/write_watch.h"

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

class FileSystem;
class HistoryWalk;

/// When a commit settles and becomes visible (contract: `durability`). What a power cut takes, where it may take anything,
/// are always the newest commits, whole; a process that is killed loses nothing.
enum class Durability : std::uint8_t {
    commit,    ///< after fdatasync, grouped
    interval,  ///< after write(); synced every sync_interval_ms
    none,      ///< after write(); synced by the operating system, and a segment when it is full
};

class Store;

/// Fills `entries` with what a version can be found by; its instant and its resource the store adds. Errors: go to
/// the log; the version can't be found by anything else then.
using SearchExtract = std::function<Result<void>(TypeId type, std::string_view id,
                                                 std::string_view body, SearchEntries& entries)>;

/// How versions are made findable: core/search in the store's words.
struct SearchSetup {
    std::function<SearchExtract()> extractor;  ///< makes one for one thread; called from any thread
    /// Of all that the entries of a type depend on; not 0.
    std::array<std::uint64_t, kResourceTypeCount> fingerprints{};
    std::uint64_t last_updated_column = 0;                   ///< the column of versions' instants
    std::uint64_t (*identity)(std::uint64_t key) = nullptr;  ///< the term of a resource
};

struct StoreOptions {
    Durability durability = Durability::commit;
    std::uint32_t sync_interval_ms = 100;
    std::uint64_t segment_bytes = 128ULL << 20;  ///< a larger commit gets a segment of its own size
    bool prepare_segments = true;             ///< fill the next segment with zeros ahead of its use
    std::uint64_t kept_bytes = 0;             ///< DropBehind's
    bool read_only = false;                   ///< takes no lock, cuts no tail, accepts no commit
    bool allow_damaged = false;               ///< with read_only: serve what is whole
    std::function<Instant()> clock;           ///< default: now()
    bool pack_segments = false;               ///< compress sealed segments in the background
    std::chrono::milliseconds pack_after{0};  ///< so long after their last commit

    /// Called once while the store opens: it can be read then, but not searched. Null: nothing is indexed.
    std::function<SearchSetup(const Store& store)> search;
    SearchIndexOptions search_index;
    std::uint64_t search_checkpoint_versions = 32'768;  ///< so many new ones bring a checkpoint
    std::uint64_t body_bytes_max = ~0ULL;  ///< a version with a larger body is too_large
};

/// A place where the store is not what was written.
struct Damage {
    std::string segment;  ///< file name
    std::uint64_t offset = 0;
    std::string reason;
};

/// What opening found and did.
struct OpenReport {
    std::uint64_t segments = 0;
    std::uint64_t versions = 0;
    std::uint64_t resources = 0;
    std::uint64_t torn_bytes_cut = 0;
    std::uint64_t versions_extracted = 0;  ///< for search, as no checkpoint had them
    std::vector<Damage> damages;           ///< only with allow_damaged; otherwise opening fails
    double seconds = 0;
};

/// Hears of settled commits, in ticket order; called on the log writer's thread where nothing else is said.
class SettleListener {
  public:
    virtual ~SettleListener() = default;

    /// Every accepted submission up to and with `through` that was not settled before now is: durable
    /// and visible if `ok`, otherwise dropped as if it had never been submitted (Errc in `why`).
    /// Must not block nor throw.
    virtual void settled(Ticket through, bool ok, Errc why) noexcept = 0;

    /// Of all that commits up to and with `through` erased and that was not told of before, no byte is left on disk if
    /// `ok`; otherwise it is for the next opening to take care of (Errc in `why`). Comes after settled(), from another
    /// thread. Must not block nor throw.
    virtual void erased(Ticket /*through*/, bool /*ok*/, Errc /*why*/) noexcept {}
};

/// In which order a history scan goes.
enum class HistoryOrder : std::uint8_t {
    newest_first,          ///< commit order, downwards (FHIR's default; `-_position`)
    oldest_first,          ///< commit order, upwards (`_position`)
    last_updated,          ///< by instant upwards, commit order breaking ties
    last_updated_reverse,  ///< by instant downwards, commit order (newest first) breaking ties
};

/// One page of history.
struct HistoryQuery {
    std::optional<TypeId> type;          ///< none: the whole store
    std::optional<std::string_view> id;  ///< with type: one resource
    HistoryOrder order = HistoryOrder::newest_first;
    std::optional<Instant> since;  ///< only versions at or after this instant
    Position bound;                ///< only versions at or before this position (0: all visible)
    std::optional<VersionInfo> after;  ///< go on after this version (position and instant count)
    std::uint64_t skip = 0;            ///< leave out so many first (`_offset`)
    std::size_t count = 0;             ///< at most so many; 0: none, the total alone
    std::optional<std::uint64_t> total =
        {};  ///< of a type or the store: what HistoryPage::total is to be, if it need not be counted
};

struct HistoryPage {
    std::vector<VersionInfo> versions;
    std::uint64_t total = 0;  ///< of all that match type, id, since and bound; not of the page
    bool more = false;        ///< at least one version matches beyond this page
};

/// How many versions of each resource history cleanup keeps, by type; 0: all.
struct HistoryLimits {
    std::array<std::uint64_t, kResourceTypeCount> keep{};
};

/// What a resource has beyond that.
struct Surplus {
    VersionNumber through;       ///< this one and all before it go
    std::uint64_t versions = 0;  ///< that go
};

class HistoryCleanup;

/// How far compaction is.
struct CompactionProgress {
    bool running = false;
    bool ended = false;               ///< by a fault of the device, until the store is opened again
    std::uint64_t segments_done = 0;  ///< since the store was opened
    std::uint64_t segments_left = 0;  ///< now, with anything dead
    std::uint64_t bytes_read = 0;     ///< since the store was opened
    std::uint64_t bytes_freed = 0;
    std::uint64_t dead_bytes = 0;          ///< that it could give back now
    std::uint64_t segments_packed = 0;     ///< since the store was opened
    std::uint64_t pack_bytes_read = 0;     ///< of files that were packed
    std::uint64_t pack_bytes_written = 0;  ///< what they came to
};

/// What a scan of the log is to find.
struct LogScan {
    Position bound{};            ///< versions at or before it; 0: all visible
    bool every_version = false;  ///< not only what was its resource's newest at `bound`
    std::optional<Instant> since{};
    std::optional<Instant> before{};
};

/// Counters for /metrics; all since opening unless said.
struct StoreMetrics {
    std::uint64_t commits = 0;
    std::uint64_t versions_written = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t syncs = 0;
    double sync_seconds = 0;             ///< sum of the time spent in fdatasync
    std::uint64_t bodies_erased = 0;     ///< taken out of segments
    std::uint64_t cleanup_cycles = 0;    ///< of history cleanup, ended
    std::uint64_t cleanup_versions = 0;  ///< removed by it
    Instant cleanup_ended;               ///< the last one; 0: none yet
    CompactionProgress compaction;
    std::uint64_t segments = 0;                 ///< now
    std::uint64_t segments_packed = 0;          ///< of them
    std::uint64_t log_bytes = 0;                ///< now, on disk
    std::uint64_t index_bytes = 0;              ///< now, in memory
    std::uint64_t gathered_bytes = 0;           ///< now, submitted and not yet settled
    SearchIndexStats search;                    ///< now, but for merges
    std::uint64_t search_checkpoints = 0;       ///< written
    std::uint64_t search_checkpoint_bytes = 0;  ///< now, on disk
};

/// Can the store take writes? no_space: not while there is too little space, or too few descriptors.
enum class WriteState : std::uint8_t { ready, no_space, failed, read_only };

class Store {
  public:
    /// Opens or creates the store in `directory` and locks it to this process.
    ///
    /// Lifetime: `fs` outlives the store.
    /// Errors:   usage (locked by another process, or a newer format; names the path), corrupt
    ///           (damage; names segment and offset), io.
    static Result<std::unique_ptr<Store>> open(FileSystem& fs, std::string directory,
                                               StoreOptions options, OpenReport* report = nullptr);

    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    /// As close(), which tells whether it went well.
    ~Store();

    /// Flushes what was submitted, syncs and stops the writer; what is stored can be read until the store goes. For who
    /// has to know whether all of it is on the device. Requires: nobody submits any more. Errors: io: something that was
    /// acknowledged may not be, which can't happen with Durability::commit.
    Result<void> close();

    // ---- writing ----

    /// Decides `commit` in submission order and, if accepted, numbers its versions and gathers it
    /// into the log's next batch. Never blocks on the device. The writer is not woken: call flush()
    /// once after the submissions of one turn of the event loop.
    ///
    /// Durability: none yet; the ticket settles later (SettleListener, or wait()).
    Submission submit(Commit commit);

    /// Wakes the log writer if anything is gathered and it is idle; otherwise costs a load.
    void flush() noexcept;

    /// The same for a loop that has nothing else to do: while a batch is being written, what is gathered is left to
    /// whoever flushes next, since those who are told of that batch may come back; once nobody has submitted for 10 ms,
    /// at the latest.
    void flush_idle() noexcept;

    /// The same for a loop that always has something to do: if anything has been gathered for so long.
    void flush_older(std::chrono::milliseconds age) noexcept;

    /// Flushes and blocks until `ticket` has settled. For tools and tests, never on a network thread.
    Result<void> wait(Ticket ticket);

    /// Blocks until the bodies of what `ticket` erased are gone from the disk, but for those of damaged records, which stay.
    /// Requires: it has settled. For tools and tests. Errors: no_store, corrupt, io: they are gone when the store has been opened again.
    Result<void> wait_erased(Ticket ticket);

    /// Adds or removes a listener. Lifetime: the listener outlives its registration; when
    /// remove_listener returns no call is under way.
    void add_listener(SettleListener& listener);
    void remove_listener(SettleListener& listener);

    WriteState write_state() const noexcept;

    /// How long the device has been busy with what is being written to the log; zero if nothing is.
    std::chrono::steady_clock::duration write_wait() const noexcept;

    /// The newest ticket that was handed out: once it has settled, so has all that was submitted before the call.
    Ticket last_ticket() const;

    // ---- keeping house ----

    /// Begins to clean histories (storage/history_cleanup.h), soon and then every `interval`, until the store is closed.
    void start_history_cleanup(const HistoryLimits& limits, std::chrono::milliseconds interval);

    /// Begins to write sealed segments anew without what was erased from them (by themselves they are only when a quarter
    /// of them is dead), packed if StoreOptions say so, and says how far that is. Without `hurry` at a pace that writers hardly notice.
    void compact(bool hurry = false);
    CompactionProgress compaction() const;

    /// What compact() would do now: `segments_left` and `dead_bytes`. Cost: looks at every erased version.
    CompactionProgress measure_compaction() const;

    /// Blocks until compact() is done. For tools and tests. Errors: no_store, io, corrupt (of the last segment that could
    /// not be compacted; it is as it was).
    Result<void> wait_compacted();

    /// What resource number `resource` (below resource_count()) has beyond `limits`; none if nothing. Cost: O(log n), or of
    /// the versions kept where some between were erased.
    std::optional<Surplus> surplus(std::uint32_t resource, const HistoryLimits& limits) const;

    /// For metrics(): a cycle has ended, which removed so many.
    void note_cleanup(std::uint64_t versions) noexcept;

    // ---- reading: all that is visible, which with Durability::commit is durable ----

    /// The newest visible position.
    Position last_position() const noexcept;

    /// How many hard deletes of live resources are visible, since the store was opened (Guard::hard_deletes).
    std::uint64_t hard_deletes() const noexcept;

    /// Begins to watch what is submitted; null if too many watch already. Lifetime: the store outlives it.
    std::unique_ptr<WriteWatch> watch(TypeId type, WriteWatch::Concerns concerns);

    /// The newest version of a resource at or before `bound` (default: all visible), deletion or not;
    /// none if the resource was absent.
    std::optional<VersionInfo> current(TypeId type, std::string_view id, Position bound = {}) const;

    /// One version of a resource by number.
    std::optional<VersionInfo> version(TypeId type, std::string_view id,
                                       VersionNumber number) const;

    /// The version of a resource that was current at `instant`: of those at or before it, the one with
    /// the highest number; deletion or not. None if that one was erased: the one before it was not current then.
    std::optional<VersionInfo> current_at(TypeId type, std::string_view id, Instant instant) const;

    /// The version at a position, if it was not erased.
    std::optional<VersionInfo> at(Position position) const;

    /// What the log knows of a resource, submitted commits included (for If-Match diagnostics).
    Head head(TypeId type, std::string_view id) const;

    /// To be called a microsecond before a resource is asked about or written: what is looked at first is fetched into the
    /// nearer caches meanwhile.
    void fetch_ahead(TypeId type, std::string_view id) const noexcept;

    /// The last position of the commit that the version at `position`, erased or not, is of; at or beyond the newest
    /// visible one, `position` itself. A commit is visible as a whole or not at all. Cost: of the versions between.
    Position commit_end(Position position) const noexcept;

    /// Of the version at a position, erased or not: search_key() of its resource, and whether it is a deletion.
    struct Trace {
        std::uint64_t key = 0;
        bool deletion = false;
    };

    /// Requires: the position is visible.
    Trace trace(Position position) const noexcept;

    /// The first position of the commit that the version at `position`, erased or not, is of. Requires: it is visible.
    /// Cost: of the versions between.
    Position commit_begin(Position position) const noexcept;

    /// Commit::request of the commit whose last version is at `commit_end`; empty if none was kept, or if anything of it
    /// was erased. Cost: reads the log there.
    std::string request_of(Position commit_end) const;

    /// Up to where the log is durable and visible: what a backup takes. None in a read-only store.
    std::optional<LogEnd> log_end() const;

    /// Held by who writes into a segment that is not at its end, from looking whether its file has one name until it is
    /// written; a backup holds it while it gives such a file another name. Not for threads that may not wait.
    std::mutex& segment_files() const noexcept;

    /// The bytes of a version, checksum verified. Errors: corrupt, not_found (erased meanwhile).
    Result<StoredVersion> load(const VersionInfo& info) const;

    /// load(), if it need not wait for the device; else StoredVersion::unread is set: what it looks at must be fetched first.
    Result<StoredVersion> load_resident(const VersionInfo& info) const;

    /// Of `versions`, the positions of those that load() would have to wait for the device for; they may be of elsewhere than
    /// the store, too. Cost: a look-up each.
    std::vector<Position> unread(std::span<const VersionInfo> versions) const;

    /// Brings what load() of the version at `position` looks at into memory, and calls `done`, both on a thread of the
    /// store's, which `done` must not keep. What was asked for before the store closes is done.
    void fetch(Position position, std::function<void()> done) const;

    /// Whether `mapped`, bytes of any mapping, can be looked at without waiting for the device.
    bool in_memory(std::string_view mapped) const noexcept;

    /// The same as fetch() for such bytes. Lifetime: they stay mapped until `done` is called.
    void fetch(std::string_view mapped, std::function<void()> done) const;

    /// A page of history. Cost: of the page, and of the total O(1) without `since`; with it, or by instant, it can be all
    /// versions.
    HistoryPage history(const HistoryQuery& query) const;

    /// The same in steps (storage/history_walk.h): for a thread that others wait for.
    HistoryWalk walk_history(const HistoryQuery& query) const;

    /// Versions current at `instant`, one per resource that was live then, in order of the resources'
    /// first appearance; looks at `count_scanned` resources at most, starting with resource number
    /// `from`, and moves `from` on (to the end: resource_count()).
    std::vector<VersionInfo> current_at(std::optional<TypeId> type, Instant instant, Position bound,
                                        std::uint32_t& from, std::uint32_t count_scanned) const;
    std::uint32_t resource_count() const noexcept;

    /// The position at which the store stood just before the first version of `instant` or later that is not erased; where
    /// erased ones of then stand right before that, before them, for they would hide what was. The newest if there is none.
    Position before(Instant instant) const;

    /// Whether a version of the index is what its resource was at `instant`, as far as `bound` knows: so for one version of
    /// each resource that was live then. Cost: a look at the resource's chain.
    bool was_live_at(const VersionInfo& info, Instant instant, Position bound) const;

    /// Puts into `found` the versions behind `after`, in commit order, that `what` asks for, deletions among them and
    /// erased ones not; looks at `count_scanned` positions at most, and moves `after` on to the last of them. All is
    /// looked at when that is the bound. What is found of one bound stays so, but for what is erased.
    void scan(const LogScan& what, Position& after, std::uint64_t count_scanned,
              std::vector<VersionInfo>& found) const;

    // ---- search ----

    /// The seed of resource_key(), whose lower half is a resource's key in the search index.
    std::uint64_t search_seed() const noexcept;

    /// SearchRun::key() of a resource.
    std::uint64_t search_key(TypeId type, std::string_view id) const noexcept;

    /// The search index of a type; empty without StoreOptions::search. Read last_position() before:
    /// then every version at or before it is there.
    std::shared_ptr<const SearchRuns> search(TypeId type) const;

    /// What is submitted of a type from now on may be extracted by another setup than what is there, until rebuild_search() is
    /// through. If the store is closed before, all of the type is extracted when it is opened.
    void mix_search(TypeId type);

    /// Makes, in the background, all versions of a type that are visible now findable anew, by a setup that what is
    /// submitted from now on is extracted by, too; then calls `done` on a thread of the store. Not if the store is
    /// closed before: then what is not done is as it was.
    void rebuild_search(TypeId type, const SearchSetup& setup, std::function<void()> done);

    /// How far that is; none if nothing of the type is being rebuilt.
    std::optional<SearchIndex::Progress> rebuilding_search(TypeId type) const;

    /// Counters of one type, or of the store.
    Totals totals(std::optional<TypeId> type = {}) const;

    StoreMetrics metrics() const;

  private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
