// Dispatcher: follows the log for each active subscription and determines which notifications to send.
//
// It keeps no queue: a subscription is a position in the log, and at most one version that is being sent or waits for a retry.
// A slow receiver delays only its own position, unless its bodies are so large that others have no room.
//
// Layer:   core/subscriptions. net/notifier.h sends the notifications.
// Spec:    FHIR R4 subscription.html; docs/api/subscriptions.md.
// Threads: belongs to one thread, which it blocks while the log syncs; stats() from any.

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

/// An HTTP request to be sent.
struct Notification {
    std::string subscription;  ///< its id
    Position position;         ///< of the version that it reports
    std::uint64_t number = 0;  ///< of this attempt: a version may have several under way
    bool update = false;       ///< PUT; else POST
    std::string url;
    std::vector<std::string> headers;         ///< "Name: value"
    std::shared_ptr<const std::string> body;  ///< null: none
};

struct SubscriptionStats {
    std::uint64_t delivered = 0;  ///< notifications that were accepted
    std::uint64_t failed = 0;     ///< failed attempts
    std::uint64_t active = 0;     ///< subscriptions now
    /// The subscriptions furthest behind, by id, with the number of visible positions not yet processed or delivered.
    std::vector<std::pair<std::string, std::uint64_t>> lags;
};

class Dispatcher {
  public:
    using Clock = std::chrono::steady_clock;

    /// The saved positions from "subscriptions" below config.data. If the file is damaged, that is logged and notifying starts
    /// from the beginning of each subscription. Errors: io, no_store: it can't be read now, and must not be replaced.
    static Result<PositionMap> saved(const Service& service, storage::FileSystem& files);

    /// Lifetime: all arguments outlive it.
    Dispatcher(const Service& service, storage::FileSystem& files, Pings& pings,
               PositionMap positions);

    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Processes new versions for some milliseconds, and returns the notifications to send now: at most one per subscription;
    /// the next follows once that is settled.
    std::vector<Notification> advance(Clock::time_point time);

    /// Reports the outcome of sending a notification.
    void settle(const Notification& notification, const Result<void>& outcome,
                Clock::time_point time);

    /// Saves all positions to disk; advance() does this regularly.
    void save();

    /// Whether advance() should be called again at once.
    bool has_more() const noexcept { return has_more_; }

    /// When to call advance() at the latest, even if nothing is new.
    Clock::time_point next_time() const noexcept { return next_time_; }

    /// Whether no subscription is active, so that new versions may be noticed later.
    bool is_idle() const noexcept { return running_.empty(); }

    std::shared_ptr<const SubscriptionStats> stats() const;

  private:
    /// An active subscription.
    struct Running {
        Subscription what;
        Filter filter;
        storage::VersionInfo version;              ///< of the Subscription
        Position reached;                          ///< everything up to here is done
        std::optional<storage::VersionInfo> next;  ///< to be sent, or being sent
        std::uint64_t body_bytes = 0;  ///< of the body that reports `next`; 0: not known yet
        std::uint64_t under_way = 0;   ///< Notification::number of the attempt under way; 0: none
        bool replaced = false;  ///< the subscription has changed while an attempt is under way
        std::uint64_t attempts = 0;
        Clock::time_point not_before;
        bool held = false;           ///< its criteria can't be read again yet, so it is paused
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
    void count_bodies();
    bool find_room(const std::string& id, std::uint64_t bytes);
    void save_if_due(Clock::time_point time);
    void publish(Clock::time_point time);

    const Service& service_;
    Pings& pings_;
    SavedPositions saved_;
    PositionMap positions_;  ///< to be saved; includes those with status error
    bool delivered_since_ = false;
    Clock::time_point saved_at_;
    RunningMap running_;
    std::shared_ptr<const search::ParameterSet> parameters_;  ///< used by all filters, or null
    Matcher matcher_;
    Position seen_;  ///< Subscriptions up to here have been processed
    /// Of these, those that have to be tried again because of a passing error.
    std::vector<storage::VersionInfo> put_off_;
    std::optional<std::uint64_t> erased_;  ///< versions of Subscriptions, at the last check
    Clock::time_point looked_after_;
    std::string last_leader_;
    /// The bodies under way, which the subscriptions that report the same version share.
    std::map<std::pair<Position, Payload>, std::weak_ptr<const std::string>> bodies_;
    std::uint64_t large_bytes_ = 0;  ///< of the large ones among them, in this advance()
    /// The subscription that was the first to find no room for its body: it comes first the next time, and no other large body is
    /// begun before. Empty: none.
    std::string waiting_;
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
