#include "core/interactions/query_needs.h"

#include "core/definitions.h"
#include "core/search/snapshot_resources.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace annals::core {

QueryNeeds::~QueryNeeds() {
    service_.definitions().worker().let_go(std::move(held_));
}

asio::awaitable<Result<void>> QueryNeeds::meet() {
    if (!unread_.empty()) {
        co_await loop_.fetched(std::exchange(unread_, {}));
        put_off_ = {};
        ++times_fetched_;
        co_return Result<void>();
    }
    // What could not be made is asked for again: the loop then finds out why.
    std::vector<search::PutOff::Work>& work = put_off_.work;
    std::erase_if(work, [this](const search::PutOff::Work& one) {
        return std::ranges::find(made_, one.name) != made_.end();
    });
    for (const search::PutOff::Work& one : work) {
        made_.push_back(one.name);
    }
    puts_off_ = !work.empty() && made_.size() < kMadeMax;
    if (work.empty()) {
        co_return Result<void>();
    }
    terminology::Worker& worker = service_.definitions().worker();
    const search::PutOff::Limit limit{
        std::chrono::steady_clock::now() + service_.config().limits.request_timeout,
        &worker.stopping()};
    auto made = co_await worker.make<Held>(
        loop_, [put_off = std::exchange(put_off_, {}), &service = service_, limit] {
            search::Snapshot snapshot(service.store(), put_off.at);
            const search::SnapshotResources stored(snapshot, service.definitions().carried());
            Held held;
            for (const auto& one : put_off.work) {
                held.push_back(one.make(stored, limit));
            }
            return held;
        });
    if (!made && loop_.given_up()) {
        co_return std::move(made.error());
    }
    if (std::chrono::steady_clock::now() >= limit.end) {
        co_return Error{Errc::timeout};
    }
    if (made) {
        std::ranges::move(*made, std::back_inserter(held_));
    } else {
        puts_off_ = false;  // for lack of a thread
    }
    co_return Result<void>();
}

}  // namespace annals::core
