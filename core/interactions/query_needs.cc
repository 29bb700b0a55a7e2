#include "core/interactions/query_needs.h"

#include "core/definitions.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace annals::core {

QueryNeeds::QueryNeeds(const Service& service, Loop& loop, Clock::time_point end)
    : service_(service), loop_(loop), end_(std::min(end, service.request_end())) {
}

asio::awaitable<Result<void>> QueryNeeds::meet() {
    const bool spent = std::exchange(put_off_.spent, false);
    if (!unread_.empty()) {
        co_await loop_.fetched(std::exchange(unread_, {}));
        put_off_.work.clear();
        ++times_fetched_;
        co_return Result<void>();
    }
    if (spent && put_off_.work.empty()) {
        co_await loop_.yield();
        if (loop_.given_up()) {
            co_return Error{Errc::overloaded};
        }
    } else {
        Result<void> left = co_await leave_to_worker();
        if (!left) {
            co_return std::move(left.error());
        }
    }
    if (Clock::now() >= end_) {
        co_return Error{Errc::timeout};
    }
    if (put_off_.bytes > kHeldBytesMax) {
        co_return Error{Errc::too_costly,
                        fmt::format("What the query's value sets and codes stand for takes more "
                                    "than {} MiB",
                                    kHeldBytesMax >> 20)};
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> QueryNeeds::leave_to_worker() {
    terminology::Worker& worker = service_.definitions().worker();
    const search::PutOff::Limit limit{end_, &worker.stopping()};
    using Done = std::vector<std::pair<std::string, search::PutOff::Made>>;
    auto done = co_await worker.make<Done>(
        loop_,
        [work = std::exchange(put_off_.work, {}), at = put_off_.at, &service = service_, limit] {
            search::Snapshot snapshot(service.store(), at);
            const search::SnapshotResources stored(snapshot, service.definitions().carried());
            Done made;
            for (const search::PutOff::Work& one : work) {
                made.emplace_back(one.question, one.make(stored, limit));
            }
            return made;
        },
        end_);
    if (!done) {
        co_return std::move(done.error());
    }
    if (times_expired_ < kTimesExpiredMax) {
        // Where the snapshot grew too old meanwhile it is asked again: the query may next be read at a newer one.
        const std::size_t expired = std::erase_if(*done, [](const auto& one) {
            return !one.second && one.second.error().code == Errc::expired;
        });
        times_expired_ += expired > 0 ? 1 : 0;
    }
    for (auto& [question, made] : *done) {
        put_off_.keep(std::move(question), std::move(made));
    }
    co_return Result<void>();
}

}  // namespace annals::core
