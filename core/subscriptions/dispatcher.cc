#include "core/subscriptions/dispatcher.h"

#include "core/base/all_resource_types.h"
#include "core/base/log.h"
#include "core/interactions/change_reader.h"
#include "core/interactions/submitted_resource.h"
#include "core/subscriptions/status_change.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

/// How many Subscriptions are processed between two looks at the store.
constexpr std::size_t kSubscriptionsPerStep = 64;

/// How long after a delivery positions are saved, and how long after they moved on without one.
constexpr std::chrono::seconds kSaveDelay{1};
constexpr std::chrono::seconds kSaveDelayMax{10};

/// How often to look, at least, for changes that come without a new version: subscriptions that have ended or were erased.
constexpr std::chrono::seconds kLookInterval{1};

constexpr std::chrono::milliseconds kStatsInterval{100};
constexpr std::size_t kLagsMax = 20;
constexpr std::uint64_t kRememberedPerActive = 4;
constexpr int kLooksBackMax = 100;

std::string folder_of(const Service& service) {
    return service.config().data + "/subscriptions";
}

/// Whether the error may be gone a little later.
bool is_passing(const Error& error) noexcept {
    return error.code == Errc::no_store || error.code == Errc::overloaded || error.code == Errc::io;
}

/// Whether there are search parameters that can't be used yet because stored resources are still being indexed.
bool has_unready(const search::ParameterSet& parameters) {
    return !std::ranges::all_of(kAllResourceTypes, [&](TypeId type) {
        return std::ranges::all_of(parameters.of(type), &search::Parameter::ready);
    });
}

/// Whether the search parameters of a type that the filter refers to have changed since it was made.
bool is_outdated(const Filter& filter, const search::ParameterSet& parameters) {
    const auto differs = [&](TypeId type) {
        return parameters.fingerprint(type) != filter.parameters->fingerprint(type);
    };
    return differs(filter.type) || std::ranges::any_of(filter.others, differs);
}

/// Whether the version ends its subscription, so that a later one starts anew.
bool is_end(const storage::StoredVersion& stored) {
    // The server that a version was replicated from sends its notifications.
    if (stored.info.deletion || stored.method == storage::Method::history) {
        return true;
    }
    const Result<json::Document> document = thread_parser().parse(stored.body);
    return document && status_of(document->root()) == SubscriptionStatus::off;
}

/// Whether the subscription was erased completely after `position` and then created again: version numbers start again.
bool is_made_anew(const storage::Store& store, std::string_view id, Position position) {
    const auto first = store.version(subscription_type(), id, VersionNumber{1});
    return first && first->position > position;
}

/// Where the subscription in `stored` begins: at the first of consecutive versions that request it, since versions in quick
/// succession may not all have been looked at.
Position begin_of(const storage::Store& store, const storage::StoredVersion& stored) {
    Position begin = stored.info.position;
    VersionNumber number = stored.info.version;
    for (int looks = 0; looks < kLooksBackMax && number.value > 1; ++looks) {
        --number.value;
        const auto info = store.version(stored.info.type, stored.id, number);
        if (!info || info->deletion) {
            break;
        }
        const Result<storage::StoredVersion> before = store.load(*info);
        if (!before || before->method == storage::Method::history) {
            break;
        }
        const Result<json::Document> document = thread_parser().parse(before->body);
        const auto status = document ? status_of(document->root()) : std::nullopt;
        if (status != SubscriptionStatus::requested && status != SubscriptionStatus::active) {
            break;
        }
        begin = info->position;
    }
    return begin;
}

}  // namespace

Result<PositionMap> Dispatcher::saved(const Service& service, storage::FileSystem& files) {
    Result<PositionMap> read = SavedPositions(files, folder_of(service)).read();
    if (!read && read.error().code == Errc::corrupt) {
        log_error(
            fmt::format("subscriptions start again at their activation: {}", read.error().detail));
        return PositionMap();
    }
    return read;
}

Dispatcher::Dispatcher(const Service& service, storage::FileSystem& files, Pings& pings,
                       PositionMap positions)
    : service_(service),
      pings_(pings),
      saved_(files, folder_of(service)),
      positions_(std::move(positions)),
      saved_at_(Clock::now()),
      matcher_(service),
      stats_(std::make_shared<const SubscriptionStats>()) {
}

