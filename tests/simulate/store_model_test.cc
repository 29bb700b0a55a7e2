// Random work on a store over a simulated disk, compared with a model after every few steps.
//
// A run depends on its seed alone. ANNALS_SEED=n runs that seed only,
// ANNALS_SEEDS=n runs the seeds from 1 to n; a failure prints its seed.

#include "storage/backup.h"
#include "storage/history_cleanup.h"
#include "storage/restore.h"
#include "storage/store.h"
#include "storage/verify.h"
#include "tests/simulate/store_comparison.h"
#include "tests/support/commits.h"
#include "tests/support/search_store.h"
#include "tests/support/sim_file_system.h"
#include "tests/support/version_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace annals::storage {
namespace {

using test::CommitBuilder;
using test::SimFileSystem;
using test::VersionModel;
using Status = Submission::Status;
using Scope = Erase::Scope;

constexpr std::uint64_t kDefaultSeeds = 60;
constexpr int kSteps = 400;
const std::string kDirectory = "store";
const std::string kBackup = "backup/b";
const std::string kRestored = "restored";

using Call = SimFileSystem::Call;
constexpr Call kCalls[] = {
    Call::write,  Call::sync,   Call::resize, Call::allocate,       Call::create,
    Call::rename, Call::remove, Call::link,   Call::sync_directory, Call::open,
    Call::list,   Call::read,   Call::map};

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
        Scope scope = Scope::everything;
        VersionNumber version;
    };

    std::vector<Written> writes;
    std::vector<Erased> erases;
    Ticket ticket;
};

class Simulation {
  public:
    explicit Simulation(std::uint64_t seed)
        : random_(seed), resources_(seed % 3 == 0 ? 3 : 3 + seed % 40) {
        segment_bytes_ = pick(2) == 0 ? 16 << 10 : 256 << 10;
        packs_ = seed % 2 == 0;
        searches_ = seed % 3 != 1;
        prepares_ = seed % 7 == 6;
        loses_ = seed % 4 == 1;
        durable_ = seed % 5 > 1;
    }

    void run() {
        mend();
        open({});
        for (int step = 0; step < kSteps && !testing::Test::HasFailure(); ++step) {
            const std::uint64_t dice = pick(1000);
            if (dice < 700) {
                submit();
            } else if (dice < 850) {
                settle();
            } else if (dice < 945) {
                settle();
                if (pick(8) == 0) {
                    // Sometimes without waiting, so that compaction goes on during the next steps.
                    store_->compact(true);
                    if (pick(4) != 0) {
                        (void)store_->wait_compacted();
                    }
                }
                comparison().some();
            } else if (dice < 952) {
                clean_histories();
            } else if (dice < 959) {
                make_backup();
            } else if (dice < 962) {
                read_beside();
            } else if (dice < 965) {
                rebuild_search();
            } else if (dice < 975) {
                reopen(false);
            } else if (dice < 978) {
                link_segment();
            } else if (dice < 987) {
                fs_->power_off_at(1 + pick(12));
                power_goes_ = true;
            } else {
                break_something();
            }
            if (store_ != nullptr && store_->write_state() != WriteState::ready) {
                recover();
            }
        }
        if (!testing::Test::HasFailure()) {
            reopen(false);
            compare_everything();
            store_->compact(true);
            EXPECT_TRUE(store_->wait_compacted());
            compare_everything();
            store_.reset();
            expect_no_litter();
        }
    }

  private:
    std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

    std::uint64_t pick_resource() { return pick(std::size(kTypes)) * kPerType + pick(resources_); }

    // ---- opening, closing, losing power ----

    /// Opens the store, which must hold `base_` and the first few of `unknown`.
    void open(const std::vector<Applied>& unknown) {
        if (fs_->exists(kDirectory + "/segments")) {
            const auto report = verify(*fs_, kDirectory);
            ASSERT_TRUE(report) << report.error().detail;
            for (const Damage& damage : report->damages) {
                ADD_FAILURE() << damage.segment << " offset " << damage.offset << ": "
                              << damage.reason;
            }
        }
        durability_ = durable_       ? Durability::commit
                      : pick(2) == 0 ? Durability::none
                                     : Durability::interval;
        auto opened = Store::open(*fs_, kDirectory, options());
        ASSERT_TRUE(opened) << opened.error().detail;
        store_ = *std::move(opened);
        const Position settled = base_.last_position();
        for (std::size_t i = 0; !comparison().holds(); ++i) {
            ASSERT_LT(i, unknown.size())
                << "the store holds no prefix of what was submitted: it ends at position "
                << store_->last_position().value << "; settled were " << settled.value << " and "
                << unknown.size() << " commits up to " << base_.last_position().value
                << " were not";
            apply(base_, unknown[i]);
        }
        now_ = base_;
        compare_search();
        compare_requests();
        check_backup();
        opened_with_ = base_;
        settled_since_.clear();
        opened_at_ = base_.last_position();
        last_instant_ = {};  // The newest version may have been dropped.
    }

