// The part of the dispatcher that scans the log, makes notifications, and handles their outcomes.

#include "codec/xml/writer.h"
#include "core/base/log.h"
#include "core/base/sort_unique.h"
#include "core/interactions/change_reader.h"
#include "core/interactions/submitted_resource.h"
#include "core/subscriptions/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

/// The length of a scan, and the number of versions between two checks of the clock.
constexpr std::chrono::milliseconds kScanTurn{5};
constexpr std::size_t kScannedPerLook = 64;

/// Bodies of at most this size are only bounded by subscriptions.max.
constexpr std::size_t kSmallBodyBytes = 64 << 10;

constexpr std::chrono::milliseconds kRetryDelayMax{std::chrono::minutes(5)};

std::chrono::milliseconds delay_after(std::uint64_t failures, std::chrono::milliseconds first) {
    std::chrono::milliseconds delay = first;
    for (std::uint64_t i = 1; i < failures && delay < kRetryDelayMax; ++i) {
        delay *= 2;
    }
    return std::min(delay, std::max(first, kRetryDelayMax));
}

/// What the body counts towards the bound on large ones.
std::uint64_t counted_bytes(const std::string& body) noexcept {
    return body.size() > kSmallBodyBytes ? body.size() : 0;
}

/// The body of a notification. Copied: if the version were erased while the endpoint is slow to take it, zeros would be sent.
std::shared_ptr<const std::string> make_body(std::string_view resource, Payload payload) {
    std::string text;
    if (payload == Payload::json) {
        text = resource;
    } else if (const auto document = thread_parser().parse(resource)) {
        xml::Writer().write(text, document->root());
    }
    return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

void Dispatcher::scan() {
    // A client that binds after this check has not yet written anything that it would be notified of.
    const Position visible = service_.store().last_position();
    for (auto& [id, running] : running_) {
        if (running.what.channel == Channel::websocket && running.reached < visible &&
            !pings_.is_bound(id)) {
            running.reached = visible;
        }
    }
    const Clock::time_point end = Clock::now() + kScanTurn;
    while (Running* const leader = next_leader(visible)) {
        if (Clock::now() >= end) {
            has_more_ = true;
            break;
        }
        scan_behind(*leader, visible);
    }
    matcher_.begin();

    std::vector<std::string> faulty;
    for (const auto& [id, running] : running_) {
        if (running.fault) {
            faulty.push_back(id);
        }
    }
    for (const std::string& id : faulty) {
        const Running& running = running_.find(id)->second;
        if (end_with(id, running, SubscriptionStatus::error,
                     "criteria: " + running.fault->detail)) {
            stop(id, false);
        }
    }
}

/// The next subscription with something to process; each gets its turn.
Dispatcher::Running* Dispatcher::next_leader(Position visible) {
    const auto is_ready = [visible](const auto& entry) {
        const Running& running = entry.second;
        return !running.next && !running.fault && !running.held && running.reached < visible;
    };
    const auto middle = running_.upper_bound(last_leader_);
    auto found = std::find_if(middle, running_.end(), is_ready);
    if (found == running_.end()) {
        found = std::find_if(running_.begin(), middle, is_ready);
        if (found == middle) {
            return nullptr;
        }
    }
    last_leader_ = found->first;
    return &found->second;
}

/// Processes the next versions after `leader` for all subscriptions that have come as far, so that each is parsed once.
void Dispatcher::scan_behind(Running& leader, Position visible) {
    const Position after = leader.reached;
    std::vector<RunningMap::value_type*> readers;
    std::vector<TypeId> types;
    for (auto& entry : running_) {
        const Running& running = entry.second;
        if (!running.next && !running.fault && !running.held && running.reached >= after &&
            running.reached < visible) {
            readers.push_back(&entry);
            types.push_back(running.filter.type);
        }
    }
    sort_unique(types);

    const auto versions = versions_after(service_.store(), types, after, visible, kScannedPerLook);
    matcher_.begin();
    for (const storage::VersionInfo& info : versions) {
        if (info.deletion) {
            continue;
        }
        for (RunningMap::value_type* reader : readers) {
            hold(info, reader->first, reader->second);
        }
    }
    const Position reached =
        versions.size() == kScannedPerLook ? versions.back().position : visible;
    for (RunningMap::value_type* reader : readers) {
        Running& running = reader->second;
        if (running.next) {
            running.reached = Position{running.next->position.value - 1};
        } else if (!running.fault) {
            running.reached = std::max(running.reached, reached);
        }
    }
}

void Dispatcher::hold(const storage::VersionInfo& info, std::string_view id, Running& running) {
    if (running.next || running.fault || info.position <= running.reached ||
        info.type != running.filter.type) {
        return;
    }
    const Result<bool> fits = matcher_.matches(info, running.filter);
    if (!fits && fits.error().code == Errc::corrupt) {
        log_error(fmt::format("subscriptions: {}", fits.error().detail));
    } else if (!fits && fits.error().code != Errc::not_found) {
        running.fault = fits.error();
    } else if (fits && *fits && running.what.channel == Channel::websocket) {
        pings_.ping(id);
        ++delivered_;
    } else if (fits && *fits) {
        running.next = info;
        running.body_bytes = 0;
    }
}

/// Forgets the bodies that are no longer under way, and adds up the large ones that are.
void Dispatcher::count_bodies() {
    large_bytes_ = 0;
    std::erase_if(bodies_, [&](const auto& entry) {
        const std::shared_ptr<const std::string> body = entry.second.lock();
        large_bytes_ += body ? counted_bytes(*body) : 0;
        return !body;
    });
}

/// The next notification of a subscription. None if the version was erased, or has to wait for room: then it stays the next.
std::optional<Notification> Dispatcher::make(const std::string& id, Running& running) {
    const storage::VersionInfo& info = *running.next;
    const Subscription& what = running.what;
    const bool whole = what.payload == Payload::json || what.payload == Payload::xml;
    std::shared_ptr<const std::string> body;
    if (whole) {
        body = bodies_[{info.position, what.payload}].lock();
        // A version that waits is not read again before there is room: many may wait, and this is tried at each commit.
        if (!body && !find_room(id, running.body_bytes)) {
            return {};
        }
    }
    const Result<storage::StoredVersion> stored = service_.store().load(info);
    if (!stored) {
        if (stored.error().code != Errc::not_found) {
            log_error(fmt::format("subscriptions: {}", stored.error().detail));
        }
        running.reached = info.position;
        running.next.reset();
        return {};
    }
    if (whole && !body) {
        body = make_body(stored->body, what.payload);
        running.body_bytes = body->size();
        if (!find_room(id, running.body_bytes)) {
            return {};
        }
        bodies_[{info.position, what.payload}] = body;
        large_bytes_ += counted_bytes(*body);
    }
    const std::string reference = fmt::format("{}/{}", resource_type_name(info.type), stored->id);
    Notification out;
    out.subscription = id;
    out.position = info.position;
    out.url = what.endpoint;
    out.headers = what.headers;
    out.headers.push_back(fmt::format("X-Annals-Position: {}", info.position.value));
    out.headers.push_back(fmt::format("X-Annals-Subscription: Subscription/{}", id));
    if (what.payload != Payload::none) {
        out.headers.push_back(
            fmt::format("X-Annals-Version: {}/_history/{}", reference, info.version.value));
    }
    if (whole) {
        out.update = true;
        out.url += "/" + reference;
        out.headers.push_back(fmt::format("Content-Type: application/fhir+{}; charset=utf-8",
                                          what.payload == Payload::json ? "json" : "xml"));
        out.body = std::move(body);
    }
    out.number = ++sent_;
    running.under_way = out.number;
    return out;
}

/// Whether a body of this size may be under way as well; if not, the subscription waits. Large ones are bounded in total; small
/// ones need no room, so that slow receivers of large bodies don't delay them.
bool Dispatcher::find_room(const std::string& id, std::uint64_t bytes) {
    if (bytes <= kSmallBodyBytes || large_bytes_ == 0 ||
        (waiting_.empty() && large_bytes_ + bytes <= service_.config().limits.max_memory)) {
        return true;
    }
    if (waiting_.empty()) {
        waiting_ = id;
    }
    return false;
}

void Dispatcher::settle(const Notification& notification, const Result<void>& outcome,
                        Clock::time_point time) {
    ++(outcome ? delivered_ : failed_);
    const auto found = running_.find(notification.subscription);
    if (found == running_.end() || found->second.under_way != notification.number) {
        return;
    }
    Running& running = found->second;
    running.under_way = 0;
    const bool replaced = std::exchange(running.replaced, false);
    if (outcome) {
        running.reached = notification.position;
        running.next.reset();
        running.attempts = 0;
        delivered_since_ = true;
        return;
    }
    if (replaced) {
        running.next.reset();  // The endpoint or the criteria may have changed.
        return;
    }
    const Config::Subscriptions& config = service_.config().subscriptions;
    ++running.attempts;
    running.not_before = time + delay_after(running.attempts, config.retry_delay);
    if (running.attempts < config.attempts) {
        return;
    }
    const std::string why =
        fmt::format("The notification of position {} failed {} times, most recently: {}",
                    notification.position.value, running.attempts, outcome.error().detail);
    log_warning(fmt::format("Subscription/{}: {}", notification.subscription, why));
    if (end_with(notification.subscription, running, SubscriptionStatus::error, why)) {
        stop(notification.subscription, false);
    }
}

}  // namespace annals::core
