// The steps, and what opens a store and keeps it from working.

#include "tests/simulate/store_simulation.h"

#include "storage/segment_files.h"
#include "storage/verify.h"
#include "tests/support/search_store.h"

#include <gtest/gtest.h>

#include <utility>

namespace annals::storage {
namespace {

using Call = test::SimFileSystem::Call;

constexpr int kSteps = 400;
constexpr Call kCalls[] = {
    Call::write,  Call::sync,   Call::resize, Call::allocate,       Call::create,
    Call::rename, Call::remove, Call::link,   Call::sync_directory, Call::open,
    Call::list,   Call::read,   Call::map};

}  // namespace

void StoreSimulation::run() {
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

void StoreSimulation::open(const std::vector<Applied>& unknown) {
    if (fs_->exists(kSimulatedStore + "/segments")) {
        const auto report = verify(*fs_, kSimulatedStore);
        ASSERT_TRUE(report) << report.error().detail;
        for (const Damage& damage : report->damages) {
            ADD_FAILURE() << damage.segment << " offset " << damage.offset << ": " << damage.reason;
        }
    }
    durability_ = durable_       ? Durability::commit
                  : pick(2) == 0 ? Durability::none
                                 : Durability::interval;
    auto opened = Store::open(*fs_, kSimulatedStore, options());
    ASSERT_TRUE(opened) << opened.error().detail;
    store_ = *std::move(opened);
    const Position settled = base_.last_position();
    for (std::size_t i = 0; !comparison().holds(); ++i) {
        ASSERT_LT(i, unknown.size())
            << "the store holds no prefix of what was submitted: it ends at position "
            << store_->last_position().value << "; settled were " << settled.value << " and "
            << unknown.size() << " commits up to " << base_.last_position().value << " were not";
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

void StoreSimulation::reopen(bool power_cut) {
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

void StoreSimulation::mend() {
    if (loses_) {
        fs_->lose_on_failed_sync();
    }
    for (const auto call : kCalls) {
        fs_->fail_next(call, Errc::io, 0);
    }
    fs_->set_space({});
    fs_->set_descriptors({});
}

StoreOptions StoreSimulation::options() {
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

void StoreSimulation::end_power_cut() {
    if (pick(2) == 0) {
        fs_->come_back();
    } else {
        fs_ = fs_->after_power_cut(random_());
    }
}

void StoreSimulation::meet_faults_in_opening(bool may_cut) {
    for (std::uint64_t times = pick(3) == 0 ? 1 + pick(3) : 0; times > 0; --times) {
        const bool cut = may_cut && pick(2) == 0;
        if (cut) {
            fs_->power_off_at(1 + pick(10));
        } else {
            fail_some_call(pick(3) == 0 ? 100 : 1);
        }
        if (auto opened = Store::open(*fs_, kSimulatedStore, options())) {
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

void StoreSimulation::link_segment() {
    const std::lock_guard lock(store_->segment_files().mutex);
    std::vector<std::string> sealed;
    for (const std::string& path : fs_->paths()) {
        if (path.ends_with(".seg") && path.starts_with(kSimulatedStore)) {
            sealed.push_back(path);
        }
    }
    if (sealed.size() > 1) {
        fs_->add_name(sealed[pick(sealed.size() - 1)], "backup/" + std::to_string(pick(3)));
    }
}

void StoreSimulation::fail_some_call(std::uint64_t count) {
    fs_->fail_next(kCalls[pick(std::size(kCalls))], pick(2) == 0 ? Errc::io : Errc::no_store, count,
                   pick(4));
}

void StoreSimulation::break_something() {
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

void StoreSimulation::recover() {
    settle();
    const bool full = store_->write_state() == WriteState::no_space;
    comparison().some();
    CommitBuilder builder;
    builder.put("Patient", "refused", "");
    const Submission refused = store_->submit(builder.commit());
    EXPECT_EQ(refused.status, full ? Status::no_space : Status::failed);
    reopen(!full && pick(2) == 0);
}

void StoreSimulation::compare_search() {
    if (searches_) {
        comparison().search();
    }
}

void StoreSimulation::compare_everything() {
    comparison().everything(*fs_, kSimulatedStore);
    compare_search();
    compare_requests();
}

void StoreSimulation::expect_no_litter() const {
    for (const std::string& path : fs_->paths()) {
        // A power cut may have brought back a refused restore.
        EXPECT_TRUE(path.starts_with("backup/") || path.starts_with(kRestored) ||
                    path.ends_with(".seg") || path.ends_with(".journal") ||
                    path.ends_with(".run") || path == kSimulatedStore + "/search/manifest")
            << path;
    }
    EXPECT_EQ(fs_->open_files(), 0U);
}

}  // namespace annals::storage