std::vector<Notification> Dispatcher::advance(Clock::time_point time) {
    has_more_ = false;
    next_time_ = time + kLookInterval;
    forget_erased();
    take_up_changes(time);
    look_after(time);
    renew_filters();
    scan();
    count_bodies();
    std::vector<Notification> out;
    const auto make_due = [&](RunningMap::value_type& entry) {
        auto& [id, running] = entry;
        if (!running.next || running.under_way != 0) {
            return;
        }
        if (running.not_before > time) {
            next_time_ = std::min(next_time_, running.not_before);
            return;
        }
        if (std::optional<Notification> notification = make(id, running)) {
            out.push_back(*std::move(notification));
        } else if (!running.next) {
            has_more_ = true;
        }
    };
    const auto first = running_.lower_bound(std::exchange(waiting_, {}));
    std::for_each(first, running_.end(), make_due);
    std::for_each(running_.begin(), first, make_due);
    pings_.tell();
    save_if_due(time);
    publish(time);
    return out;
}

// ---- what subscriptions there are ----

/// Called before changes are processed: a subscription with the id of an erased one is a new one.
void Dispatcher::forget_erased() {
    const storage::Store& store = service_.store();
    const std::uint64_t erased = store.totals(subscription_type()).erased;
    if (erased_ == erased) {
        return;
    }
    erased_ = erased;
    std::vector<std::string> gone;
    for (const auto& [id, running] : running_) {
        if (store.at(running.version.position)) {
            continue;
        }
        // It still exists if only old versions of it were erased.
        const auto newest = store.current(subscription_type(), id);
        if (!newest || newest->deletion || is_made_anew(store, id, running.version.position)) {
            gone.push_back(id);
        }
    }
    for (const std::string& id : gone) {
        stop(id, true);
    }
    std::erase_if(positions_, [&](const auto& entry) {
        const auto newest = store.current(subscription_type(), entry.first);
        return !running_.contains(entry.first) &&
               (!newest || newest->deletion || is_made_anew(store, entry.first, entry.second));
    });
}

void Dispatcher::take_up_changes(Clock::time_point time) {
    if (time - looked_after_ >= kLookInterval) {
        for (const storage::VersionInfo& info : std::exchange(put_off_, {})) {
            if (const Result<void> done = take_up(info); !done) {
                put_off_.push_back(info);
            }
        }
    }
    const storage::Store& store = service_.store();
    const TypeId types[] = {subscription_type()};
    while (seen_ < store.last_position()) {
        const Position visible = store.last_position();
        const auto versions = versions_after(store, types, seen_, visible, kSubscriptionsPerStep);
        for (const storage::VersionInfo& info : versions) {
            if (const Result<void> done = take_up(info); !done) {
                put_off_.push_back(info);
            }
        }
        seen_ = versions.size() == kSubscriptionsPerStep ? versions.back().position : visible;
    }
}

/// Errors: only those that may pass.
Result<void> Dispatcher::take_up(const storage::VersionInfo& info) {
    const storage::Store& store = service_.store();
    const Result<storage::StoredVersion> stored = store.load(info);
    if (!stored) {
        if (stored.error().code != Errc::not_found) {
            log_error(fmt::format("subscriptions: {}", stored.error().detail));
        }
        return {};
    }
    const auto newest = store.current(info.type, stored->id);
    if (!newest || newest->position != info.position) {
        // The newest version decides and comes later, but positions from before an end must not be carried over.
        const auto left = positions_.find(stored->id);
        const bool before = left != positions_.end() && left->second < info.position;
        if ((running_.contains(stored->id) || before) && is_end(*stored)) {
            stop(stored->id, true);
        }
        return {};
    }
    if (is_end(*stored)) {
        stop(stored->id, true);
        return {};
    }
    const Result<void> considered = consider(*stored);
    if (considered || is_passing(considered.error())) {
        return considered;
    }
    // The error may quote what a client wrote; the log isn't the place for that.
    log_warning(fmt::format("Subscription/{} cannot be activated: see its error", stored->id));
    stop(stored->id, false);
    const Result<bool> said =
        change_status(service_, *stored, SubscriptionStatus::error, considered.error().detail);
    if (!said && is_passing(said.error())) {
        return Error(said.error());
    }
    if (!said) {
        log_warning(fmt::format("Subscription/{} cannot be given the status error: {}", stored->id,
                                said.error().detail));
    }
    return {};
}

