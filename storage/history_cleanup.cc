#include "storage/history_cleanup.h"

#include "core/base/log.h"
#include "core/base/thread_name.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace annals::storage {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// Limits of one commit.
constexpr std::size_t kVersionsPerCommit = 1024;
constexpr std::size_t kResourcesPerCommit = 256;

/// Versions that are close in the log are removed together, over a segment or two, so that a packed segment is replaced a few
/// times rather than for every commit. Erasing them delays other erasures.
constexpr std::uint64_t kPositionsAtOnce = 131'072;

/// Resources examined between two pauses.
constexpr std::uint32_t kResourcesPerSlice = 16'384;

/// Pauses are this many times as long as the work before them.
constexpr int kPauseShare = 3;
constexpr milliseconds kPauseMin{1};

/// How long to wait for the device when writers have gathered too much.
constexpr milliseconds kOverloadedPause{100};

constexpr int kNice = 10;

using Pause = std::function<bool(milliseconds)>;

bool rest(Clock::time_point began, const Pause& pause) {
    const auto worked = std::chrono::duration_cast<milliseconds>(Clock::now() - began);
    return pause(std::max(kPauseMin, worked * kPauseShare));
}

/// One cycle.
class Cleanup {
  public:
    Cleanup(Store& store, const HistoryLimits& limits, const Pause& pause)
        : store_(store), limits_(limits), pause_(pause), counted_(store.resource_count()) {}

    /// From the first version to the last, so that each resource's oldest versions go first.
    Result<CleanupReport> run() {
        const Position last = store_.last_position();
        for (Position after; after < last && !stopped_;) {
            const auto began = Clock::now();
            const Position through{std::min(after.value + kPositionsAtOnce, last.value)};
            ANNALS_TRY_VOID(clean(after, through));
            stopped_ = stopped_ || rest(began, pause_);
            after = through;
        }
        return report_;
    }

  private:
    /// Versions of a resource to remove: this one and those before it.
    struct Going {
        std::uint32_t resource = 0;
        TypeId type;
        std::string id;
        VersionNumber through;
        Position position;  ///< of `through`
    };

    /// The versions in (after, through] that exceed the limits, sorted by resource.
    std::vector<VersionInfo> surplus(Position after, Position through) const {
        std::vector<VersionInfo> versions;
        std::unordered_map<std::uint32_t, VersionNumber> last_to_go;  // 0: none
        for (std::uint64_t p = after.value + 1; p <= through.value; ++p) {
            const auto info = store_.at({p});
            if (!info || info->resource >= counted_.size()) {
                continue;
            }
            const auto [known, is_new] = last_to_go.try_emplace(info->resource);
            if (is_new) {
                // Once per resource: with holes, the cost is proportional to the versions kept.
                const auto surplus = store_.surplus(info->resource, limits_);
                known->second = surplus ? surplus->through : VersionNumber();
            }
            if (info->version <= known->second) {
                versions.push_back(*info);
            }
        }
        std::ranges::sort(versions, {}, [](const VersionInfo& info) {
            return std::pair(info.resource, info.position);
        });
        return versions;
    }

    Result<void> clean(Position after, Position through) {
        const std::vector<VersionInfo> versions = surplus(after, through);
        std::vector<Going> going;
        std::size_t begin = 0;  // of the versions for the next commit
        for (std::size_t at = 0; at < versions.size() && !stopped_; ++at) {
            const bool last = at + 1 == versions.size();
            const bool full = at + 1 - begin == kVersionsPerCommit || last;
            if (full || versions[at + 1].resource != versions[at].resource) {
                ANNALS_TRY_VOID(add(versions[at], going));
            }
            if (full || going.size() == kResourcesPerCommit) {
                ANNALS_TRY_VOID(commit(going));
                going.clear();
                begin = at + 1;
                stopped_ = stopped_ || pause_(kPauseMin);
            }
        }
        return last_.value == 0 ? Result<void>() : store_.wait_erased(last_);
    }

