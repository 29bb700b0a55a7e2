#include "storage/housekeeper.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace annals::storage {
namespace {

/// So many bodies go under one entry of the journal.
constexpr std::size_t kGroup = 4096;

/// What found the device full is tried again after this.
constexpr auto kRetryInterval = std::chrono::seconds(1);

}  // namespace

Housekeeper::Housekeeper(Eraser& eraser, SettleListeners& listeners, ForgetDerived forget_derived)
    : eraser_(eraser), listeners_(listeners), forget_derived_(std::move(forget_derived)) {
    thread_ = std::thread([this] { run(); });
}

Housekeeper::~Housekeeper() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (failure_) {
        (void)eraser_.finish();  // If not, the next opening does once more what is done.
    }
}

void Housekeeper::add(Ticket ticket, std::span<const Position> erased, std::uint64_t records) {
    const std::lock_guard lock(mutex_);
    added_.ticket = ticket;
    added_.erases += records;
    added_.erased.insert(added_.erased.end(), erased.begin(), erased.end());
}

void Housekeeper::wake() {
    {
        const std::lock_guard lock(mutex_);
        if (added_.erases == 0) {
            return;
        }
        ready_ = true;
    }
    wake_.notify_one();
}

Result<void> Housekeeper::wait(Ticket ticket) {
    std::unique_lock lock(mutex_);
    done_wake_.wait(lock, [&] { return done_ >= ticket || added_.ticket < ticket || !failure_; });
    if (!failure_ && ticket >= failed_from_) {
        return failure_;
    }
    return {};
}

Result<void> Housekeeper::work(Task& task) {
    std::span<const Position> left(task.erased);
    ANNALS_TRY_VOID(forget_derived_(left));
    while (left.size() > kGroup) {
        ANNALS_TRY(const std::uint64_t bodies, eraser_.blank(left.first(kGroup), 0));
        bodies_.fetch_add(bodies, std::memory_order_relaxed);
        left = left.subspan(kGroup);
    }
    ANNALS_TRY(const std::uint64_t bodies, eraser_.blank(left, task.erases));
    bodies_.fetch_add(bodies, std::memory_order_relaxed);
    return {};
}

void Housekeeper::run() {
    std::unique_lock lock(mutex_);
    Task task;
    while (true) {
        const auto ready = [&] { return ready_ || stopping_; };
        if (task.erases == 0) {
            wake_.wait(lock, ready);
        } else {
            // It was tried before; what has come since goes with it.
            (void)wake_.wait_for(lock, kRetryInterval, [&] { return stopping_; });
        }
        ready_ = false;
        task.ticket = std::max(task.ticket, added_.ticket);
        task.erases += std::exchange(added_.erases, 0);
        task.erased.insert(task.erased.end(), added_.erased.begin(), added_.erased.end());
        added_.erased.clear();
        if (task.erases == 0) {
            return;  // Stopping, and nothing is left.
        }
        const bool last_try = stopping_;
        const bool again = failure_ || failure_.error().code == Errc::no_store;
        lock.unlock();
        Result<void> done = again ? work(task) : failure_;
        if (!done && again) {
            log_error(
                fmt::format("erase: {}: what was erased is not read any more, but its bytes "
                            "are still there",
                            done.error().detail));
        }
        // The listeners know the ticket as failed from then on, also if a later attempt succeeds.
        listeners_.erased(task.ticket, done.has_value(), done ? Errc::internal : done.error().code);
        lock.lock();
        if (done) {
            failure_ = {};
            done_ = task.ticket;
            task = {};
        } else {
            if (failure_) {
                failed_from_ = {done_.value + 1};
            }
            failure_ = done;
            if (last_try || done.error().code != Errc::no_store) {
                task = {};  // The next opening does it: the journal doesn't count it as done.
            }
        }
        done_wake_.notify_all();
        if (last_try && task.erases == 0 && added_.erases == 0) {
            return;
        }
    }
}

}  // namespace annals::storage
