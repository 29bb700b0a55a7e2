#include "core/interactions/turns.h"

#include <utility>

namespace annals::core {

asio::awaitable<Result<void>> Turns::next() {
    if (is_late()) {
        co_return Error{Errc::timeout, "The request took too long"};
    }
    co_await give_way();
    co_return Result<void>();
}

asio::awaitable<void> Turns::give_way() {
    if (unread_.empty()) {
        co_await loop_.yield();
    } else {
        co_await loop_.fetched(std::exchange(unread_, {}));
    }
    pace_.begin_turn();
}

}  // namespace annals::core
