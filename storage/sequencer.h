// Sequencer: decides commits in submission order and gathers them for the log writer.
//
// Layer:   storage.
// Threads: submit(), head(), flush() from any thread, take(), release(), drop() from the log writer's. One mutex
//          guards everything; it is held for deciding and encoding one commit, never during I/O.

#pragma once

#include "core/base/digest.h"
#include "storage/heads_in_flight.h"
#include "storage/index.h"
#include "storage/recent_erases.h"
#include "storage/recent_writes.h"
#include "storage/search_entries_list.h"
#include "storage/segment_footer.h"
#include "storage/store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace annals::storage {

/// One accepted commit in a batch.
struct BatchFrame {
    Ticket ticket;
    std::uint64_t offset = 0;  ///< in Batch::bytes
    std::uint64_t length = 0;
    Position first_position;
    Position last_position;  ///< of the store after this commit
    Instant instant;
    std::size_t first_record = 0;
    std::size_t record_count = 0;
    bool request = false;            ///< one more record follows: that of Commit::request
    std::uint64_t search_bytes = 0;  ///< of SearchEntries
};

/// What the search index needs to know of a version.
struct BatchDocument {
    static constexpr std::size_t kNone = ~std::size_t{0};

    std::size_t entries = kNone;  ///< its index in Batch::entries
    Position superseded;          ///< the live version that it replaces; 0: none
};

/// Accepted commits, encoded except for what only the writer knows (salt, offsets, checksum of the frame).
struct Batch {
    std::string bytes;
    std::vector<BatchFrame> frames;
    std::vector<Hint> records;             ///< offsets count within `bytes`; terms are left out
    std::vector<BatchDocument> documents;  ///< one for each version, in order; none without search
    SearchEntriesList entries;             ///< including those that storage adds itself

    void clear() noexcept {
        bytes.clear();
        frames.clear();
        records.clear();
        documents.clear();
        entries.clear();
    }
};

class Sequencer {
  public:
    /// How long the device is left alone after it was found full.
    static constexpr std::chrono::seconds kProbeInterval{1};

    struct Start {
        std::uint64_t store_id = 0;
        Position last_position;
        Instant last_instant;
        std::uint64_t body_bytes_max = ~0ULL;  ///< StoreOptions
        bool search = false;                   ///< versions are indexed for search
        std::uint64_t (*identity)(std::uint64_t key) = nullptr;  ///< SearchSetup::identity
        std::uint64_t last_updated_column = 0;  ///< SearchSetup::last_updated_column
    };

    /// Lifetime: `index` outlives the sequencer.
    Sequencer(const Index& index, Start start, std::function<Instant()> clock);

    // ---- any thread ----

    Submission submit(Commit commit);

    /// The newest version of a resource, including submitted ones that are not visible yet; `exists` is false if there is none.
    Head head(TypeId type, std::string_view id) const;

    /// Store::flush(), flush_idle(), flush_older().
    void flush() noexcept;
    void flush_idle() noexcept;
    void flush_older(std::chrono::milliseconds age) noexcept;

    /// Store::hard_deletes().
    std::uint64_t hard_deletes() const noexcept { return recent_erases_.visible(); }

    /// Starts testing every submitted version of `type` with `concerns`, which is called with the mutex held; null if there are
    /// WriteWatch::kWatchesMax watches already. Lifetime: the sequencer outlives the watch.
    std::unique_ptr<WriteWatch> watch(TypeId type, WriteWatch::Concerns concerns);

    WriteState state() const noexcept { return state_.load(std::memory_order_acquire); }

    std::uint64_t unsettled_bytes() const noexcept {
        return unsettled_bytes_.load(std::memory_order_relaxed);
    }

    /// Makes take() return what is gathered at once, and nothing after that.
    void stop();

    // ---- the log writer's thread ----

    enum class Taken : std::uint8_t { batch, timeout, stopped };
    using Clock = std::chrono::steady_clock;

    /// Waits for a flush of gathered commits (or stop(), or `deadline`) and moves them all into `batch`, whose
    /// old memory becomes the next gathering buffer.
    Taken take(Batch& batch, std::optional<Clock::time_point> deadline);

    /// Forgets the heads from frames [begin, end) of `batch`, which are in the index now.
    void release(const Batch& batch, std::size_t begin, std::size_t end);

    /// Drops every commit that is not released, as if never submitted, and refuses new ones: permanently if
    /// `state` is failed, for a while if it is no_space. Returns the newest ticket handed out.
    Ticket drop(WriteState state);

    /// Notes that writing works. Returns whether it did not before, for lack of space or descriptors.
    bool recovered() noexcept;

    /// When a commit may next try the device; none unless the state is no_space.
    std::optional<Clock::time_point> next_probe() const;

    /// Instant of the newest commit taken or gathered.
    Instant last_instant() const;
    Ticket last_ticket() const;

  private:
    friend class WriteWatch;

    struct Refusal {
        Submission::Status status;
        std::size_t failed = 0;
        Head head = {};
        Ticket ticket = {};
    };

    std::optional<Refusal> unacceptable(const Commit& commit, std::uint64_t& bytes) const;
    void gather_document(const VersionWrite& write, std::uint64_t key, BatchFrame& frame);
    std::optional<Refusal> refuse(const Commit& commit);
    bool exceeds_index(const Commit& commit) const noexcept;
    std::optional<Refusal> check_requirement(const Commit& commit, std::size_t index) const;
    std::optional<Refusal> check_guards(const Commit& commit) const;
    std::optional<RecentWrites::Hit> newest_against(const Guard& guard) const;
    void tell_watches(const VersionWrite& write, std::uint64_t identity, Ticket ticket);
    void end_watch(const WriteWatch& watch);
    HeadsInFlight::Entry head_of(const Hash128& key) const;
    Instant next_instant();
    void append(const Commit& commit, Ticket ticket, Instant instant);
    void append_erases(const Commit& commit, const BatchFrame& frame);
    void append_writes(const Commit& commit, BatchFrame& frame);
    template <typename Due>
    void flush_if(const Due& due) noexcept;

    const Index& index_;
    const std::uint64_t store_id_;
    const std::uint64_t body_bytes_max_;
    const bool search_;
    std::uint64_t (*const identity_)(std::uint64_t key);
    const std::uint64_t last_updated_column_;
    const std::function<Instant()> clock_;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    Batch gathering_;
    HeadsInFlight heads_;
    RecentWrites recent_;
    RecentErases recent_erases_;
    std::vector<WriteWatch*> watches_;
    std::vector<Hash128> keys_;  ///< of the commit being decided: writes, then erases
    Position released_;          ///< newest position in the index
    Position last_position_;
    Instant last_instant_;
    bool clock_behind_ = false;  ///< by enough to be logged
    Ticket last_ticket_;
    Clock::time_point next_probe_;
    std::size_t taken_ = 0;              ///< commits of the batch that is being written
    Clock::time_point gathering_since_;  ///< when the first commit of gathering_ came
    bool flush_wanted_ = false;
    /// An idle loop leaves the batch open for the clients of the one being written.
    bool flush_deferred_ = false;
    bool stopping_ = false;
    bool writer_waits_ = false;

    std::atomic<bool> any_gathered_{false};
    std::atomic<std::uint64_t> unsettled_bytes_{0};
    std::atomic<WriteState> state_{WriteState::ready};
};

}  // namespace annals::storage