    void reopen(bool power_cut) {
        power_cut = power_cut || std::exchange(power_goes_, false);
        if (std::exchange(fault_waits_, false)) {
            settle();
        }
        std::vector<Applied> unknown = std::move(unknown_);
        if (!power_cut && unknown.empty()) {
            // An orderly close settles what was submitted.
            for (const Applied& applied : in_flight_) {
                apply(base_, applied);
            }
        } else {
            unknown.insert(unknown.end(), in_flight_.begin(), in_flight_.end());
        }
        in_flight_.clear();
        unknown_.clear();
        if (power_cut && durability_ != Durability::commit) {
            // Only what was there at opening is certain to be durable.
            base_ = opened_with_;
            unknown.insert(unknown.begin(), settled_since_.begin(), settled_since_.end());
        }
        store_.reset();
        if (power_cut) {
            end_power_cut();
        }
        mend();
        if (pick(4) == 0) {
            make_offline_backup();
        }
        meet_faults_in_opening(power_cut || durability_ == Durability::commit);
        open(unknown);
    }

    /// Ends all faults. The disk may be a different object since a power cut.
    void mend() {
        if (loses_) {
            fs_->lose_on_failed_sync();
        }
        for (const auto call : kCalls) {
            fs_->fail_next(call, Errc::io, 0);
        }
        fs_->set_space({});
        fs_->set_descriptors({});
    }

    StoreOptions options() {
        StoreOptions options;
        options.segment_bytes = segment_bytes_;
        options.prepare_segments = prepares_;
        options.pack_segments = packs_;
        options.durability = durability_;
        options.sync_interval_ms = 1;
        options.search_checkpoint_versions = 30;
        if (searches_) {
            options.search = [](const Store& store) { return test::word_setup(store); };
        }
        options.clock = [this] { return Instant{clock_ += clock_step_}; };
        return options;
    }

    /// Either the machine stopped, or only the process.
    void end_power_cut() {
        if (pick(2) == 0) {
            fs_->come_back();
        } else {
            fs_ = fs_->after_power_cut(random_());
        }
    }

    /// A fault while a store is opened may keep it from opening as long as it lasts, but is never taken for damage.
    void meet_faults_in_opening(bool may_cut) {
        for (std::uint64_t times = pick(3) == 0 ? 1 + pick(3) : 0; times > 0; --times) {
            const bool cut = may_cut && pick(2) == 0;
            if (cut) {
                fs_->power_off_at(1 + pick(10));
            } else {
                fail_some_call(pick(3) == 0 ? 100 : 1);
            }
            if (auto opened = Store::open(*fs_, kDirectory, options())) {
                (*opened)->compact(true);
                (void)(*opened)->wait_compacted();
            } else {
                EXPECT_NE(opened.error().code, Errc::corrupt) << opened.error().detail;
            }
            if (cut) {
                end_power_cut();
            }
            mend();
        }
    }

    /// Gives a sealed segment a second name, as a backup does. A segment that had this name before loses it.
    void link_segment() {
        const std::lock_guard lock(store_->segment_files());
        std::vector<std::string> sealed;
        for (const std::string& path : fs_->paths()) {
            if (path.ends_with(".seg") && path.starts_with(kDirectory)) {
                sealed.push_back(path);
            }
        }
        if (sealed.size() > 1) {
            fs_->add_name(sealed[pick(sealed.size() - 1)], "backup/" + std::to_string(pick(3)));
        }
    }

    void fail_some_call(std::uint64_t count) {
        fs_->fail_next(kCalls[pick(std::size(kCalls))], pick(2) == 0 ? Errc::io : Errc::no_store,
                       count, pick(4));
    }

