#include "core/interactions/turns.h"

namespace annals::core {

asio::awaitable<Result<void>> Turns::next() {
    if (std::chrono::steady_clock::now() >= end_) {
        co_return Error{Errc::timeout, "The search took too long", ""};
    }
    co_await give_way();
    co_return Result<void>();
}

asio::awaitable<void> Turns::give_way() {
    co_await loop_.yield();
    pace_.begin_turn();
}

}  // namespace annals::core
