#include "core/operations/observations.h"

#include "core/operations/each_match.h"

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
    const TakeMatch made = [&take](json::Value observation, const storage::VersionInfo& info) {
        return take(observation, {made_at(observation, info.instant), info});
    };
    Result<void> done = co_await for_each_match(service, request,
                                                *find_resource_type("Observation"), criteria, made);
    co_return done;
}

}  // namespace annals::core