    void break_something() {
        fault_waits_ = true;
        switch (pick(10)) {
            case 0:
                fs_->set_space(0);
                break;
            case 1: {
                std::uint64_t used = pick(40'000);
                for (const std::string& content : fs_->contents()) {
                    used += content.size();
                }
                fs_->set_space(used);
                break;
            }
            case 2:
                fs_->set_descriptors(fs_->open_files() + pick(3));
                break;
            default:
                fail_some_call(1 + pick(2));
        }
    }

    /// The writer gave up or waits for space: reads must still work, writes must be refused, and reopening must help.
    void recover() {
        settle();
        const bool full = store_->write_state() == WriteState::no_space;
        comparison().some();
        CommitBuilder builder;
        builder.put("Patient", "refused", "");
        const Submission refused = store_->submit(builder.commit());
        EXPECT_EQ(refused.status, full ? Status::no_space : Status::failed);
        reopen(!full && pick(2) == 0);
    }

    // ---- housekeeping ----

    /// Erases all but the newest few versions of each resource: the commit erases them for all resources or for none.
    void clean_histories() {
        settle();
        HistoryLimits limits;
        limits.keep.fill(1 + pick(4));
        Applied applied;
        VersionModel cleaned = base_;
        for (std::uint64_t type = 0; type < std::size(kTypes); ++type) {
            for (std::uint64_t i = 0; i < resources_; ++i) {
                const std::uint64_t resource = type * kPerType + i;
                auto chain = base_.chain(resource);
                std::erase_if(chain, [](const auto* version) { return version->erased; });
                if (const std::uint64_t keep = limits.keep[type_of(resource).value];
                    chain.size() > keep) {
                    const VersionNumber through = chain[chain.size() - keep - 1]->info.version;
                    applied.erases.push_back({resource, Scope::through, through});
                    cleaned.erase(resource, Scope::through, through);
                }
            }
        }
        const auto done =
            clean_history(*store_, limits, false, [](std::chrono::milliseconds) { return false; });
        if (store_->write_state() == WriteState::failed) {
            unknown_.push_back(std::move(applied));
            return;
        }
        const Totals totals = store_->totals({});
        if (done || totals.versions == cleaned.totals({}).versions) {
            apply(base_, applied);
            now_ = base_;
            settled_since_.push_back(std::move(applied));
        }
        EXPECT_TRUE(done || fault_waits_ || power_goes_) << done.error().detail;
        comparison().some();
    }

    /// Backs up what has settled; a store restored from it must be equal.
    void make_backup() {
        settle();
        BackupOptions how;
        how.files = &store_->segment_files();
        const auto end = [this]() -> Result<LogEnd> {
            const auto known = store_->log_end();
            return known && known->segment != 0 ? Result<LogEnd>(*known)
                                                : Error{Errc::no_store, "no segment", {}};
        };
        const auto made = back_up(*fs_, kDirectory, kBackup, end, how);
        if (!made) {
            // If a power cut took commits that the backup has, the store has diverged from it.
            const bool newer = made.error().code == Errc::usage &&
                               (durability_ != Durability::commit || has_offline_backup_);
            EXPECT_TRUE(newer || fault_waits_ || power_goes_ ||
                        store_->write_state() != WriteState::ready)
                << made.error().detail;
            if (newer) {
                remove_all(kBackup);
            }
            return;
        }
        has_offline_backup_ = false;
        EXPECT_EQ(made->position, base_.last_position());
        if (fault_waits_ || power_goes_) {
            return;
        }
        check_backup();
        RestoreOptions up_to;
        if (pick(2) == 0 && base_.last_position().value > 0) {
            up_to.to_position = Position{1 + pick(base_.last_position().value)};
        }
        if (!fs_->exists(kRestored + "/restore.partial")) {
            remove_all(kRestored);  // a power cut may have brought it back
        }
        const auto restored = restore(*fs_, kBackup, kRestored, up_to);
        if (!restored) {
            EXPECT_TRUE(up_to.to_position && restored.error().code == Errc::usage)
                << restored.error().detail;
            return;
        }
        {
            const auto opened = Store::open(*fs_, kRestored, options());
            ASSERT_TRUE(opened) << opened.error().detail;
            if (up_to.to_position) {
                EXPECT_LE(restored->position, *up_to.to_position);
                EXPECT_EQ((*opened)->last_position(), restored->position);
            } else {
                StoreComparison(**opened, base_, resources_, random_).everything(*fs_, kRestored);
            }
        }
        remove_all(kRestored);
    }

    /// Backs up a store that nobody has open, perhaps as a power cut left it:
    /// what can be opened has no damage, and a backup of it must succeed.
    void make_offline_backup() {
        if (!fs_->exists(kDirectory + "/segments")) {
            return;
        }
        const auto finished = finish_erasures(*fs_, kDirectory);
        ASSERT_TRUE(finished) << finished.error().detail;
        const auto made =
            back_up(*fs_, kDirectory, kBackup, [this] { return find_log_end(*fs_, kDirectory); });
        if (made) {
            has_offline_backup_ = true;
            check_backup();
        } else {
            EXPECT_EQ(made.error().code, Errc::usage) << made.error().detail;
            remove_all(kBackup);  // made of a store that has diverged since
        }
    }

    /// Whatever became of the last attempt, the backup that is there is whole.
    void check_backup() {
        if (!fs_->exists(kBackup + "/backup.manifest")) {
            return;
        }
        const auto found = verify(*fs_, kBackup);
        ASSERT_TRUE(found) << found.error().detail;
        EXPECT_EQ(found->unfinished_backup, fs_->exists(kBackup + "/backup.partial"));
        for (const Damage& damage : found->damages) {
            ADD_FAILURE() << "backup: " << damage.segment << " offset " << damage.offset << ": "
                          << damage.reason;
        }
    }

    /// Reads like another process would, no matter what is being erased or rewritten at the time. Within one process that is a
    /// data race, which ThreadSanitizer would report.
    void read_beside() {
        settle();
#if __has_feature(thread_sanitizer)
        return;
#endif
        StoreOptions reading = options();
        reading.read_only = true;
        const auto opened = Store::open(*fs_, kDirectory, reading);
        if (store_->write_state() != WriteState::ready) {
            return;  // the failed writer may have left remains
        }
        if (!opened) {
            EXPECT_TRUE(fault_waits_ || power_goes_) << opened.error().detail;
            EXPECT_NE(opened.error().code, Errc::corrupt) << opened.error().detail;
            return;
        }
        StoreComparison beside(**opened, base_, resources_, random_);
        EXPECT_TRUE(beside.holds());
        beside.some();
        if (searches_) {
            beside.search();
        }
    }

    void remove_all(const std::string& directory) {
        for (const std::string& path : fs_->paths()) {
            if (path.starts_with(directory + "/")) {
                EXPECT_TRUE(fs_->remove(path) || fault_waits_ || power_goes_);
            }
        }
    }

    /// Rebuilds with the same words: the same must be found, during the rebuild and after it.
    void rebuild_search() {
        if (!searches_) {
            return;
        }
        settle();
        const TypeId type = type_of(pick_resource());
        if (pick(2) == 0) {
            store_->mix_search(type);
        }
        store_->rebuild_search(type, test::word_setup(*store_), [] {});
        compare_search();
    }

    // ---- writing ----

    static void apply(VersionModel& model, const Applied& applied) {
        for (const Applied::Erased& erased : applied.erases) {
            model.erase(erased.resource, erased.scope, erased.version);
        }
        for (const Applied::Written& written : applied.writes) {
            model.add(written.resource, type_of(written.resource), written.version, written.instant,
                      written.deletion, written.text, written.terms);
        }
    }

    bool is_met(Expect expect, std::uint64_t resource, VersionNumber expected,
                std::optional<VersionNumber> kept) const {
        const VersionModel::Version* head = now_.standing(resource);
        switch (expect) {
            case Expect::anything:
                return true;
            case Expect::absent:
                return head == nullptr;
            case Expect::exists:
                return head != nullptr;
            case Expect::live:
                return head != nullptr && !head->info.deletion;
            case Expect::version:
                return head != nullptr && head->info.version == expected;
            case Expect::older: {
                const VersionNumber newest = head == nullptr ? VersionNumber{} : head->info.version;
                const VersionNumber own = kept.value_or(VersionNumber{newest.value + 1});
                return own > newest && own > now_.erased_through(resource);
            }
        }
        return false;
    }

    bool erased_in_flight(std::uint64_t resource) const {
        return std::ranges::any_of(in_flight_, [&](const Applied& applied) {
            return std::ranges::count(applied.erases, resource, &Applied::Erased::resource) > 0;
        });
    }

    bool written_in_flight(std::uint64_t resource) const {
        return std::ranges::any_of(in_flight_, [&](const Applied& applied) {
            return std::ranges::count(applied.writes, resource, &Applied::Written::resource) > 0;
        });
    }

    /// Whether a version of the guard's type written since then has its term, even if still in flight.
    bool is_written_since(const Guard& guard) const {
        return std::ranges::any_of(now_.versions(), [&](const VersionModel::Version& version) {
            return version.info.position > guard.as_of && version.info.type == *guard.type &&
                   std::ranges::count(version.terms, guard.terms.front()) > 0;
        });
    }

    VersionWrite& add_write(CommitBuilder& builder, Applied& applied, std::uint64_t resource) {
        Applied::Written written{.resource = resource,
                                 .version = {},
                                 .instant = {},
                                 .deletion = pick(5) == 0,
                                 .terms = {},
                                 .text = {}};
        for (std::uint64_t i = pick(3); i > 0; --i) {
            written.terms.push_back(1 + pick(kTerms));
        }
        if (written.deletion) {
            written.terms.clear();
        } else {
            std::ranges::sort(written.terms);
            const auto rest = std::ranges::unique(written.terms);
            written.terms.erase(rest.begin(), rest.end());
            for (std::uint64_t& term : written.terms) {
                written.text += word_of(term) + " ";
                term = test::word_term(word_of(term));
            }
            written.text += std::string(pick(40) == 0 ? pick(20'000) : pick(300),
                                        static_cast<char>('a' + pick(26)));
        }
        const VersionModel::Version* head = now_.standing(resource);
        const std::uint64_t newest = head == nullptr ? 0 : head->info.version.value;
        VersionWrite& write =
            written.deletion
                ? builder.remove(type_name(resource), id_of(resource))
                : builder.put(type_name(resource), id_of(resource), written.text, written.terms);
        if (searches_ && !written.deletion) {
            write.search = &entries_.emplace_back(
                test::entries_of(store_->search_seed(), type_of(resource), written.text));
        }
        write.expect = pick(4) != 0 ? Expect::anything : static_cast<Expect>(pick(6));
        write.expected_version = {newest + (pick(8) == 0 ? 1 : 0)};
        if (pick(4) == 0) {
            // As from a history bundle: a version number with a gap or one that is too old, and an instant of its own.
            write.version = VersionNumber{std::max<std::uint64_t>(1, newest + pick(4))};
            write.instant = Instant{static_cast<std::int64_t>(pick(2'000'000))};
            write.expect = pick(2) == 0 ? Expect::older : write.expect;
        }
        applied.writes.push_back(std::move(written));
        return write;
    }

    Erase& add_erase(CommitBuilder& builder, Applied& applied, std::uint64_t resource) {
        const VersionModel::Version* head = now_.standing(resource);
        Applied::Erased erased{
            .resource = resource,
            .scope = static_cast<Scope>(1 + pick(4)),
            .version = {1 + pick(head == nullptr ? 2 : head->info.version.value)}};
        Erase& erase =
            builder.erase(type_name(resource), id_of(resource), erased.scope, erased.version);
        erase.expect = pick(3) == 0 ? Expect::live : Expect::exists;
        applied.erases.push_back(erased);
        return erase;
    }

    /// What the store must answer, according to the model.
    Status expected_status(const Commit& commit, const Applied& applied,
                           const std::vector<std::uint64_t>& required, std::size_t& failed) const {
        for (std::size_t i = 0; i < commit.writes.size(); ++i) {
            const VersionWrite& write = commit.writes[i];
            const std::uint64_t resource = applied.writes[i].resource;
            failed = i;
            if (erased_in_flight(resource)) {
                return Status::busy;
            }
            const VersionModel::Version* head = now_.standing(resource);
            if ((write.version && head != nullptr && *write.version <= head->info.version) ||
                !is_met(write.expect, resource, write.expected_version, write.version)) {
                return Status::expectation_failed;
            }
        }
        for (std::size_t i = 0; i < commit.erases.size(); ++i) {
            const Erase& erase = commit.erases[i];
            const std::uint64_t resource = applied.erases[i].resource;
            failed = commit.writes.size() + i;
            if (erased_in_flight(resource) || written_in_flight(resource)) {
                return Status::busy;
            }
            const VersionModel::Version* head = now_.standing(resource);
            const bool current = erase.scope == Scope::version && head != nullptr &&
                                 !head->info.deletion && head->info.version == erase.version;
            if (current || !is_met(erase.expect, resource, {}, {})) {
                return Status::expectation_failed;
            }
            if (erase.scope == Scope::version && now_.version(resource, erase.version) == nullptr) {
                return Status::version_unknown;
            }
        }
        for (std::size_t i = 0; i < required.size(); ++i) {
            failed = i;
            if (erased_in_flight(required[i])) {
                return Status::busy;
            }
            if (!is_met(Expect::live, required[i], {}, {})) {
                return Status::requirement_failed;
            }
        }
        failed = 0;
        for (const Guard& guard : commit.guards) {
            // The store knows nothing of what was written before it was opened.
            if (guard.as_of < opened_at_ || is_written_since(guard)) {
                return Status::busy;
            }
        }
        return Status::accepted;
    }

    void submit() {
        entries_.clear();
        CommitBuilder builder;
        Applied applied;
        std::set<std::uint64_t> resources;
        for (std::uint64_t i = 1 + (pick(3) == 0 ? pick(6) : 0); i > 0; --i) {
            resources.insert(pick_resource());
        }
        std::vector<std::uint64_t> required;
        for (const std::uint64_t resource : resources) {
            if (pick(10) == 0) {
                add_erase(builder, applied, resource);
            } else {
                add_write(builder, applied, resource);
            }
        }
        if (pick(6) == 0) {
            required.push_back(pick_resource());
            builder.require(type_name(required[0]), id_of(required[0]));
        }
        if (pick(6) == 0) {
            const std::uint64_t last = base_.last_position().value;
            builder.guard(kTypes[pick(std::size(kTypes))],
                          test::word_term(word_of(1 + pick(kTerms))),
                          {last - std::min(last, pick(last - opened_at_.value + 2))});
        }
        Commit commit = builder.commit();
        const std::string request = pick(3) == 0 ? "" : "request-" + std::to_string(pick(1000));
        commit.request = request;
        clock_step_ = pick(10) == 0 ? -5000 : static_cast<std::int64_t>(pick(3000));
        std::size_t failed = 0;
        const Status expected = expected_status(commit, applied, required, failed);
        const Submission submission = store_->submit(commit);
        if (submission.status == Status::no_space || submission.status == Status::failed) {
            // Rolling over to another segment may have failed in the meantime.
            EXPECT_NE(store_->write_state(), WriteState::ready);
            return;
        }
        ASSERT_EQ(submission.status, expected);
        if (submission.status != Status::accepted) {
            if (submission.status != Status::busy) {
                EXPECT_EQ(submission.failed, failed);
            }
            return;
        }
        accept(builder, std::move(applied), submission);
        note_request(commit, request);
    }

    /// Positions of dropped commits are given to others, so their requests are forgotten.
    void note_request(const Commit& commit, const std::string& request) {
        if (const std::uint64_t count = commit.writes.size(); count > 0) {
            const std::uint64_t last = commit.writes.back().outcome.position.value;
            requests_.erase(requests_.lower_bound(last - count + 1), requests_.end());
            requests_[last] = {last - count + 1, request};
        }
    }

    /// A commit's request is known until any of its versions is erased.
    void compare_requests() {
        for (const auto& [last, made] : requests_) {
            if (last > base_.last_position().value) {
                break;
            }
            const auto& versions = base_.versions();
            const bool erased =
                std::any_of(versions.begin() + static_cast<std::ptrdiff_t>(made.first) - 1,
                            versions.begin() + static_cast<std::ptrdiff_t>(last),
                            [](const VersionModel::Version& version) { return version.erased; });
            EXPECT_EQ(store_->commit_begin({last}).value, made.first);
            EXPECT_EQ(store_->commit_end({made.first}).value, last);
            EXPECT_EQ(store_->request_of({last}), erased ? "" : made.request) << last;
        }
    }

    void accept(const CommitBuilder& builder, Applied applied, const Submission& submission) {
        applied.ticket = submission.ticket;
        EXPECT_GE(submission.instant, last_instant_);
        EXPECT_EQ(submission.instant.us % 1000, 0);
        std::erase_if(applied.erases, [&](const Applied::Erased& erased) {
            VersionModel copy = now_;
            return copy.erase(erased.resource, erased.scope, erased.version) == 0;
        });
        if (applied.writes.empty() && applied.erases.empty()) {
            EXPECT_EQ(submission.ticket.value, 0U);
            return;
        }
        last_instant_ = submission.instant;
        for (std::size_t i = 0; i < applied.writes.size(); ++i) {
            const VersionWrite& write = builder.writes()[i];
            Applied::Written& written = applied.writes[i];
            const VersionModel::Version* head = now_.standing(written.resource);
            const std::uint64_t newest = head == nullptr ? 0 : head->info.version.value;
            EXPECT_EQ(write.outcome.version, write.version.value_or(VersionNumber{newest + 1}));
            EXPECT_EQ(write.outcome.instant, write.instant.value_or(submission.instant));
            EXPECT_EQ(write.outcome.position.value, now_.last_position().value + i + 1);
            EXPECT_EQ(write.outcome.previous.exists, head != nullptr);
            EXPECT_EQ(write.outcome.previous.version.value, newest);
            written.version = write.outcome.version;
            written.instant = write.outcome.instant;
        }
        apply(now_, applied);
        in_flight_.push_back(std::move(applied));
        if (pick(3) == 0) {
            settle();
        }
    }

    void settle() {
        bool ok = true;
        store_->flush();
        for (Applied& applied : in_flight_) {
            const bool settled = store_->wait(applied.ticket).has_value();
            EXPECT_TRUE(ok || !settled) << "a commit settled after one before it was dropped";
            ok = ok && settled;
            if (settled) {
                apply(base_, applied);
                settled_since_.push_back(std::move(applied));
            } else {
                unknown_.push_back(std::move(applied));
            }
        }
        in_flight_.clear();
        if (ok) {
            return;
        }
        if (store_->write_state() == WriteState::no_space) {
            unknown_.clear();  // they must not come back
        }
        now_ = base_;
    }

    StoreComparison comparison() { return {*store_, base_, resources_, random_}; }

    void compare_search() {
        if (searches_) {
            comparison().search();
        }
    }

    void compare_everything() {
        comparison().everything(*fs_, kDirectory);
        compare_search();
        compare_requests();
    }

    /// At the end, nothing is left of failed attempts: neither files nor open descriptors.
    void expect_no_litter() const {
        for (const std::string& path : fs_->paths()) {
            // A power cut may have brought back a refused restore.
            EXPECT_TRUE(path.starts_with("backup/") || path.starts_with(kRestored) ||
                        path.ends_with(".seg") || path.ends_with(".journal") ||
                        path.ends_with(".run") || path == kDirectory + "/search/manifest")
                << path;
        }
        EXPECT_EQ(fs_->open_files(), 0U);
    }

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
    std::unique_ptr<SimFileSystem> fs_ = std::make_unique<SimFileSystem>();
    std::unique_ptr<Store> store_;
    VersionModel base_;         ///< what has settled
    VersionModel opened_with_;  ///< what had settled when the store was opened
    std::vector<Applied> settled_since_;
    Position opened_at_;              ///< the last one when the store was opened
    VersionModel now_;                ///< what has settled or was submitted since
    std::vector<Applied> in_flight_;  ///< submitted, not settled

    struct Made {
        std::uint64_t first = 0;  ///< position
        std::string request;
    };

    std::map<std::uint64_t, Made> requests_;  ///< of commits, by their last position
    std::vector<Applied> unknown_;            ///< dropped by a failed writer; may be on the disk
};

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(StoreAgainstModel, AnswersAlikeWhateverHappens) {
    const std::uint64_t only = from_environment("ANNALS_SEED", 0);
    const std::uint64_t last = only != 0 ? only : from_environment("ANNALS_SEEDS", kDefaultSeeds);
    for (std::uint64_t seed = only != 0 ? only : 1; seed <= last; ++seed) {
        SCOPED_TRACE("ANNALS_SEED=" + std::to_string(seed));
        Simulation(seed).run();
        ASSERT_FALSE(HasFailure()) << "replay with ANNALS_SEED=" << seed;
    }
}

}  // namespace
}  // namespace annals::storage
