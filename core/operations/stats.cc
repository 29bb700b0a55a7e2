#include "core/operations/stats.h"

#include "codec/fhirpath/ucum.h"
#include "core/base/text_map.h"
#include "core/interactions/first_page.h"
#include "core/interactions/turns.h"
#include "core/operations/measurements.h"
#include "core/operations/observations.h"
#include "core/operations/stats_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace annals::core {

namespace {

/// The data for one code.
struct OfCode {
    Measurements measurements;
    std::size_t total = 0;  ///< including those without a number
    std::optional<Instant> first;
    std::optional<Instant> last;
};

/// Collects the numbers of observations.
class Collected {
  public:
    explicit Collected(const StatsInput& asked) : of_codes(asked.codes.size()) {
        for (std::size_t i = 0; i < asked.codes.size(); ++i) {
            by_key_.emplace(coding_key(asked.codes[i].system.value_or(""), asked.codes[i].code), i);
        }
    }

    Result<void> take(json::Value observation, const Made& made) {
        // A modifier extension may reverse the meaning.
        const bool modified = !!observation["modifierExtension"];
        ANNALS_TRY(bool used, take_part(observation, made.at, modified));
        for (const json::Value component : observation["component"].elements()) {
            ANNALS_TRY(const bool has, take_part(component, made.at, modified));
            used = used || has;
        }
        if (used) {
            sources.push_back(made);
        }
        return {};
    }

    std::vector<OfCode> of_codes;  ///< in the requested order
    std::vector<Made> sources;     ///< whose numbers were used

  private:
    /// Takes an observation or a component; true if its number is used.
    Result<bool> take_part(json::Value part, Instant at, bool modified) {
        std::vector<std::size_t> codes;
        for (const json::Value coding : part["code"]["coding"].elements()) {
            const auto found = by_key_.find(coding_key(coding));
            if (found != by_key_.end() &&
                std::find(codes.begin(), codes.end(), found->second) == codes.end()) {
                codes.push_back(found->second);
            }
        }
        bool used = false;
        for (const std::size_t code : codes) {
            OfCode& of = of_codes[code];
            ++of.total;
            if (modified || part["modifierExtension"]) {
                continue;
            }
            ANNALS_TRY(const bool is_number, of.measurements.add(part["valueQuantity"]));
            if (!is_number) {
                continue;
            }
            if (++values_ > kStatsValuesMax) {
                return Error{Errc::too_costly,
                             fmt::format("More than {} values match", kStatsValuesMax)};
            }
            of.first = of.first ? std::min(*of.first, at) : at;
            of.last = of.last ? std::max(*of.last, at) : at;
            used = true;
        }
        return used;
    }

