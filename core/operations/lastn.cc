#include "core/operations/lastn.h"

#include "core/base/text_map.h"
#include "core/interactions/first_page.h"
#include "core/interactions/search_bundle.h"
#include "core/operations/coded_input.h"
#include "core/operations/observations.h"
#include "core/search/query.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

/// Groups observations by code: those with a common coding are in one group, also through others.
class Groups {
  public:
    void add(json::Value code, const Made& made) {
        std::vector<std::string> keys;
        for (const json::Value coding : code["coding"].elements()) {
            if (coding["code"].is_string()) {
                keys.push_back(coding_key(coding));
            }
        }
        if (keys.empty()) {
            keys.push_back(text_key(code));
        }
        const std::size_t index = made_.size();
        made_.push_back(made);
        leads_to_.push_back(index);
        for (std::string& key : keys) {
            const std::size_t with = by_key_.try_emplace(std::move(key), index).first->second;
            leads_to_[group_of(with)] = group_of(index);
        }
    }

    /// The last `max` of each group, and those made at the same time as the last of these; the group with
    /// the most recent one first.
    std::vector<storage::VersionInfo> last(std::size_t max) {
        std::vector<std::vector<Made>> groups(made_.size());
        for (std::size_t i = 0; i < made_.size(); ++i) {
            groups[group_of(i)].push_back(made_[i]);
        }
        std::erase_if(groups, [](const std::vector<Made>& group) { return group.empty(); });
        for (std::vector<Made>& group : groups) {
            std::sort(group.begin(), group.end(), made_later);
            std::size_t kept = std::min(group.size(), max);
            while (kept < group.size() && group[kept].at == group[kept - 1].at) {
                ++kept;
            }
            group.resize(kept);
        }
        std::sort(groups.begin(), groups.end(),
                  [](const auto& a, const auto& b) { return made_later(a.front(), b.front()); });
        std::vector<storage::VersionInfo> out;
        for (const std::vector<Made>& group : groups) {
            for (const Made& made : group) {
                out.push_back(made.info);
            }
        }
        return out;
    }

  private:
    /// The observation that represents the group of `index`.
    std::size_t group_of(std::size_t index) {
        while (leads_to_[index] != index) {
            // Shortens the path for later look-ups.
            leads_to_[index] = leads_to_[leads_to_[index]];
            index = leads_to_[index];
        }
        return index;
    }

    std::vector<Made> made_;
    std::vector<std::size_t> leads_to_;  ///< another of the same group; itself: represents it
    TextMap<std::size_t> by_key_;        ///< an observation that has it
};

struct LastnAsked {
    std::vector<search::QueryPair> criteria;
    std::size_t max = 1;
    std::string url;
};

/// "code" of "code:in", "subject" of "subject:Patient.name".
std::string_view parameter_of(std::string_view name) {
    return name.substr(0, name.find_first_of(":."));
}

Result<LastnAsked> read_lastn_asked(const Service& service, const Request& request, TypeId type,
                                    const search::ParameterSet& parameters) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY(const std::vector<std::string> names, input.names());
    if (names.size() > search::kSearchPairsMax) {
        return Error{Errc::too_costly,
                     fmt::format("There are more than {} parameters", search::kSearchPairsMax)};
    }
    LastnAsked asked;
    ANNALS_TRY(const auto max, input.positive("max"));
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
            return Error{Errc::invalid, fmt::format("There is no parameter '{}'", name)};
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
        return Error{Errc::required, "The parameter patient or subject is required"};
    }
    if (!says_kind) {
        return Error{Errc::required,
                     "The parameter category or a parameter with a code is required"};
    }
    return asked;
}

asio::awaitable<Response> find_last(const Service& service, const Request& request,
                                    const Target& target, Turns& turns) {
    Result<LastnAsked> asked =
        read_lastn_asked(service, request, target.type, *service.indexing().parameters());
    if (!asked) {
        co_return std::move(asked.error());
    }
    Groups groups;
    const TakeObservation take = [&](json::Value observation, const Made& made) {
        groups.add(observation["code"], made);
        return Result<void>();
    };
    const Result<void> done =
        co_await for_each_observation(service, request, asked->criteria, turns, take);
    if (!done) {
        co_return done.error();
    }
    SearchBundleContent content;
    content.links.emplace_back("self", asked->url);
    content.matches = groups.last(asked->max);
    content.total = content.matches.size();
    co_return answer_search(service, request.base_url, std::move(content));
}

}  // namespace

asio::awaitable<Response> lastn_operation(const Service& service, const Request& request,
                                          const Target& target) {
    Response response = co_await answer_as_first_page(service, request, target, find_last);
    co_return response;
}

}  // namespace annals::core
