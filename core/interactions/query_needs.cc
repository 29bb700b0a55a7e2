#include "core/interactions/query_needs.h"

#include "core/definitions.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace annals::core {

QueryNeeds::QueryNeeds(const Service& service, Loop& loop)
    : service_(service),
      loop_(loop),
      end_(std::chrono::steady_clock::now() + service.config().limits.request_timeout) {
}

asio::awaitable<Result<void>> QueryNeeds::meet() {
    if (!unread_.empty()) {
        co_await loop_.fetched(std::exchange(unread_, {}));
        put_off_.work.clear();
        ++times_fetched_;
        co_return Result<void>();
    }
    terminology::Worker& worker = service_.definitions().worker();
    const search::PutOff::Limit limit{end_, &worker.stopping()};
    using Done = std::vector<search::PutOff::Done>;
    auto done = co_await worker.make<Done>(
        loop_,
        [work = std::exchange(put_off_.work, {}), at = put_off_.at, &service = service_, limit] {
            search::Snapshot snapshot(service.store(), at);
            const search::SnapshotResources stored(snapshot, service.definitions().carried());
            Done made;
            for (const search::PutOff::Work& one : work) {
                made.push_back({one.question, one.make(stored, limit)});
            }
            return made;
        },
        end_);
    if (!done) {
        co_return std::move(done.error());
    }
    if (std::chrono::steady_clock::now() >= end_) {
        co_return Error{Errc::timeout};
    }
    if (times_expired_ < kTimesExpiredMax) {
        // Where the snapshot grew too old meanwhile it is asked again: the query may next be read at a newer one.
        const std::size_t expired = std::erase_if(*done, [](const search::PutOff::Done& one) {
            return !one.made && one.made.error().code == Errc::expired;
        });
        times_expired_ += expired > 0 ? 1 : 0;
    }
    for (const search::PutOff::Done& one : *done) {
        bytes_ += one.made ? one.made->bytes : 0;
    }
    if (bytes_ > kHeldBytesMax) {
        co_return Error{
            Errc::too_costly,
            fmt::format("The value sets of the search have more than {} bytes", kHeldBytesMax)};
    }
    std::ranges::move(*done, std::back_inserter(put_off_.done));
    co_return Result<void>();
}

}  // namespace annals::core