    Result<void> add(const VersionInfo& info, std::vector<Going>& going) const {
        const auto version = store_.load(info);
        if (version) {
            going.push_back(
                {info.resource, info.type, std::string(version->id), info.version, info.position});
            return {};
        }
        if (version.error().code == Errc::corrupt) {
            // Which resource it belongs to isn't known here. It stays, without keeping others from being removed.
            log_warning(fmt::format("history cleanup: {}", version.error().detail));
            return {};
        }
        // Erased meanwhile; anything else is an error.
        return version.error().code == Errc::not_found ? Result<void>() : version.error();
    }

    /// Submits the erases, waits until they are durable, and counts what was removed.
    Result<void> commit(std::span<const Going> going) {
        if (going.empty()) {
            return {};
        }
        std::vector<Erase> erases;
        for (const Going& one : going) {
            Erase& erase = erases.emplace_back();
            erase.type = one.type;
            erase.id = one.id;
            erase.scope = Erase::Scope::through;
            erase.version = one.through;
            erase.expect = Expect::exists;
            erase.expected_position = one.position;
        }
        Commit commit;
        commit.erases = erases;
        using Status = Submission::Status;
        Submission submission = store_.submit(commit);
        while (submission.status == Status::overloaded) {
            stopped_ = pause_(kOverloadedPause);
            if (stopped_) {
                return {};
            }
            submission = store_.submit(commit);
        }
        if (submission.status == Status::busy || submission.status == Status::expectation_failed) {
            // One of them is being written, or has been erased: remove the others one by one, and that one in the next cycle.
            for (std::size_t i = 0; going.size() > 1 && i < going.size() && !stopped_; ++i) {
                ANNALS_TRY_VOID(this->commit(going.subspan(i, 1)));
            }
            return {};
        }
        if (submission.status != Status::accepted) {
            return Error{Errc::no_store, "the log accepts no writes at present"};
        }
        ANNALS_TRY_VOID(store_.wait(submission.ticket));
        for (std::size_t i = 0; i < erases.size(); ++i) {
            const std::uint64_t versions = erases[i].outcome.versions_erased;
            report_.versions += versions;
            if (versions > 0 && !counted_[going[i].resource]) {
                counted_[going[i].resource] = true;
                ++report_.resources;
            }
        }
        last_ = std::max(last_, submission.ticket);
        return {};
    }

    Store& store_;
    const HistoryLimits& limits_;
    const Pause& pause_;
    CleanupReport report_;
    std::vector<bool> counted_;  ///< which resources are in the report
    Ticket last_;                ///< of the commits
    bool stopped_ = false;
};

/// What a cycle would remove.
CleanupReport count_surplus(const Store& store, const HistoryLimits& limits, const Pause& pause) {
    CleanupReport report;
    auto began = Clock::now();
    for (std::uint32_t resource = 0; resource < store.resource_count(); ++resource) {
        if (resource % kResourcesPerSlice == kResourcesPerSlice - 1) {
            if (rest(began, pause)) {
                break;
            }
            began = Clock::now();
        }
        if (const auto surplus = store.surplus(resource, limits)) {
            ++report.resources;
            report.versions += surplus->versions;
        }
    }
    return report;
}

}  // namespace

Result<CleanupReport> clean_history(Store& store, const HistoryLimits& limits, bool dry_run,
                                    const Pause& pause) {
    if (dry_run) {
        return count_surplus(store, limits, pause);
    }
    return Cleanup(store, limits, pause).run();
}

HistoryCleanup::HistoryCleanup(Store& store, const HistoryLimits& limits, milliseconds interval,
                               milliseconds first_after)
    : store_(store), limits_(limits), interval_(interval), first_after_(first_after) {
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
    name_thread("history cleanup");
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    milliseconds wait = first_after_;
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
