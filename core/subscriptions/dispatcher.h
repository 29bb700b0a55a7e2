// Dispatcher: goes through the log behind each active subscription and says what is to be sent to whom.
//
// It keeps no queue: a subscription is a position of the log, and at most one version that is being sent or waits to be sent
// again. What a slow receiver delays is its own position alone.
//
// Layer:   core/subscriptions. Who sends is net's business (net/notifier.h).
// Spec:    FHIR R4 subscription.html; docs/api/subscriptions.md.
// Threads: one, which it blocks while the log syncs; stats() from any.

#pragma once

#include "core/base/ids.h"
#include "core/base/instant.h"
#include "core/base/result.h"
#include "core/service.h"
#include "core/subscriptions/filter.h"
#include "core/subscriptions/pings.h"
#include "core/subscriptions/saved_positions.h"
#include "core/subscriptions/subscription.h"
#include "storage/file_system.h"
#include "storage/types.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace annals::core {

/// An HTTP request to be sent. Lifetime: `body` lives as long as this.
struct Notification {
    std::string subscription;  ///< its id
    Position position;         ///< of the version that it is about
    std::uint64_t number = 0;  ///< of this attempt: one version may be under way to several places
    bool update = false;       ///< PUT, else POST
    std::string url;
    std::vector<std::string> headers;  ///< "Name: value"
    std::string_view body;
    std::shared_ptr<const void> pin;  ///< of the body's bytes
};

struct SubscriptionStats {
    std::uint64_t delivered = 0;  ///< notifications that were taken
    std::uint64_t failed = 0;     ///< attempts that were not
    std::uint64_t active = 0;     ///< now
    /// Those furthest behind, by id: positions that are visible and not yet looked at or delivered.
    std::vector<std::pair<std::string, std::uint64_t>> lags;
};

class Dispatcher {
  public:
    using Clock = std::chrono::steady_clock;

    /// Where notifying goes on: from what was saved in "subscriptions" below config.data, and from the beginning, with a
    /// line in the log, where that is damaged. Errors: it can't be read now, and would be replaced; io, no_store.
    static Result<PositionMap> saved(const Service& service, storage::FileSystem& files);

    /// Lifetime: all of them outlive it.
    Dispatcher(const Service& service, storage::FileSystem& files, Pings& pings,
               PositionMap positions);

    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Takes up what is new for some milliseconds, and says what is to be sent now: of each subscription at most one
    /// notification, the next when that was settled.
    std::vector<Notification> advance(Clock::time_point time);

    /// What came of sending a notification.
    void settle(const Notification& notification, const Result<void>& outcome,
                Clock::time_point time);

    /// Remembers on the disk how far everybody is; advance() does it now and then.
    void save();

    /// Whether advance() has more to do at once.
    bool has_more() const noexcept { return has_more_; }

    /// When it is to be called at the latest though nothing is new.
    Clock::time_point next_time() const noexcept { return next_time_; }

    /// Whether there is no active subscription: what is written may be noticed later.
    bool is_idle() const noexcept { return running_.empty(); }

    std::shared_ptr<const SubscriptionStats> stats() const;

  private:
    /// An active subscription.
    struct Running {
        Subscription what;
        Filter filter;
        storage::VersionInfo version;              ///< of the Subscription
        Position reached;                          ///< everything at or before it is done
        std::optional<storage::VersionInfo> next;  ///< to be sent
        std::uint64_t under_way = 0;               ///< ... and being sent: Notification::number
        bool replaced = false;                     ///< the subscription has changed meanwhile
        std::uint64_t attempts = 0;
        Clock::time_point not_before;
        bool held = false;           ///< its criteria can't be read anew yet: it looks at nothing
        std::optional<Error> fault;  ///< its criteria can't be evaluated
    };

    using RunningMap = std::map<std::string, Running, std::less<>>;

    void forget_erased();
    void take_up_changes(Clock::time_point time);
    Result<void> take_up(const storage::VersionInfo& info);
    Result<void> consider(const storage::StoredVersion& stored);
    Result<Filter> read_filter(const Subscription& what) const;
    void renew_filters();
    Result<void> run(const storage::StoredVersion& stored, Subscription what, Filter filter);
    void stop(std::string_view id, bool forget);
    void drop_oldest();
    void look_after(Clock::time_point time);
    bool end_with(std::string_view id, const Running& running, SubscriptionStatus status,
                  std::string_view error);
    void scan();
    Running* next_leader(Position visible);
    void scan_behind(Running& leader, Position visible);
    void hold(const storage::VersionInfo& info, std::string_view id, Running& running);
    std::optional<Notification> make(const std::string& id, Running& running);
    void save_if_due(Clock::time_point time);
    void publish(Clock::time_point time);

    const Service& service_;
    Pings& pings_;
    SavedPositions saved_;
    PositionMap positions_;  ///< to be saved: also of those whose status is error
    bool delivered_since_ = false;
    Clock::time_point saved_at_;
    RunningMap running_;
    std::shared_ptr<const search::ParameterSet> parameters_;  ///< by which all filters are, or null
    Matcher matcher_;
    Position seen_;  ///< Subscriptions at or before it have been taken up
    std::vector<storage::VersionInfo>
        put_off_;  ///< ... but for these, which a full disk was in the way of
    std::optional<std::uint64_t> erased_;  ///< versions of Subscriptions, when that was looked at
    Clock::time_point looked_after_;
    std::string last_leader_;
    bool has_more_ = false;
    Clock::time_point next_time_;

    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
    std::uint64_t failed_ = 0;
    Clock::time_point published_;
    mutable std::mutex mutex_;
    std::shared_ptr<const SubscriptionStats> stats_;  // guarded by mutex_
};

}  // namespace annals::core
