// StoreSimulation: random work on a store over a simulated disk, compared with a model after every few steps.
//
// Threads: one. What happens depends on the seed alone; differences fail the test.

#pragma once

#include "storage/store.h"
#include "tests/simulate/store_comparison.h"
#include "tests/support/commits.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/version_model.h"

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace annals::storage {

inline const std::string kSimulatedStore = "store";

/// The folder into which backups are restored.
inline const std::string kRestored = "restored";

class StoreSimulation {
  public:
    explicit StoreSimulation(std::uint64_t seed)
        : random_(seed), resources_(seed % 3 == 0 ? 3 : 3 + seed % 40) {
        segment_bytes_ = pick(2) == 0 ? 16 << 10 : 256 << 10;
        packs_ = seed % 2 == 0;
        searches_ = seed % 3 != 1;
        prepares_ = seed % 7 == 6;
        loses_ = seed % 4 == 1;
        durable_ = seed % 5 > 1;
    }

    /// Does the steps of the seed, until something differs.
    void run();

  private:
    /// What an accepted commit did, to be applied to a model.
    struct Applied {
        struct Written {
            std::uint64_t resource = 0;
            VersionNumber version;
            Instant instant;
            bool deletion = false;
            std::vector<std::uint64_t> terms;
            std::string text;
        };

        struct Erased {
            std::uint64_t resource = 0;
            Erase::Scope scope = Erase::Scope::everything;
            VersionNumber version;
        };

        std::vector<Written> writes;
        std::vector<Erased> erases;
        Ticket ticket;
    };

    std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

    std::uint64_t pick_resource() { return pick(std::size(kTypes)) * kPerType + pick(resources_); }

    // ---- opening, closing, losing power ----

    /// Opens the store, which must hold `base_` and the first few of `unknown`.
    void open(const std::vector<Applied>& unknown);

    void reopen(bool power_cut);

    /// Ends all faults. The disk may be a different object since a power cut.
    void mend();

    StoreOptions options();

    /// Either the machine stopped, or only the process.
    void end_power_cut();

    /// A fault while a store is opened may keep it from opening as long as it lasts, but is never taken for damage.
    void meet_faults_in_opening(bool may_cut);

    /// Gives a sealed segment a second name, as a backup does. A segment that had this name before loses it.
    void link_segment();

    void fail_some_call(std::uint64_t count);

    void break_something();

    /// The writer gave up or waits for space: reads must still work, writes must be refused, and reopening must help.
    void recover();

    // ---- housekeeping ----

    /// Erases all but the newest few versions of each resource: the commit erases them for all resources or for none.
    void clean_histories();

    /// Backs up what has settled; a store restored from it must be equal.
    void make_backup();

    /// Backs up a store that nobody has open, perhaps as a power cut left it:
    /// what can be opened has no damage, and a backup of it must succeed.
    void make_offline_backup();

    /// Whatever became of the last attempt, the backup that is there is whole.
    void check_backup();

    /// Reads like another process would, no matter what is being erased or rewritten at the time. Within one process that is a
    /// data race, which ThreadSanitizer would report.
    void read_beside();

    void remove_all(const std::string& directory);

    /// Rebuilds with the same words: the same must be found, during the rebuild and after it.
    void rebuild_search();

    // ---- writing ----

    static void apply(test::VersionModel& model, const Applied& applied);

    bool is_met(Expect expect, std::uint64_t resource, VersionNumber expected,
                std::optional<VersionNumber> kept) const;

    bool erased_in_flight(std::uint64_t resource) const;

    bool written_in_flight(std::uint64_t resource) const;

    /// Whether a version of the guard's type written since then has its term, even if still in flight.
    bool is_written_since(const Guard& guard) const;

    VersionWrite& add_write(test::CommitBuilder& builder, Applied& applied, std::uint64_t resource);

    Erase& add_erase(test::CommitBuilder& builder, Applied& applied, std::uint64_t resource);

    /// What the store must answer, according to the model.
    Submission::Status expected_status(const Commit& commit, const Applied& applied,
                                       const std::vector<std::uint64_t>& required,
                                       std::size_t& failed) const;

    void submit();

    /// Positions of dropped commits are given to others, so their requests are forgotten.
    void note_request(const Commit& commit, const std::string& request);

    /// A commit's request is known until any of its versions is erased.
    void compare_requests();

    void accept(const test::CommitBuilder& builder, Applied applied, const Submission& submission);

    void settle();

    StoreComparison comparison() { return {*store_, base_, resources_, random_}; }

    void compare_search();

    void compare_everything();

    /// At the end, nothing is left of failed attempts: neither files nor open descriptors.
    void expect_no_litter() const;

    std::mt19937_64 random_;
    std::uint64_t resources_;
    std::uint64_t segment_bytes_ = 0;
    bool packs_ = false;  ///< packs sealed segments
    bool searches_ = false;
    bool prepares_ = false;              ///< prepares segments ahead of use
    bool loses_ = false;                 ///< a failed sync loses what it was to cover
    std::deque<SearchEntries> entries_;  ///< of what is being submitted
    bool durable_ = true;                ///< what has settled survives power cuts
    Durability durability_ = Durability::commit;
    bool has_offline_backup_ = false;  ///< perhaps with commits whose sync failed
    std::int64_t clock_ = 1'000'000;
    std::int64_t clock_step_ = 0;
    Instant last_instant_;
    bool power_goes_ = false;   ///< at one of the next changes, if it hasn't yet
    bool fault_waits_ = false;  ///< set to fail a call that may not have been made yet
    std::unique_ptr<test::SimFileSystem> fs_ = std::make_unique<test::SimFileSystem>();
    std::unique_ptr<Store> store_;
    test::VersionModel base_;         ///< what has settled
    test::VersionModel opened_with_;  ///< what had settled when the store was opened
    std::vector<Applied> settled_since_;
    Position opened_at_;              ///< the last one when the store was opened
    test::VersionModel now_;          ///< what has settled or was submitted since
    std::vector<Applied> in_flight_;  ///< submitted, not settled

    struct Made {
        std::uint64_t first = 0;  ///< position
        std::string request;
    };

    std::map<std::uint64_t, Made> requests_;  ///< of commits, by their last position
    std::vector<Applied> unknown_;            ///< dropped by a failed writer; may be on the disk
};

}  // namespace annals::storage
