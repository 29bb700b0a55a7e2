// Housekeeping of a store at random.

#include "storage/backup.h"
#include "storage/history_cleanup.h"
#include "storage/restore.h"
#include "storage/verify.h"
#include "tests/simulate/store_simulation.h"
#include "tests/support/search_store.h"

#include <gtest/gtest.h>

#include <chrono>

namespace annals::storage {
namespace {

const std::string kBackup = "backup/b";

}  // namespace

void StoreSimulation::clean_histories() {
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
                applied.erases.push_back({resource, Erase::Scope::through, through});
                cleaned.erase(resource, Erase::Scope::through, through);
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

void StoreSimulation::make_backup() {
    settle();
    BackupOptions how;
    how.files = &store_->segment_files();
    const auto end = [this]() -> Result<LogEnd> {
        const auto known = store_->log_end();
        return known && known->segment != 0 ? Result<LogEnd>(*known)
                                            : Error{Errc::no_store, "no segment", {}};
    };
    const auto made = back_up(*fs_, kSimulatedStore, kBackup, end, how);
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

void StoreSimulation::make_offline_backup() {
    if (!fs_->exists(kSimulatedStore + "/segments")) {
        return;
    }
    const auto finished = finish_erasures(*fs_, kSimulatedStore);
    ASSERT_TRUE(finished) << finished.error().detail;
    const auto made = back_up(*fs_, kSimulatedStore, kBackup,
                              [this] { return find_log_end(*fs_, kSimulatedStore); });
    if (made) {
        has_offline_backup_ = true;
        check_backup();
    } else {
        EXPECT_EQ(made.error().code, Errc::usage) << made.error().detail;
        remove_all(kBackup);  // made of a store that has diverged since
    }
}

void StoreSimulation::check_backup() {
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

void StoreSimulation::read_beside() {
    settle();
#if __has_feature(thread_sanitizer)
    return;
#endif
    StoreOptions reading = options();
    reading.read_only = true;
    const auto opened = Store::open(*fs_, kSimulatedStore, reading);
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

void StoreSimulation::remove_all(const std::string& directory) {
    for (const std::string& path : fs_->paths()) {
        if (path.starts_with(directory + "/")) {
            EXPECT_TRUE(fs_->remove(path) || fault_waits_ || power_goes_);
        }
    }
}

void StoreSimulation::rebuild_search() {
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

}  // namespace annals::storage
