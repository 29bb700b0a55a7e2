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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace annals::storage {

class FileSystem;
class HistoryWalk;
struct SegmentFiles;

/// When a commit settles and becomes visible (the key `durability`). A power cut can only take the newest commits, each as
/// a whole; a killed process loses nothing.
enum class Durability : std::uint8_t {
    commit,    ///< after fdatasync, grouped
    interval,  ///< after write(); synced every sync_interval_ms
    none,      ///< after write(); synced by the operating system, and a segment when it is full
};

class Store;

/// Fills `entries` with the search terms of a version; the store adds those of its instant and its resource.
/// Errors: are logged; the version can then be found by nothing else.
using SearchExtract = std::function<Result<void>(TypeId type, std::string_view id,
                                                 std::string_view body, SearchEntries& entries)>;

/// How versions are indexed for search: core/search as the store sees it.
struct SearchSetup {
    std::function<SearchExtract()>
        extractor;  ///< makes one for use by one thread; called from any thread
    /// Hashes of everything that the entries of a type depend on; not 0.
    std::array<std::uint64_t, kResourceTypeCount> fingerprints{};
    std::uint64_t last_updated_column = 0;  ///< the column that has the instants of versions
    std::uint64_t (*identity)(std::uint64_t key) = nullptr;  ///< the term of a resource
};

struct StoreOptions {
    Durability durability = Durability::commit;
    std::uint32_t sync_interval_ms = 100;
    std::uint64_t segment_bytes = 128ULL << 20;  ///< a larger commit gets a segment of its own size
    bool prepare_segments = true;             ///< fill the next segment with zeros ahead of its use
    std::uint64_t kept_bytes = 0;             ///< see DropBehind; 0: nothing is dropped
    bool read_only = false;                   ///< takes no lock, cuts no tail, accepts no commit
    bool allow_damaged = false;               ///< with read_only: serve what is intact
    std::function<Instant()> clock;           ///< default: now()
    bool pack_segments = false;               ///< compress sealed segments in the background
    std::chrono::milliseconds pack_after{0};  ///< this long after their last commit

    /// Called once while the store opens, when it can be read but not yet searched. Null: nothing is indexed.
    std::function<SearchSetup(const Store& store)> search;
    SearchIndexOptions search_index;
    std::uint64_t search_checkpoint_versions = 32'768;  ///< this many new ones cause a checkpoint
    std::uint64_t body_bytes_max = ~0ULL;  ///< a version with a larger body is too_large
};

/// A place where the store doesn't have what was written.
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
    std::uint64_t versions_extracted = 0;  ///< for search, because no checkpoint had them
    std::vector<Damage> damages;           ///< only with allow_damaged; otherwise opening fails
    double seconds = 0;
};

/// Is notified of settled commits, in ticket order, on the log writer's thread unless stated otherwise.
class SettleListener {
  public:
    virtual ~SettleListener() = default;

    /// Every accepted submission up to and including `through` has now settled: it is durable and visible
    /// unless `why_not` says why it was dropped, as if it had never been submitted.
    /// Must neither block nor throw.
    virtual void settled(Ticket through, std::optional<Errc> why_not) noexcept = 0;

    /// Of everything erased by commits up to and including `through`, no byte is left on disk unless `why_not` says why: then a
    /// later attempt (no_store) or the next opening of the store removes the rest. Comes after settled(), from another thread,
    /// and once Store::unfinished_erasure() knows it. Must neither block nor throw.
    virtual void erased(Ticket /*through*/, std::optional<Errc> /*why_not*/) noexcept {}
};

/// The order of a history scan.
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
    /// Continue after this version (only position and instant are used).
    std::optional<VersionInfo> after;
    std::uint64_t skip = 0;  ///< leave out this many at the start (`_offset`)
    std::size_t count = 0;   ///< at most this many; 0: only the total
    std::optional<std::uint64_t> total =
        {};  ///< of a type or the store: HistoryPage::total, if known already, so that it need not be counted
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

