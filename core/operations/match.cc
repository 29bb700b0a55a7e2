#include "core/operations/match.h"

#include "core/interactions/first_page.h"
#include "core/interactions/search_bundle.h"
#include "core/operations/each_match.h"
#include "core/operations/input.h"
#include "core/operations/match_score.h"
#include "core/scoped_view.h"
#include "core/search/execute.h"
#include "core/search/query.h"
#include "core/search/snapshot_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace annals::core {

namespace {

struct Scored {
    int points;
    storage::VersionInfo info;
};

/// The searches that find candidates, each sufficient by itself.
std::vector<search::QueryPair> criteria_of(json::Value patient) {
    std::vector<search::QueryPair> criteria;
    const auto each = [&](std::string_view array, std::string_view name, auto&& add) {
        for_each_compared(patient[array], [&](json::Value element) {
            const std::string text(element[name].string());
            if (text.find_first_not_of(" \t\r\n") != std::string_view::npos) {
                add(element, text);
            }
        });
    };
    each("identifier", "value", [&](json::Value identifier, std::string_view value) {
        criteria.emplace_back(
            "identifier", fmt::format("{}|{}", search::escape_value(identifier["system"].string()),
                                      search::escape_value(value)));
    });
    each("name", "family", [&](json::Value, std::string_view family) {
        criteria.emplace_back("family", search::escape_value(family));
    });
    each("telecom", "value", [&](json::Value, std::string_view value) {
        criteria.emplace_back("telecom", search::escape_value(value));
    });
    if (const std::string date(patient["birthDate"].string()); !date.empty()) {
        criteria.emplace_back("birthdate", search::escape_value(date));
    }
    return criteria;
}

struct MatchAsked {
    OperationInput input;
    json::Value patient;
    std::vector<search::QueryPair> criteria;
    bool only_certain = false;
    std::size_t count = 0;
};

Result<MatchAsked> read_match_asked(const Service& service, const Request& request) {
    ANNALS_TRY(OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only_beside_resource({"resource", "onlyCertainMatches", "count"}));
    ANNALS_TRY_VOID(input.once({"resource"}));
    ANNALS_TRY(const bool only_certain, input.flag("onlyCertainMatches"));
    ANNALS_TRY(const auto count, input.positive("count"));
    json::Value patient = input.resource("resource");
    patient = patient ? patient : input.bare_resource();
    if (!patient) {
        return Error{Errc::required, "The parameter resource is required"};
    }
    if (patient["resourceType"].string() != "Patient") {
        return Error{Errc::invalid, "The parameter resource is not a Patient"};
    }
    std::vector<search::QueryPair> criteria = criteria_of(patient);
    if (criteria.empty()) {
        return Error{
            Errc::business_rule,
            "The patient has no identifier, family name, birth date or telecom to match by"};
    }
    const std::uint64_t most = service.config().max_page_size;
    return MatchAsked{
        std::move(input), patient, std::move(criteria), only_certain,
        static_cast<std::size_t>(std::min<std::uint64_t>(count.value_or(most), most))};
}

/// The end of a match's entry.
std::string entry_end(int points) {
    return fmt::format(
        R"(,"search":{{"extension":[{{"url":"http://hl7.org/fhir/StructureDefinition/match-grade",)"
        R"("valueCode":"{}"}}],"mode":"match","score":{}.{:02}}}}})",
        match_grade(points), points / 100, points % 100);
}

/// Puts the best of `scored` into the Bundle.
void choose(std::vector<Scored> scored, const MatchAsked& asked, SearchBundleContent& content) {
    std::sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
        return a.points != b.points ? a.points > b.points : a.info.position > b.info.position;
    });
    if (asked.only_certain) {
        std::erase_if(scored, [](const Scored& one) { return one.points < kMatchCertain; });
        if (scored.size() > 1) {
            content.warnings.push_back(
                "Several patients match with certainty, so none is returned");
            content.warning_code = "multiple-matches";
            scored.clear();
        }
    }
    content.total = scored.size();
    scored.resize(std::min(scored.size(), asked.count), Scored{});
    for (const Scored& one : scored) {
        content.matches.push_back(one.info);
        content.match_ends.push_back(entry_end(one.points));
    }
}

asio::awaitable<Response> find_patients(const Service& service, const Request& request,
                                        const Target& target, Turns& turns) {
    Result<MatchAsked> asked = read_match_asked(service, request);
    if (!asked) {
        co_return std::move(asked.error());
    }
    search::Snapshot snapshot(service.store());
    const search::SnapshotResources stored(snapshot);
    const ScopedView view(service, request, kMaySearch);
    const search::QueryContext context{.stored = stored,
                                       .view = view,
                                       .parameters = view.parameters(),
                                       .base_url = std::string(request.base_url),
                                       .strict = true};
    std::map<std::uint64_t, storage::VersionInfo> found;
    const bool any = !snapshot.runs(target.type).runs.empty();
    for (const search::QueryPair& criterion : asked->criteria) {
        const std::vector<search::QueryPair> alone{criterion};
        Result<search::Query> query = search::parse_query(context, {target.type}, alone);
        if (!query) {
            co_return std::move(query.error());
        }
        if (!any) {
            continue;
        }
        search::Execution execution(snapshot, target.type, query->types.front().plan);
        execution.want({.limit = kMatchCandidatesMax});
        Result<void> done = co_await turns.finish(execution);
        if (!done) {
            co_return std::move(done.error());
        }
        for (const search::Match& match : execution.matches()) {
            if (const auto info = service.store().at(match.position())) {
                found.emplace(match.position().value, *info);
            }
        }
    }
    std::vector<storage::VersionInfo> candidates;
    for (const auto& [position, info] : found) {
        candidates.push_back(info);
    }
    std::vector<Scored> scored;
    const PatientMatcher matcher(asked->patient);
    const TakeMatch score = [&](json::Value body, const storage::VersionInfo& info) {
        const int points = matcher.points(body);
        if (points >= kMatchPossible) {
            scored.push_back({points, info});
        }
        return Result<void>();
    };
    Result<void> looked_at = co_await for_each_body(service.store(), candidates, turns, score);
    if (!looked_at) {
        co_return std::move(looked_at.error());
    }
    SearchBundleContent content;
    content.links.emplace_back("self", fmt::format("{}/Patient/$match", request.base_url));
    choose(std::move(scored), *asked, content);
    co_return answer_search(service, request.base_url, std::move(content));
}

}  // namespace

asio::awaitable<Response> match_operation(const Service& service, const Request& request,
                                          const Target& target) {
    Response response = co_await answer_as_first_page(service, request, target, find_patients);
    co_return response;
}

}  // namespace annals::core