/// Errors: faults of the subscription, and those that may pass.
Result<void> Dispatcher::consider(const storage::StoredVersion& stored) {
    ANNALS_TRY(const json::Document document, thread_parser().parse(stored.body));
    const auto status = status_of(document.root());
    if (!status) {
        stop(stored.id, true);
        return {};
    }
    if (*status == SubscriptionStatus::error) {
        stop(stored.id, false);
        return {};
    }
    const Config::Subscriptions& config = service_.config().subscriptions;
    ANNALS_TRY(Subscription what, read_subscription(document.root(), config.endpoints));
    Result<Filter> filter = read_filter(what);
    if (!filter) {
        return std::move(filter.error());
    }
    if (!running_.contains(stored.id) && running_.size() >= config.max) {
        return Error{Errc::too_costly,
                     fmt::format("{} subscriptions are active already", config.max)};
    }
    if (what.end && *what.end <= now()) {
        ANNALS_TRY_VOID(change_status(service_, stored, SubscriptionStatus::off, ""));
        return {};
    }
    if (*status == SubscriptionStatus::active) {
        return run(stored, std::move(what), *std::move(filter));
    }
    if (!positions_.contains(stored.id)) {
        PositionMap positions = positions_;
        // A websocket subscription that becomes a rest-hook continues at its position.
        const auto running = running_.find(stored.id);
        positions.emplace(stored.id, running == running_.end() ? begin_of(service_.store(), stored)
                                                               : running->second.reached);
        // The start of a rest-hook is on disk before the subscription is reported as active.
        if (what.channel == Channel::rest_hook) {
            ANNALS_TRY_VOID(saved_.write(positions));
        }
        positions_ = std::move(positions);
    }
    ANNALS_TRY_VOID(change_status(service_, stored, SubscriptionStatus::active, ""));
    return {};
}

/// Errors: those of parse_filter(); overloaded while search parameters are becoming ready.
Result<Filter> Dispatcher::read_filter(const Subscription& what) const {
    Result<Filter> filter = parse_filter(service_, what.type, what.criteria);
    if (!filter && has_unready(*service_.indexing().parameters())) {
        return Error{Errc::overloaded, std::move(filter.error().detail)};
    }
    return filter;
}

/// Reads criteria again if a SearchParameter that they use has been changed or removed.
void Dispatcher::renew_filters() {
    const auto parameters = service_.indexing().parameters();
    if (parameters == parameters_) {
        return;
    }
    parameters_ = parameters;
    for (auto& [id, running] : running_) {
        running.held = false;
        if (running.fault || !is_outdated(running.filter, *parameters)) {
            continue;
        }
        Result<Filter> filter = read_filter(running.what);
        if (filter) {
            running.filter = *std::move(filter);
        } else if (is_passing(filter.error())) {
            running.held = true;
            parameters_.reset();
        } else {
            running.fault = std::move(filter.error());
        }
    }
}

Result<void> Dispatcher::run(const storage::StoredVersion& stored, Subscription what,
                             Filter filter) {
    const auto [entry, is_new] = running_.try_emplace(std::string(stored.id));
    Running& running = entry->second;
    running.what = std::move(what);
    running.filter = std::move(filter);
    running.version = stored.info;
    running.attempts = 0;
    running.not_before = {};
    running.held = false;
    running.fault.reset();
    running.replaced = running.under_way != 0;
    if (!running.replaced) {
        running.next.reset();
    }
    if (is_new) {
        const auto saved = positions_.find(stored.id);
        // A store restored to an earlier state has no positions beyond that.
        running.reached = saved == positions_.end()
                              ? begin_of(service_.store(), stored)
                              : std::min(saved->second, service_.store().last_position());
        log_info(fmt::format("Subscription/{} is active, starting at position {}", stored.id,
                             running.reached.value));
    }
    if (running.what.channel == Channel::websocket) {
        positions_.erase(entry->first);
    } else {
        positions_.try_emplace(entry->first, running.reached);
    }
    return {};
}