/// The versions of a resource beyond its limit.
struct Surplus {
    VersionNumber through;       ///< this one and all before it are to be removed
    std::uint64_t versions = 0;  ///< how many these are
};

class HistoryCleanup;

/// The progress of compaction.
struct CompactionProgress {
    bool running = false;
    bool ended = false;               ///< by a fault of the device; until the store is reopened
    std::uint64_t segments_done = 0;  ///< since the store was opened
    std::uint64_t segments_left = 0;  ///< now, with anything dead
    std::uint64_t bytes_read = 0;     ///< since the store was opened
    std::uint64_t bytes_freed = 0;
    std::uint64_t dead_bytes = 0;          ///< that it could reclaim now
    std::uint64_t segments_packed = 0;     ///< since the store was opened
    std::uint64_t pack_bytes_read = 0;     ///< of files that were packed
    std::uint64_t pack_bytes_written = 0;  ///< of the packed files
};

/// What a scan of the log should find.
struct LogScan {
    Position bound{};            ///< versions at or before it; 0: all visible
    bool every_version = false;  ///< not only those that are their resource's newest at `bound`
    std::optional<Instant> since{};
    std::optional<Instant> before{};
};

/// Counters for /metrics; since opening unless stated otherwise.
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
    SearchIndexStats search;                    ///< now, except for merges
    std::uint64_t search_checkpoints = 0;       ///< written
    std::uint64_t search_checkpoint_bytes = 0;  ///< now, on disk
};

