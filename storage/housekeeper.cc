#include "storage/housekeeper.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"
#include "storage/short_turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace annals::storage {
namespace {

/// How soon something that found the device full is tried again.
constexpr auto kRetryInterval = std::chrono::seconds(1);

/// Pause between two steps of a compaction that nobody waits for: with steps of 1 MiB, 32 MiB/s at most.
constexpr auto kCompactionPause = std::chrono::milliseconds(30);

/// The same when compressing, where a step is some 25 ms of work: an eighth of a core.
constexpr auto kPackPause = std::chrono::milliseconds(200);

/// How often to look for segments that have become old enough to be packed, or were given up before.
constexpr auto kPackInterval = std::chrono::seconds(10);

}  // namespace

Housekeeper::Housekeeper(Eraser& eraser, Compaction& compaction, SettleListeners& listeners,
                         ForgetDerived forget_derived, Left left)
    : eraser_(eraser),
      compaction_(compaction),
      listeners_(listeners),
      forget_derived_(std::move(forget_derived)),
      added_{.ticket = {}, .erases = left.erases, .erased = std::move(left.erased)},
      left_(added_.erases != 0),
      ready_(left_) {
    thread_ = std::thread([this] { run(); });
}

Housekeeper::~Housekeeper() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (outcome_) {
        (void)eraser_.finish();  // If that fails, the next opening repeats what is done already.
    }
}

void Housekeeper::announce(Ticket ticket) {
    const std::lock_guard lock(mutex_);
    announced_ = ticket;
}

void Housekeeper::add(std::span<const Position> erased) {
    const std::lock_guard lock(mutex_);
    adding_.ticket = announced_;
    ++adding_.erases;
    adding_.erased.insert(adding_.erased.end(), erased.begin(), erased.end());
}

void Housekeeper::wake() {
    {
        const std::lock_guard lock(mutex_);
        if (adding_.erases == 0) {
            return;
        }
        added_.take(adding_);
        ready_ = true;
    }
    wake_.notify_one();
}

Result<void> Housekeeper::wait(Ticket ticket) {
    std::unique_lock lock(mutex_);
    done_wake_.wait(lock, [&] { return done_ >= ticket || announced_ < ticket || !outcome_; });
    if (!outcome_ && ticket >= failed_from_) {
        return outcome_;
    }
    return {};
}

Result<Ticket> Housekeeper::unfinished() {
    const std::lock_guard lock(mutex_);
    if (!outcome_ && (left_ || announced_ >= failed_from_)) {
        return outcome_.error();
    }
    if (left_) {
        return Error{Errc::no_store, "erase: the device was full when the store was opened"};
    }
    return announced_ > done_ ? announced_ : Ticket{};
}

void Housekeeper::Task::take(Task& other) {
    ticket = std::max(ticket, other.ticket);
    erases += other.erases;
    erased.insert(erased.end(), other.erased.begin(), other.erased.end());
    other = {};
}

/// Returns the damage in what it was to erase, if there is any.
Result<std::optional<Error>> Housekeeper::work(Task& task) {
    compaction_.erasing(task.erased);
    ANNALS_TRY_VOID(forget_derived_(task.erased));
    ANNALS_TRY(const std::uint64_t bodies, eraser_.blank(task.erased, task.erases));
    bodies_.fetch_add(bodies, std::memory_order_relaxed);
    return eraser_.take_damage();
}

void Housekeeper::compact(bool hurry) {
    {
        const std::lock_guard lock(mutex_);
        compaction_.ask();
        compacting_ = true;
        hurried_ = hurry;
        compaction_outcome_ = {};
    }
    wake_.notify_one();
}

Result<void> Housekeeper::wait_compacted() {
    std::unique_lock lock(mutex_);
    done_wake_.wait(lock, [&] { return !compacting_ || !outcome_; });
    return outcome_ ? compaction_outcome_ : outcome_;
}

