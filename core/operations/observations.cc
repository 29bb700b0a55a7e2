#include "core/operations/observations.h"

#include "core/definitions.h"
#include "core/interactions/turns.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace annals::core {

bool made_later(const Made& a, const Made& b) {
    return a.at != b.at ? a.at > b.at : a.info.position > b.info.position;
}

Instant made_at(json::Value observation, Instant written) {
    const json::Value period = observation["effectivePeriod"];
    for (const json::Value value :
         {observation["effectiveDateTime"], observation["effectiveInstant"], period["end"],
          period["start"], observation["issued"]}) {
        if (const Result<InstantRange> range = parse_date_time(value.string()); value && range) {
            return range->begin;
        }
    }
    return written;
}

asio::awaitable<Result<void>> for_each_observation(const Service& service, const Request& request,
                                                   const std::vector<search::QueryPair>& criteria,
                                                   const TakeObservation& take) {
    const TypeId type = *find_resource_type("Observation");
    search::Snapshot snapshot(service.store());
    const ScopedView view(service, request, kMaySearch);
    const auto parameters = service.indexing().parameters();
    const Result<search::Query> query =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            const search::SnapshotResources stored(snapshot, service.definitions().carried(),
                                                   unread);
            const search::QueryContext context{.stored = stored,
                                               .view = view,
                                               .parameters = parameters,
                                               .base_url = std::string(request.base_url),
                                               .strict = true};
            return search::parse_query(context, {type}, criteria);
        });
    if (!query) {
        co_return query.error();
    }
    if (const Result<void> permitted =
            require_search(service, request, query->others, Extent::part);
        !permitted) {
        co_return permitted.error();
    }
    if (snapshot.runs(type).runs.empty()) {
        co_return Result<void>();
    }
    Turns turns(*request.loop, service.config().limits.request_timeout);
    search::Execution execution(snapshot, type, query->types.front().plan);
    execution.want({.limit = kObservationsMax + 1});
    Result<void> done = co_await turns.finish(execution);
    if (!done) {
        co_return std::move(done.error());
    }
    if (execution.matches().size() > kObservationsMax) {
        co_return Error{Errc::too_costly,
                        fmt::format("More than {} observations match", kObservationsMax), ""};
    }
    std::vector<storage::VersionInfo> observations;
    for (const search::Match& match : execution.matches()) {
        if (const auto info = service.store().at(match.position())) {
            observations.push_back(*info);
        }
    }
    search::BodyReader reader(service.store());
    for (std::size_t i = 0; i < observations.size(); ++i) {
        if (i % kFetchedAtOnce == 0) {
            const auto rest = std::span<const storage::VersionInfo>(observations).subspan(i);
            co_await request.loop->fetched(rest.first(std::min(rest.size(), kFetchedAtOnce)));
        }
        const storage::VersionInfo& info = observations[i];
        if (const json::Value body = reader.read(info.position)) {
            done = take(body, {made_at(body, info.instant), info});
            if (!done) {
                co_return std::move(done.error());
            }
        }
        if (turns.pace().is_over()) {
            done = co_await turns.next();
            if (!done) {
                co_return std::move(done.error());
            }
        }
    }
    co_return Result<void>();
}

}  // namespace annals::core
