#include "core/operations/observations.h"

#include "core/search/ranges.h"

#include <algorithm>
#include <optional>

namespace annals::core {

namespace {

/// When it was made: the effective time, else when it was issued, else when it was `written`. Dates without a zone
/// are in `zone`; null: UTC.
Instant made_at(json::Value observation, Instant written, const TimeZone* zone) {
    const json::Value timing = observation["effectiveTiming"];
    std::optional<std::int64_t> last_event;
    for (const json::Value event : timing["event"].elements()) {
        if (const auto range = search::date_range(event.string(), zone)) {
            last_event = std::max(last_event, std::optional(range->low));
        }
    }
    if (last_event) {
        return {*last_event};
    }
    const json::Value period = observation["effectivePeriod"];
    const json::Value bounds = timing["repeat"]["boundsPeriod"];
    for (const json::Value value :
         {observation["effectiveDateTime"], observation["effectiveInstant"], period["end"],
          period["start"], bounds["end"], bounds["start"], observation["issued"]}) {
        if (const auto range = search::date_range(value.string(), zone)) {
            return {range->low};
        }
    }
    return written;
}

}  // namespace

asio::awaitable<Result<void>> for_each_observation(const Service& service, const Request& request,
                                                   const std::vector<search::QueryPair>& criteria,
                                                   Turns& turns, const TakeObservation& take) {
    const auto parameters = service.indexing().parameters();
    const TakeMatch made = [&take, zone = parameters->zone()](json::Value observation,
                                                              const storage::VersionInfo& info) {
        return take(observation, {made_at(observation, info.instant, zone), info});
    };
    Result<void> done = co_await for_each_match(
        service, request, *find_resource_type("Observation"), criteria, turns, made);
    co_return done;
}

}  // namespace annals::core