void Housekeeper::compact_step(std::unique_lock<std::mutex>& lock) {
    if (!outcome_) {
        compacting_ = false;
        done_wake_.notify_all();
        return;
    }
    lock.unlock();
    const auto more = compaction_.step();
    if (!more) {
        log_warning(fmt::format("compaction: {}", more.error().detail));
    }
    lock.lock();
    if (!more) {
        compaction_outcome_ = more.error();
        if (compaction_.broken()) {
            // Even if the device was only full: the file being read no longer has the segment's name.
            outcome_ = Error{Errc::io, more.error().detail};
            failed_from_ = {done_.value + 1};
            compaction_.end();
            compacting_ = false;
            done_wake_.notify_all();
        }
        return;
    }
    if (!*more && !compaction_.progress().running) {
        compacting_ = false;
        hurried_ = false;
        done_wake_.notify_all();
    }
}

void Housekeeper::run() {
    name_thread("housekeeper");
    // An erasure is a few syncs with next to nothing between them, and somebody waits for it.
    take_short_turns();
    std::unique_lock lock(mutex_);
    Task task;
    std::chrono::steady_clock::time_point next_step;  // of an unhurried compaction
    while (true) {
        if (task.erases != 0) {
            // A retry, together with whatever was added since.
            (void)wake_.wait_for(lock, kRetryInterval, [&] { return stopping_; });
        } else if (!compacting_) {
            const auto asked = [&] { return ready_ || stopping_ || compacting_; };
            if (!compaction_.comes_back()) {
                wake_.wait(lock, asked);
            } else if (!wake_.wait_for(lock, kPackInterval, asked)) {
                compacting_ = true;
                continue;
            }
        } else if (!hurried_) {
            (void)wake_.wait_until(lock, next_step,
                                   [&] { return ready_ || stopping_ || hurried_; });
        }
        if (task.erases != 0 || ready_ || stopping_) {
            erase(task, lock);
            if (stopping_ && task.erases == 0 && added_.erases == 0) {
                return;
            }
        }
        // Erasures come first, but compaction gets its turns even if they never pause.
        const auto now = std::chrono::steady_clock::now();
        if (compacting_ && task.erases == 0 && !stopping_ && (hurried_ || now >= next_step)) {
            compact_step(lock);
            next_step = std::chrono::steady_clock::now() +
                        (compaction_.packed_last() ? kPackPause : kCompactionPause);
        }
    }
}

void Housekeeper::erase(Task& task, std::unique_lock<std::mutex>& lock) {
    ready_ = false;
    task.take(added_);
    if (task.erases == 0) {
        return;
    }
    const bool last_try = stopping_;
    const bool retries = !outcome_;
    const bool again = !retries || outcome_.error().code == Errc::no_store;
    lock.unlock();
    Result<std::optional<Error>> done =
        again ? work(task) : Result<std::optional<Error>>(outcome_.error());
    if (!done && again) {
        const bool passing = done.error().code == Errc::no_store;
        if (!retries || !passing) {  // Not every second while the device is full.
            log_error(fmt::format(
                "erase: {}: erased data is no longer read, but its bytes are still there",
                done.error().detail));
        }
        if (!passing) {
            // The journal may have changes that a segment doesn't have yet: a copy with another salt would never get them.
            compaction_.end();
            // Whatever it was: not_found would mean the resource, and corrupt a damaged record.
            done = Error{Errc::io, std::string(done.error().detail)};
        }
    }
    if (done && retries) {
        log_info("erase: the remaining bytes are removed");
    }
    const Ticket through = task.ticket;
    lock.lock();
    if (done) {
        outcome_ = {};
        done_ = through;
        left_ = false;
        task = {};
        compacting_ = true;
    } else {
        if (outcome_) {
            failed_from_ = {done_.value + 1};
        }
        outcome_ = done.error();
        if (last_try || done.error().code != Errc::no_store) {
            task = {};  // The next opening does it: the journal doesn't count it as done.
        }
    }
    done_wake_.notify_all();
    lock.unlock();
    // Last, so that unfinished() agrees. To listeners the ticket has failed from now on, even if a later attempt succeeds.
    const std::optional<Error> failure = done ? *done : std::optional(done.error());
    listeners_.erased(through, failure ? std::optional(failure->code) : std::nullopt);
    lock.lock();
}

}  // namespace annals::storage
