#include "core/interactions/min_position.h"

#include "core/base/text.h"

#include <algorithm>
#include <chrono>

namespace annals::core {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWaitMax{5000};

/// How often a follower checks whether it has received more.
constexpr std::chrono::milliseconds kFollowedPause{10};

bool is_there(const Service& service, Position position) {
    return service.followed().value_or(service.store().last_position()) >= position;
}

}  // namespace

std::optional<Position> parse_position(std::string_view text) noexcept {
    const auto number = parse_number(text);
    return number ? std::optional(Position{*number}) : std::nullopt;
}

asio::awaitable<Result<void>> await_min_position(const Service& service, const Request& request) {
    const std::optional<Position> wanted = parse_position(*request.min_position);
    if (!wanted) {
        co_return Error{Errc::invalid, "X-Annals-Min-Position is not a position"};
    }
    const Clock::time_point end =
        Clock::now() + std::min(kWaitMax, service.config().limits.request_timeout / 2);
    Clock::time_point time = Clock::now();
    while (!is_there(service, *wanted) && time < end) {
        // The followed position is set after the versions are visible, and setting it wakes nobody.
        const bool follows = service.followed().has_value();
        const Position seen =
            follows ? service.store().last_position() : Position{wanted->value - 1};
        const Clock::time_point until = follows ? std::min(end, time + kFollowedPause) : end;
        const bool news = co_await request.loop->news_after(
            seen, std::chrono::ceil<std::chrono::milliseconds>(until - time));
        time = Clock::now();
        if (!news && time < until) {
            break;  // the server is stopping
        }
    }
    if (!is_there(service, *wanted)) {
        co_return Error{Errc::timeout};
    }
    co_return Result<void>();
}

}  // namespace annals::core
