#include "core/operations/lastn.h"

#include "core/interactions/search_bundle.h"
#include "core/interactions/turns.h"
#include "core/operations/input.h"
#include "core/outcome.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>

namespace annals::core {

namespace {

/// An observation and when it was made.
struct Made {
    Instant at;
    storage::VersionInfo info;
};

bool later(const Made& a, const Made& b) {
    return a.at != b.at ? a.at > b.at : a.info.position > b.info.position;
}

/// When it was made: the effective time, else when it was issued, else when it was written.
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

/// Observations by what they are of: those with a coding in common belong together, and those that others join.
class Groups {
  public:
    void add(json::Value code, const Made& made) {
        std::vector<std::string> keys;
        for (const json::Value coding : code["coding"].elements()) {
            keys.push_back(
                fmt::format("{}|{}", coding["system"].string(), coding["code"].string()));
        }
        if (keys.empty()) {
            keys.push_back(code["text"].string());
        }
        const std::size_t index = made_.size();
        made_.push_back(made);
        leads_to_.push_back(index);
        for (std::string& key : keys) {
            const std::size_t with = by_key_.try_emplace(std::move(key), index).first->second;
            leads_to_[group_of(with)] = group_of(index);
        }
    }

    /// Of each group the last `max`, and those made at the same time as the last of them; the group with the last
    /// one of all first.
    std::vector<storage::VersionInfo> last(std::size_t max) {
        std::vector<std::vector<Made>> groups(made_.size());
        for (std::size_t i = 0; i < made_.size(); ++i) {
            groups[group_of(i)].push_back(made_[i]);
        }
        std::erase_if(groups, [](const std::vector<Made>& group) { return group.empty(); });
        for (std::vector<Made>& group : groups) {
            std::sort(group.begin(), group.end(), later);
            std::size_t kept = std::min(group.size(), max);
            while (kept < group.size() && group[kept].at == group[kept - 1].at) {
                ++kept;
            }
            group.resize(kept);
        }
        std::sort(groups.begin(), groups.end(),
                  [](const auto& a, const auto& b) { return later(a.front(), b.front()); });
        std::vector<storage::VersionInfo> out;
        for (const std::vector<Made>& group : groups) {
            for (const Made& made : group) {
                out.push_back(made.info);
            }
        }
        return out;
    }

  private:
    /// The observation that stands for the group of `index`.
    std::size_t group_of(std::size_t index) {
        while (leads_to_[index] != index) {
            // The way gets shorter for who comes next.
            leads_to_[index] = leads_to_[leads_to_[index]];
            index = leads_to_[index];
        }
        return index;
    }

    std::vector<Made> made_;
    std::vector<std::size_t> leads_to_;  ///< another of the same group; itself: stands for it
    std::unordered_map<std::string, std::size_t> by_key_;  ///< an observation that has it
};

struct Asked {
    std::vector<search::QueryPair> criteria;
    std::size_t max = 1;
    std::string url;
};

/// "code" of "code:in", "subject" of "subject:Patient.name".
std::string_view parameter_of(std::string_view name) {
    return name.substr(0, name.find_first_of(":."));
}

Result<Asked> read_asked(const Service& service, const Request& request, TypeId type,
                         const search::ParameterSet& parameters) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY(const std::vector<std::string> names, input.names());
    if (names.size() > search::kSearchPairsMax) {
        return Error{Errc::too_costly,
                     fmt::format("There are more than {} parameters", search::kSearchPairsMax), ""};
    }
    Asked asked;
    ANNALS_TRY(const auto max, input.number("max"));
    if (max && *max == 0) {
        return Error{Errc::invalid, "max is 1 at least", ""};
    }
    asked.max = static_cast<std::size_t>(
        std::min<std::uint64_t>(max.value_or(1), service.config().max_page_size));
    asked.url = fmt::format("{}/Observation/$lastn?max={}", request.base_url, asked.max);
    bool says_whose = false;
    bool says_kind = false;
    for (const std::string& name : names) {
        if (name == "max") {
            continue;
        }
        const std::string_view parameter = parameter_of(name);
        if (parameters.find(type, parameter) == nullptr) {
            return Error{Errc::invalid, fmt::format("There is no parameter '{}'", name), ""};
        }
        says_whose = says_whose || parameter == "patient" || parameter == "subject";
        says_kind = says_kind || parameter.find("code") != std::string_view::npos ||
                    parameter.find("category") != std::string_view::npos;
        ANNALS_TRY(std::vector<std::string> values, input.texts(name));
        for (std::string& value : values) {
            asked.url += fmt::format("&{}={}", percent_encode(name), percent_encode(value));
            asked.criteria.emplace_back(name, std::move(value));
        }
    }
    if (!says_whose) {
        return Error{Errc::required, "The parameter patient or subject is required", ""};
    }
    if (!says_kind) {
        return Error{Errc::required, "The parameter category, or one of a code, is required", ""};
    }
    return asked;
}

asio::awaitable<Result<Response>> run(const Service& service, const Request& request,
                                      const Target& target) {
    const auto parameters = service.indexing().parameters();
    Result<Asked> asked = read_asked(service, request, target.type, *parameters);
    if (!asked) {
        co_return std::move(asked.error());
    }
    search::Snapshot snapshot(service.store());
    const ScopedView view(service, request, kMaySearch);
    const Result<search::Query> query =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            const search::SnapshotResources stored(snapshot, terminology::r4_definitions(), unread);
            const search::QueryContext context{.stored = stored,
                                               .view = view,
                                               .parameters = parameters,
                                               .base_url = std::string(request.base_url),
                                               .strict = true};
            return search::parse_query(context, {target.type}, asked->criteria);
        });
    if (!query) {
        co_return query.error();
    }
    SearchBundleContent content;
    content.links.emplace_back("self", asked->url);
    content.total = 0;
    if (!snapshot.runs(target.type).runs.empty()) {
        Turns turns(*request.loop, service.config().limits.request_timeout);
        search::Execution execution(snapshot, target.type, query->types.front().plan);
        execution.want({.limit = kLastnObservationsMax + 1});
        Result<void> done = co_await turns.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        if (execution.matches().size() > kLastnObservationsMax) {
            co_return Error{Errc::too_costly,
                            fmt::format("More than {} observations match", kLastnObservationsMax),
                            ""};
        }
        std::vector<storage::VersionInfo> observations;
        for (const search::Match& match : execution.matches()) {
            if (const auto info = service.store().at(match.position())) {
                observations.push_back(*info);
            }
        }
        Groups groups;
        search::BodyReader reader(service.store());
        for (std::size_t i = 0; i < observations.size(); ++i) {
            if (i % kFetchedAtOnce == 0) {
                const auto rest = std::span<const storage::VersionInfo>(observations).subspan(i);
                co_await request.loop->fetched(rest.first(std::min(rest.size(), kFetchedAtOnce)));
            }
            const storage::VersionInfo& info = observations[i];
            if (const json::Value body = reader.read(info.position)) {
                groups.add(body["code"], {made_at(body, info.instant), info});
            }
            if (turns.pace().is_over()) {
                done = co_await turns.next();
                if (!done) {
                    co_return std::move(done.error());
                }
            }
        }
        content.matches = groups.last(asked->max);
        content.total = content.matches.size();
    }
    co_return answer_search(service, request.base_url, std::move(content));
}

}  // namespace

asio::awaitable<Response> lastn_operation(const Service& service, const Request& request,
                                          const Target& target) {
    Result<Response> response = co_await run(service, request, target);
    if (!response) {
        co_return outcome_response(response.error(), request);
    }
    co_return *std::move(response);
}

}  // namespace annals::core
