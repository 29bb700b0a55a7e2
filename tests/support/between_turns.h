// answer_between_turns(): a whole answer, while between two turns of its work something else is done.
//
// Threads: one, which waits for the answer.

#pragma once

#include "core/interactions/entry_answer.h"
#include "core/interactions/turns.h"
#include "core/own_loop.h"
#include "core/service.h"

#include <asio/awaitable.hpp>

#include <functional>

namespace annals::test {

inline asio::awaitable<void> act_after(core::Loop& loop, int turns, const bool& over,
                                       const std::function<void()>& act) {
    for (int turn = 0; turn < turns && !over; ++turn) {
        co_await loop.yield();
    }
    act();
}

inline asio::awaitable<core::Response> answer_while_acting(const core::Service& service,
                                                           const core::Request& request, int turns,
                                                           const std::function<void()>& act) {
    bool over = false;
    core::spawn(*request.loop, "act", act_after(*request.loop, turns, over, act));
    core::Response response = co_await core::handle(service, request);
    core::AnswerBudget budget(service.config());
    core::Turns pieces(*request.loop);
    if (response.more != nullptr) {
        co_await core::draw_answer(request, core::EntryUse::read, budget, pieces, response);
    }
    over = true;
    co_await request.loop->yield();
    co_return response;
}

/// The answer to `request`. `act` is called once others had `turns` turns, or else when that is complete.
inline Result<core::Response> answer_between_turns(const core::Service& service,
                                                   storage::Store& store, core::Request& request,
                                                   int turns, const std::function<void()>& act) {
    core::OwnLoop loop(store);
    return loop.run("test", request, answer_while_acting(service, request, turns, act));
}

}  // namespace annals::test
