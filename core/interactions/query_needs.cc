#include "core/interactions/query_needs.h"

#include "core/definitions.h"
#include "core/search/snapshot_resources.h"

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
    // Whatever is left afterwards, even for lack of a thread, is done on this one.
    puts_off_ = false;
    auto made = co_await service_.definitions().worker().make<Held>(
        loop_, [put_off = std::exchange(put_off_, {}), &service = service_] {
            search::Snapshot snapshot(service.store(), put_off.at);
            const search::SnapshotResources stored(snapshot, service.definitions().carried());
            Held held;
            for (const auto& one : put_off.work) {
                held.push_back(one(stored));
            }
            return held;
        });
    if (!made && loop_.given_up()) {
        co_return std::move(made.error());
    }
    held_ = made ? *std::move(made) : Held();
    co_return Result<void>();
}

}  // namespace annals::core
