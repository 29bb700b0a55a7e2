#include "core/interactions/min_position.h"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace annals::core {

namespace {

constexpr std::chrono::milliseconds kWaitMax{5000};

}  // namespace

std::optional<Position> parse_position(std::string_view text) noexcept {
    Position position;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, position.value);
    if (text.empty() || error != std::errc() || stop != end) {
        return std::nullopt;
    }
    return position;
}

asio::awaitable<Result<void>> await_min_position(const Service& service, const Request& request) {
    const std::optional<Position> wanted = parse_position(*request.min_position);
    if (!wanted) {
        co_return Error{Errc::invalid, "X-Annals-Min-Position is no position", ""};
    }
    if (wanted->value == 0 || service.store().last_position() >= *wanted) {
        co_return Result<void>();
    }
    const auto limit = std::min(kWaitMax, service.config().limits.request_timeout / 2);
    const bool there = co_await request.loop->news_after({wanted->value - 1}, limit);
    if (!there) {
        co_return Error{Errc::timeout, "", ""};
    }
    co_return Result<void>();
}

}  // namespace annals::core
