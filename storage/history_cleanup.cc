#include "storage/history_cleanup.h"

#include "core/base/log.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace annals::storage {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Bounds of one commit: its erasure holds up others that come then.
constexpr std::uint64_t kVersionsPerCommit = 1024;
constexpr std::size_t kResourcesPerCommit = 256;

/// Looked at between two pauses.
constexpr std::uint32_t kResourcesPerSlice = 16'384;

/// Pauses are so many times as long as the work before them.
constexpr int kPauseShare = 3;
constexpr milliseconds kPauseMin{1};
constexpr int kNice = 10;

/// Erases on their way into one commit.
class Gathered {
  public:
    bool full() const noexcept {
        return erases_.size() >= kResourcesPerCommit || versions_ >= kVersionsPerCommit;
    }

    bool empty() const noexcept { return erases_.empty(); }

    Result<void> add(const Store& store, const Surplus& surplus) {
        const auto newest = store.load(surplus.newest);
        if (!newest) {
            // Erased meanwhile, or damaged, which is for others to say.
            return newest.error().code == Errc::not_found ? Result<void>() : newest.error();
        }
        Erase& erase = erases_.emplace_back();
        erase.type = surplus.newest.type;
        erase.id = ids_.emplace_back(newest->id);
        erase.scope = Erase::Scope::through;
        erase.version = surplus.through;
        erase.expect = Expect::exists;
        versions_ += surplus.versions;
        return {};
    }

    /// Submits, waits until the bytes are gone, and counts what went.
    Result<void> commit(Store& store, CleanupReport& report) {
        Commit commit;
        commit.erases = erases_;
        const Submission submission = store.submit(commit);
        using Status = Submission::Status;
        if (submission.status == Status::accepted) {
            ANNALS_TRY_VOID(store.wait(submission.ticket));
            for (const Erase& erase : erases_) {
                report.versions += erase.outcome.versions_erased;
                report.resources += erase.outcome.versions_erased > 0 ? 1 : 0;
            }
            if (submission.ticket.value != 0) {
                ANNALS_TRY_VOID(store.wait_erased(submission.ticket));
            }
        } else if (submission.status == Status::busy ||
                   submission.status == Status::expectation_failed) {
            // Somebody writes one of them just now: the others one by one, that one in the next cycle.
            if (erases_.size() > 1) {
                ANNALS_TRY_VOID(commit_singly(store, report));
            }
        } else {
            return Error{Errc::no_store, "the log takes no writes now", {}};
        }
        clear();
        return {};
    }

  private:
    Result<void> commit_singly(Store& store, CleanupReport& report) {
        std::vector<Erase> all = std::move(erases_);
        for (const Erase& erase : all) {
            erases_.assign(1, erase);
            // clear() ends with what is pointed at; the ids of the others are still wanted.
            std::deque<std::string> ids = std::move(ids_);
            ANNALS_TRY_VOID(commit(store, report));
            ids_ = std::move(ids);
        }
        return {};
    }

    void clear() {
        erases_.clear();
        ids_.clear();
        versions_ = 0;
    }

    std::vector<Erase> erases_;
    std::deque<std::string> ids_;
    std::uint64_t versions_ = 0;
};

}  // namespace

Result<CleanupReport> clean_history(Store& store, const HistoryLimits& limits, bool dry_run,
                                    const std::function<bool(milliseconds)>& pause) {
    CleanupReport report;
    Gathered gathered;
    auto began = Clock::now();
    const auto rest = [&] {
        const auto worked = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
        const bool stop = pause(std::max(kPauseMin, worked * kPauseShare));
        began = Clock::now();
        return stop;
    };
    for (std::uint32_t resource = 0; resource < store.resource_count(); ++resource) {
        if (resource % kResourcesPerSlice == kResourcesPerSlice - 1 && rest()) {
            return report;
        }
        if (dry_run) {
            if (const auto surplus = store.surplus(resource, limits)) {
                ++report.resources;
                report.versions += surplus->versions;
            }
            continue;
        }
        while (const auto surplus = store.surplus(resource, limits, kVersionsPerCommit)) {
            ANNALS_TRY_VOID(gathered.add(store, *surplus));
            if (!gathered.full()) {
                break;
            }
            const std::uint64_t before = report.versions;
            ANNALS_TRY_VOID(gathered.commit(store, report));
            if (rest()) {
                return report;
            }
            if (!surplus->more || report.versions == before) {
                break;
            }
            --report.resources;  // It is counted with the last of it.
        }
    }
    if (!gathered.empty()) {
        ANNALS_TRY_VOID(gathered.commit(store, report));
    }
    return report;
}

HistoryCleanup::HistoryCleanup(Store& store, const HistoryLimits& limits, milliseconds interval)
    : store_(store), limits_(limits), interval_(interval) {
    thread_ = std::thread([this] { run(); });
}

HistoryCleanup::~HistoryCleanup() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

bool HistoryCleanup::stopped_within(milliseconds time) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, time, [&] { return stopping_; });
}

void HistoryCleanup::run() {
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    milliseconds wait = kFirstAfter;
    while (!stopped_within(wait)) {
        const auto began = Clock::now();
        const auto report = clean_history(store_, limits_, false,
                                          [&](milliseconds time) { return stopped_within(time); });
        if (!report) {
            log_warning(fmt::format("history cleanup: {}", report.error().detail));
        } else {
            const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
            log_info(fmt::format("history cleanup: {} versions of {} resources removed in {:.1f} s",
                                 report->versions, report->resources, seconds));
            store_.note_cleanup(report->versions);
        }
        wait = interval_;
    }
}

}  // namespace annals::storage