void Dispatcher::stop(std::string_view id, bool forget) {
    if (const auto running = running_.find(id); running != running_.end()) {
        if (!forget && running->second.what.channel == Channel::rest_hook) {
            positions_.insert_or_assign(std::string(id), running->second.reached);
            drop_oldest();
        }
        running_.erase(running);
        delivered_since_ = true;
        log_info(fmt::format("Subscription/{} is no longer active", id));
    }
    if (const auto position = positions_.find(id); forget && position != positions_.end()) {
        positions_.erase(position);
        delivered_since_ = true;
    }
}

/// Limits how many inactive subscriptions are remembered.
void Dispatcher::drop_oldest() {
    const std::size_t most = kRememberedPerActive * service_.config().subscriptions.max;
    while (positions_.size() > most) {
        auto oldest = positions_.end();
        for (auto entry = positions_.begin(); entry != positions_.end(); ++entry) {
            if (!running_.contains(entry->first) &&
                (oldest == positions_.end() || entry->second < oldest->second)) {
                oldest = entry;
            }
        }
        if (oldest == positions_.end()) {
            return;
        }
        positions_.erase(oldest);
    }
}

/// Once a second, ends subscriptions whose time is over.
void Dispatcher::look_after(Clock::time_point time) {
    if (time - looked_after_ < kLookInterval) {
        return;
    }
    looked_after_ = time;
    std::vector<std::string> ended;
    for (const auto& [id, running] : running_) {
        if (running.what.end && *running.what.end <= now() &&
            service_.store().at(running.version.position)) {
            ended.push_back(id);
        }
    }
    for (const std::string& id : ended) {
        if (end_with(id, running_.find(id)->second, SubscriptionStatus::off, "")) {
            stop(id, true);
        }
    }
}

/// Writes the subscription's final status. False if that has to be tried again.
bool Dispatcher::end_with(std::string_view id, const Running& running, SubscriptionStatus status,
                          std::string_view error) {
    const Result<storage::StoredVersion> stored = service_.store().load(running.version);
    const Result<bool> done = stored ? change_status(service_, *stored, status, error)
                                     : Result<bool>(Error(stored.error()));
    if (!done && is_passing(done.error())) {
        return false;
    }
    if (!done) {
        log_warning(fmt::format("Subscription/{} cannot be given the status {}: {}", id,
                                name_of(status), done.error().detail));
    }
    return true;
}

// ---- saved positions and statistics ----

void Dispatcher::save_if_due(Clock::time_point time) {
    const auto since = time - saved_at_;
    if (since < kSaveDelay || (!delivered_since_ && since < kSaveDelayMax)) {
        return;
    }
    saved_at_ = time;
    save();
}

void Dispatcher::save() {
    bool moved = delivered_since_;
    for (const auto& [id, running] : running_) {
        if (running.what.channel == Channel::rest_hook) {
            Position& position = positions_[id];
            moved = moved || position != running.reached;
            position = running.reached;
        }
    }
    if (!moved) {
        return;
    }
    const Result<void> written = saved_.write(positions_);
    if (!written) {
        log_error(fmt::format("subscriptions: the positions cannot be saved: {}",
                              written.error().detail));
    }
    delivered_since_ = !written;
}

void Dispatcher::publish(Clock::time_point time) {
    if (time - published_ < kStatsInterval) {
        return;
    }
    published_ = time;
    auto stats = std::make_shared<SubscriptionStats>();
    stats->delivered = delivered_;
    stats->failed = failed_;
    stats->active = running_.size();
    const Position visible = service_.store().last_position();
    for (const auto& [id, running] : running_) {
        stats->lags.emplace_back(id, visible.value - std::min(visible, running.reached).value);
    }
    const auto by_lag = [](const auto& a, const auto& b) { return a.second > b.second; };
    std::ranges::sort(stats->lags, by_lag);
    stats->lags.resize(std::min(stats->lags.size(), kLagsMax));
    const std::lock_guard lock(mutex_);
    stats_ = std::move(stats);
}

std::shared_ptr<const SubscriptionStats> Dispatcher::stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
}

}  // namespace annals::core