    TextMap<std::size_t> by_key_;
    std::size_t values_ = 0;
};

/// An object with these members, without the empty ones.
std::string object_of(std::initializer_list<std::pair<std::string_view, std::string_view>> texts) {
    std::string out;
    for (const auto& [name, text] : texts) {
        if (!text.empty()) {
            out += fmt::format(R"({}"{}":{})", out.empty() ? "" : ",", name, json::quoted(text));
        }
    }
    return out;
}

/// A square has the square of the unit. For a unit on a special scale, UCUM has none.
MeasuredUnit squared(const MeasuredUnit& unit) {
    const auto twice = [](std::string_view text) {
        return text.find_first_of("/.") == std::string_view::npos
                   ? fmt::format("{0}.{0}", text)
                   : fmt::format("({0}).({0})", text);
    };
    MeasuredUnit square;
    if (!unit.unit.empty() || !unit.code.empty()) {
        square.unit = twice(unit.unit.empty() ? unit.code : unit.unit);
    }
    const auto known = unit.is_ucum() ? fhirpath::parse_unit(unit.code) : std::nullopt;
    if (known && fhirpath::combine(*known, *known, false)) {
        square.system = unit.system;
        square.code = twice(unit.code);
    }
    return square;
}

MeasuredUnit unit_of(Statistic statistic, const MeasuredUnit& unit) {
    switch (statistic) {
        case Statistic::count:
        case Statistic::total_count:
        case Statistic::skew:
        case Statistic::kurtosis:
            return {.system = std::string(fhirpath::kUcum), .code = "1", .unit = ""};
        case Statistic::variance:
            return squared(unit);
        default:
            return unit;
    }
}

/// "valueQuantity":..., or the reason why there is none.
std::string value_json(std::optional<long double> value, const MeasuredUnit& unit) {
    const auto number = static_cast<double>(value.value_or(0));
    if (!value || !std::isfinite(number)) {
        return R"("dataAbsentReason":{"coding":[{"system":)"
               R"("http://terminology.hl7.org/CodeSystem/data-absent-reason",)"
               R"("code":"not-applicable"}]})";
    }
    const std::string members =
        object_of({{"unit", unit.unit}, {"system", unit.system}, {"code", unit.code}});
    // Zero has no sign.
    return fmt::format(R"("valueQuantity":{{"value":{}{}{}}})", number == 0 ? 0.0 : number,
                       members.empty() ? "" : ",", members);
}

/// The Observation of one code in one unit.
std::string statistics_json(const StatsInput& asked, const GivenCode& code, const OfCode& of,
                            Measured measured) {
    std::string start = asked.start;
    std::string end = asked.end;
    if (start.empty() && end.empty() && of.first) {
        start = format_instant(*of.first);
        end = format_instant(*of.last);
    }
    std::string json = fmt::format(
        R"({{"resourceType":"Observation","status":"final","code":{{"coding":[{{{}}}]}},)"
        R"("subject":{{"reference":{}}})",
        object_of({{"system", code.system.value_or("")},
                   {"version", code.version},
                   {"code", code.code},
                   {"display", code.display}}),
        json::quoted(asked.subject));
    if (!start.empty() || !end.empty()) {
        json += fmt::format(R"(,"effectivePeriod":{{{}}})",
                            object_of({{"start", start}, {"end", end}}));
    }
    const Sample sample(std::move(measured.values));
    std::string_view before = R"(,"component":[)";
    for (const StatisticName* const name : asked.statistics) {
        const std::optional<long double> value =
            name->statistic == Statistic::total_count
                ? std::optional<long double>(static_cast<long double>(of.total))
                : sample.value(name->statistic);
        json += fmt::format(R"({}{{"code":{{"coding":[{{"system":)"
                            R"("http://terminology.hl7.org/CodeSystem/observation-statistics",)"
                            R"("code":"{}","display":"{}"}}]}},{}}})",
                            before, name->code, name->display,
                            value_json(value, unit_of(name->statistic, measured.unit)));
        before = ",";
    }
    return json + "]}";
}

Result<void> check_size(const Service& service, const Body& body) {
    const std::uint64_t max = service.config().limits.max_body;
    return body.size() <= max ? Result<void>()
                              : Error{Errc::answer_too_costly,
                                      fmt::format("The answer would be larger than {} bytes", max)};
}

/// Appends the sources, the most recent first. Errors: answer_too_costly, corrupt, io, timeout.
asio::awaitable<Result<void>> add_sources(const Service& service, std::vector<Made> sources,
                                          std::size_t max, Turns& turns, Body& body) {
    std::sort(sources.begin(), sources.end(), made_later);
    sources.resize(std::min(sources.size(), max));
    std::vector<storage::VersionInfo> versions;
    for (const Made& made : sources) {
        versions.push_back(made.info);
    }
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (i % kFetchedAtOnce == 0) {
            co_await turns.fetched_from(versions, i);
        }
        if (turns.pace().is_over()) {
            Result<void> in_time = co_await turns.next();
            if (!in_time) {
                co_return std::move(in_time.error());
            }
        }
        const auto stored = service.store().load(versions[i]);
        if (!stored && stored.error().code != Errc::not_found) {
            co_return stored.error();
        }
        // Those erased meanwhile are left out.
        if (stored) {
            body.append(R"(,{"name":"source","resource":)");
            // Copied, not referenced: if it is erased while others are fetched, zeros would be sent.
            body.append(stored->body);
            body.append("}");
        }
        if (const Result<void> fit = check_size(service, body); !fit) {
            co_return fit;
        }
    }
    co_return Result<void>();
}

asio::awaitable<Response> calculate(const Service& service, const Request& request,
                                    const Target& /*target*/, Turns& turns) {
    const auto parameters = service.indexing().parameters();
    Result<StatsInput> asked =
        StatsInput::read(request, service.config().max_page_size, parameters->zone());
    if (!asked) {
        co_return std::move(asked.error());
    }
    Collected collected(*asked);
    const TakeObservation take = [&](json::Value observation, const Made& made) {
        return collected.take(observation, made);
    };
    const std::vector<search::QueryPair> criteria = asked->criteria();
    Result<void> done = co_await for_each_observation(service, request, criteria, turns, take);
    if (!done) {
        co_return std::move(done.error());
    }
    Response response;
    std::string_view before = R"({"resourceType":"Parameters","parameter":[)";
    for (std::size_t i = 0; i < asked->codes.size(); ++i) {
        std::vector<Measured> groups = collected.of_codes[i].measurements.by_unit();
        if (groups.empty()) {
            // Without values there are still statistics: their number.
            groups.emplace_back();
        }
        for (Measured& group : groups) {
            response.body.append(before);
            response.body.append(R"({"name":"statistics","resource":)");
            response.body.append(
                statistics_json(*asked, asked->codes[i], collected.of_codes[i], std::move(group)));
            response.body.append("}");
            before = ",";
            done = check_size(service, response.body);
            if (!done) {
                co_return std::move(done.error());
            }
        }
    }
    if (asked->sources_max > 0) {
        done = co_await add_sources(service, std::move(collected.sources), asked->sources_max,
                                    turns, response.body);
        if (!done) {
            co_return std::move(done.error());
        }
    }
    response.body.append("]}");
    co_return response;
}

}  // namespace

asio::awaitable<Response> stats_operation(const Service& service, const Request& request,
                                          const Target& target) {
    Response response = co_await answer_as_first_page(service, request, target, calculate);
    co_return response;
}

}  // namespace annals::core
