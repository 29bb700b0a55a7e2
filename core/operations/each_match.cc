#include "core/operations/each_match.h"

#include "core/definitions.h"
#include "core/interactions/query_needs.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

/// Why an unreadable version must not be skipped: unless it was erased, the result would be wrong without
/// it, and nobody would notice.
Result<void> check_erased(const storage::Store& store, const storage::VersionInfo& version) {
    const Result<storage::StoredVersion> stored = store.load(version);
    return stored || stored.error().code == Errc::not_found ? Result<void>()
                                                            : Result<void>(stored.error());
}

}  // namespace

bool made_later(const Made& a, const Made& b) {
    return a.at != b.at ? a.at > b.at : a.info.position > b.info.position;
}

asio::awaitable<Result<void>> for_each_match(const Service& service, const Request& request,
                                             TypeId type,
                                             const std::vector<search::QueryPair>& criteria,
                                             Turns& turns, const TakeMatch& take) {
    search::Snapshot snapshot(service.store());
    const ScopedView view(service, request, kMaySearch);
    const auto parameters = view.parameters();
    const Result<search::Query> query = co_await prepare_and_look(
        service, *request.loop,
        [&](QueryNeeds& needs) {
            const search::SnapshotResources stored(snapshot, service.definitions().carried(),
                                                   needs.unread(), needs.put_off());
            const search::QueryContext context{.stored = stored,
                                               .view = view,
                                               .parameters = parameters,
                                               .base_url = std::string(request.base_url),
                                               .strict = true};
            return search::parse_query(context, {type}, criteria);
        },
        turns.end());
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
    search::Execution execution(snapshot, type, query->types.front().plan);
    execution.want({.limit = kMatchesTakenMax + 1});
    Result<void> done = co_await turns.finish(execution);
    if (!done) {
        co_return std::move(done.error());
    }
    if (execution.matches().size() > kMatchesTakenMax) {
        co_return Error{Errc::too_costly,
                        fmt::format("More than {} resources match", kMatchesTakenMax)};
    }
    std::vector<storage::VersionInfo> found;
    for (const search::Match& match : execution.matches()) {
        if (const auto info = service.store().at(match.position())) {
            found.push_back(*info);
        }
    }
    done = co_await for_each_body(service.store(), found, turns, take);
    co_return done;
}

asio::awaitable<Result<void>> for_each_body(const storage::Store& store,
                                            std::span<const storage::VersionInfo> versions,
                                            Turns& turns, const TakeMatch& take) {
    search::BodyReader reader(store);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (i % kFetchedAtOnce == 0) {
            co_await turns.fetched_from(versions, i);
        }
        if (const json::Value body = reader.read(versions[i].position)) {
            Result<void> taken = take(body, versions[i]);
            if (!taken) {
                co_return std::move(taken.error());
            }
        } else if (Result<void> fit = check_erased(store, versions[i]); !fit) {
            co_return fit;
        }
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
    }
    co_return Result<void>();
}

}  // namespace annals::core