/// Whether the store takes writes; no_space: not at present, for lack of space or descriptors.
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

    /// As close(), without its result.
    ~Store();

    /// Flushes what was submitted, syncs and stops the writer; reading goes on until the store is destroyed. Call it to learn
    /// whether everything is on the device.
    /// Requires: nobody submits any more.
    /// Errors: io: something acknowledged may not be on the device, which can't happen with Durability::commit.
    Result<void> close();

    // ---- writing ----

    /// Decides `commit` in submission order and, if accepted, numbers its versions and gathers it
    /// into the log's next batch. Never blocks on the device. The writer is not woken: call flush()
    /// once after the submissions of one turn of the event loop.
    ///
    /// Durability: none yet; the ticket settles later (SettleListener, or wait()).
    Submission submit(Commit commit);

    /// Wakes the log writer if anything is gathered and it is idle. Cost: otherwise one atomic load.
    void flush() noexcept;

    /// The same for a loop that has nothing else to do. While a batch is being written, the next one is left open for the
    /// clients that this batch will answer, until the next flush or until nobody has submitted for 10 ms.
    void flush_idle() noexcept;

    /// The same for a loop that is never idle: flushes if anything has been gathered for at least `age`.
    void flush_older(std::chrono::milliseconds age) noexcept;

    /// Flushes and blocks until `ticket` has settled. For tools and tests, never on a network thread.
    Result<void> wait(Ticket ticket);

    /// Blocks until the bodies that `ticket` erased are gone from the disk, except those of damaged records, which stay.
    /// For tools and tests. Requires: the ticket has settled.
    /// Errors: no_store (it is tried again), io: the next opening of the store removes them.
    Result<void> wait_erased(Ticket ticket);

    /// The newest commit whose erased bodies are being removed: SettleListener::erased() will tell how that ended. 0: of everything
    /// that is gone by now, also by earlier processes, no body is left on disk, except those of damaged records, which stay.
    /// Errors: no_store, io: some are left, because the last attempt failed.
    Result<Ticket> unfinished_erasure() const;

    /// Adds or removes a listener. Lifetime: the listener outlives its registration; when
    /// remove_listener returns no call is under way.
    void add_listener(SettleListener& listener);
    void remove_listener(SettleListener& listener);

    WriteState write_state() const noexcept;

    /// How long the write to the log under way has taken so far; zero if there is none.
    std::chrono::steady_clock::duration write_wait() const noexcept;

    /// The newest ticket handed out: once it has settled, so has everything submitted before the call.
    Ticket last_ticket() const;

    // ---- housekeeping ----

    /// Starts history cleanup (storage/history_cleanup.h): soon, and then every `interval` until the store is closed.
    void start_history_cleanup(const HistoryLimits& limits, std::chrono::milliseconds interval);

    /// Starts rewriting every sealed segment with anything erased in it (without this call only those that are a quarter
    /// dead are rewritten), packed if StoreOptions say so. Without `hurry`, at a pace that writers hardly notice.
    void compact(bool hurry = false);

    /// The progress of that, and of the compaction that runs by itself.
    CompactionProgress compaction() const;

    /// What compact() would do now: `segments_left` and `dead_bytes`. Cost: looks at every erased version.
    CompactionProgress measure_compaction() const;

    /// Blocks until compact() is done. For tools and tests. Errors: no_store, io, corrupt (of the last segment that could
    /// not be compacted; it is as it was).
    Result<void> wait_compacted();

    /// The versions beyond `limits` of resource number `resource` (below resource_count()); none if there are none.
    /// Cost: O(log n), or O(versions kept) if some between them were erased.
    std::optional<Surplus> surplus(std::uint32_t resource, const HistoryLimits& limits) const;

    /// For metrics(): a cycle has ended, which removed `versions`.
    void note_cleanup(std::uint64_t versions) noexcept;

    // ---- reading: all that is visible, which with Durability::commit is durable ----

    /// The newest visible position.
    Position last_position() const noexcept;

    /// The number of visible hard deletes of live resources since the store was opened (Guard::hard_deletes).
    std::uint64_t hard_deletes() const noexcept;

    /// Starts watching submissions; null if there are too many watches. Lifetime: the store outlives the watch.
    std::unique_ptr<WriteWatch> watch(TypeId type, WriteWatch::Concerns concerns);

    /// The newest version of a resource at or before `bound` (default: all visible), deletion or not;
    /// none if the resource was absent.
    std::optional<VersionInfo> current(TypeId type, std::string_view id, Position bound = {}) const;

    /// One version of a resource by number.
    std::optional<VersionInfo> version(TypeId type, std::string_view id,
                                       VersionNumber number) const;

    /// The version of a resource that was current at `instant`: of those at or before it and `bound` (default: all visible), the
    /// one with the highest number; deletion or not. None if that one was erased: the one before it was not current then.
    std::optional<VersionInfo> current_at(TypeId type, std::string_view id, Instant instant,
                                          Position bound = {}) const;

    /// The version at a position, if it was not erased.
    std::optional<VersionInfo> at(Position position) const;

    /// What the log knows of a resource, submitted commits included (for If-Match diagnostics).
    Head head(TypeId type, std::string_view id) const;

    /// Prefetches what a look-up or write of the resource touches first into the processor's caches. Useful about a
    /// microsecond before.
    void fetch_ahead(TypeId type, std::string_view id) const noexcept;

    /// The last position of the commit of the version at `position`, erased or not; at or beyond the newest visible
    /// position, `position` itself. A commit is visible as a whole or not at all. Cost: O(versions between).
    Position commit_end(Position position) const noexcept;

    /// What remains known of any version, even an erased one: search_key() of its resource, and whether it is a deletion.
    struct Trace {
        std::uint64_t key = 0;
        bool deletion = false;
    };

    /// Requires: the position is visible.
    Trace trace(Position position) const noexcept;

    /// The first position of the commit of the version at `position`, erased or not. Requires: it is visible.
    /// Cost: O(versions between).
    Position commit_begin(Position position) const noexcept;

    /// Commit::request of the commit whose last version is at `commit_end`; empty if it had none, or if any of its
    /// versions was erased. Cost: reads the log there.
    std::string request_of(Position commit_end) const;

    /// The end of what is durable and visible in the log: what a backup takes. None in a read-only store.
    std::optional<LogEnd> log_end() const;

    /// For those who take or change the files of segments.
    SegmentFiles& segment_files() const noexcept;

    /// The bytes of a version, checksum verified. Errors: corrupt, not_found (erased meanwhile).
    Result<StoredVersion> load(const VersionInfo& info) const;

    /// load() if the version is in memory; otherwise only StoredVersion::unread is set, and it must be fetched first.
    Result<StoredVersion> load_resident(const VersionInfo& info) const;

    /// The positions of those `versions` for which load() would have to wait for the device; versions that the store does not
    /// have are left out. Cost: a look-up each.
    std::vector<Position> unread(std::span<const VersionInfo> versions) const;

    /// Brings the version at `position` into memory, then calls `done`, both on a thread of the store's, which `done` must
    /// not block. Requests made before the store closes are completed.
    void fetch(Position position, std::function<void()> done) const;

    /// Whether `mapped`, bytes of any mapping, can be read without waiting for the device.
    bool in_memory(std::string_view mapped) const noexcept;

    /// The same as fetch() for such bytes. Lifetime: they stay mapped until `done` is called.
    void fetch(std::string_view mapped, std::function<void()> done) const;

    /// A page of history. Cost: O(page), the total included, without `since`; with it, or in an order by instant, up to
    /// O(versions).
    HistoryPage history(const HistoryQuery& query) const;

    /// The same in steps (storage/history_walk.h), for threads that must not be held up.
    HistoryWalk walk_history(const HistoryQuery& query) const;

    /// Versions current at `instant`, one per resource that was live then, in order of the resources'
    /// first appearance; looks at `count_scanned` resources at most, starting with resource number
    /// `from`, and moves `from` on (to the end: resource_count()).
    std::vector<VersionInfo> current_at(std::optional<TypeId> type, Instant instant, Position bound,
                                        std::uint32_t& from, std::uint32_t count_scanned) const;
    std::uint32_t resource_count() const noexcept;

    /// The position of the store just before the first version of `instant` or later that is not erased, and before any erased
    /// ones of that time that directly precede it, which would hide what they replaced. The newest if there is no such version.
    Position before(Instant instant) const;

    /// Whether this version is the one that was current at `instant`, considering versions up to `bound`. True for exactly one
    /// version of each resource that was live then. Cost: a walk along the resource's chain.
    bool was_live_at(const VersionInfo& info, Instant instant, Position bound) const;

    /// Sets `found` to the versions after `after`, in commit order, that match `what`, including deletions but not erased
    /// versions. Looks at `count_scanned` positions at most, and moves `after` to the last of them; the scan is complete once
    /// that is the bound. For one bound the result stays the same, except for what is erased.
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

    /// From now on versions of a type may be extracted by another setup than the existing ones, until rebuild_search() has
    /// finished. If the store is closed before that, all versions of the type are extracted when it is opened.
    void mix_search(TypeId type);

    /// Indexes, in the background, all versions of a type that are visible now by `setup`, which later submissions must use
    /// as well; then calls `done` on a thread of the store. If the store is closed before, `done` is not called and the rest
    /// stays as it was.
    void rebuild_search(TypeId type, const SearchSetup& setup, std::function<void()> done);

    /// The progress of that; none if nothing of the type is being rebuilt.
    std::optional<SearchIndex::Progress> rebuilding_search(TypeId type) const;

    /// Counters of one type, or of the store.
    Totals totals(std::optional<TypeId> type = {}) const;

    /// Whether the instants of all versions of a type, or of the store, ascend in commit order, those included that were erased
    /// as long as the log has their records. What is at or before a position read before the call never makes it false later: only
    /// newer versions can do.
    bool instants_ascend(std::optional<TypeId> type = {}) const noexcept;

    StoreMetrics metrics() const;

  private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> impl_;
};

}  // namespace annals::storage
