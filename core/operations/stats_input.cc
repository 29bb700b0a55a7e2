#include "core/operations/stats_input.h"

#include "codec/fhirpath/decimal.h"
#include "core/search/ranges.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

constexpr std::size_t kCodesMax = 100;
constexpr long double kHourUs = 3'600'000'000.0L;

/// The values of a parameter that can't be in a query.
Result<std::vector<json::Value>> objects(const OperationInput& input, std::string_view name) {
    ANNALS_TRY(std::vector<json::Value> found, input.parts(name));
    for (json::Value& value : found) {
        value = value_of(value);
        if (!value.is_object()) {
            return Error{Errc::invalid,
                         fmt::format("The parameter '{}' is of the wrong type", name)};
        }
    }
    return found;
}

Result<std::vector<GivenCode>> read_asked_codes(const OperationInput& input) {
    std::vector<GivenCode> codes;
    ANNALS_TRY(std::vector<std::string> texts, input.texts("code"));
    ANNALS_TRY(const auto system, input.text("system"));
    if (system && texts.empty()) {
        return Error{Errc::invalid, "The parameter system needs code"};
    }
    if (!texts.empty() && !system) {
        return Error{Errc::required, "The parameter code needs system"};
    }
    for (std::string& text : texts) {
        GivenCode given;
        given.system = system;
        given.code = std::move(text);
        codes.push_back(std::move(given));
    }
    ANNALS_TRY(const std::vector<json::Value> codings, objects(input, "coding"));
    for (const json::Value coding : codings) {
        codes.push_back(given_coding(coding));
    }
    if (codes.empty()) {
        return Error{Errc::required, "One of code and coding is required"};
    }
    if (codes.size() > kCodesMax) {
        return Error{Errc::too_costly, fmt::format("There are more than {} codes", kCodesMax)};
    }
    std::vector<GivenCode> once;
    for (GivenCode& given : codes) {
        if (given.code.empty()) {
            return Error{Errc::required, "A code is empty"};
        }
        if (std::none_of(once.begin(), once.end(), [&](const GivenCode& other) {
                return other.code == given.code &&
                       other.system.value_or("") == given.system.value_or("");
            })) {
            once.push_back(std::move(given));
        }
    }
    return once;
}

Result<std::vector<const StatisticName*>> read_statistics(const OperationInput& input) {
    std::vector<const StatisticName*> found;
    ANNALS_TRY(const std::vector<std::string> codes, input.texts("statistic"));
    for (const std::string& code : codes) {
        const StatisticName* const name = find_statistic(code);
        if (name == nullptr) {
            return Error{Errc::invalid,
                         fmt::format("The statistic '{}' is not supported", code.substr(0, 200))};
        }
        if (std::find(found.begin(), found.end(), name) == found.end()) {
            found.push_back(name);
        }
    }
    if (found.empty()) {
        return Error{Errc::required, "The parameter statistic is required"};
    }
    return found;
}

Result<void> read_duration(std::string_view text, StatsInput& asked) {
    const auto hours = fhirpath::Decimal::parse(text);
    const Instant end = now();
    if (!hours || hours->is_negative() || hours->is_zero() ||
        hours->to_double() * kHourUs > static_cast<long double>(end.us)) {
        return Error{Errc::invalid,
                     "duration must be a number of hours greater than 0, and must not reach back "
                     "before 1970"};
    }
    asked.start =
        format_instant({end.us - static_cast<std::int64_t>(hours->to_double() * kHourUs)});
    asked.end = format_instant(end);
    return {};
}

Result<void> read_period(json::Value period, const TimeZone* zone, StatsInput& asked) {
    asked.start = period["start"].string();
    asked.end = period["end"].string();
    const auto start = search::date_range(asked.start, zone);
    const auto end = search::date_range(asked.end, zone);
    if ((asked.start.empty() && asked.end.empty()) || (!asked.start.empty() && !start) ||
        (!asked.end.empty() && !end) || (start && end && start->low > end->high)) {
        return Error{Errc::invalid,
                     "period is not valid: start and end must be dates, start the earlier one"};
    }
    return {};
}

Result<void> read_time(const OperationInput& input, const TimeZone* zone, StatsInput& asked) {
    ANNALS_TRY(const auto duration, input.text("duration"));
    ANNALS_TRY(const std::vector<json::Value> periods, objects(input, "period"));
    if (periods.size() + (duration ? 1 : 0) > 1) {
        return Error{Errc::invalid, "Exactly one of duration and period is required"};
    }
    if (duration) {
        return read_duration(*duration, asked);
    }
    return periods.empty() ? Result<void>() : read_period(periods.front(), zone, asked);
}

}  // namespace

Result<StatsInput> StatsInput::read(const Request& request, std::size_t page_max,
                                    const TimeZone* zone) {
    ANNALS_TRY(const OperationInput input, OperationInput::read(request));
    ANNALS_TRY_VOID(input.only({"subject", "code", "system", "coding", "duration", "period",
                                "statistic", "include", "limit"}));
    StatsInput asked;
    ANNALS_TRY(asked.subject, input.required_text("subject"));
    if (asked.subject.find('/') == std::string::npos) {
        return Error{Errc::invalid, "subject is not a reference such as Patient/1"};
    }
    ANNALS_TRY(asked.codes, read_asked_codes(input));
    ANNALS_TRY(asked.statistics, read_statistics(input));
    ANNALS_TRY_VOID(read_time(input, zone, asked));
    ANNALS_TRY(const bool includes, input.flag("include"));
    if (!includes) {
        return asked;
    }
    ANNALS_TRY(const auto limit, input.positive("limit"));
    asked.sources_max =
        static_cast<std::size_t>(std::min<std::uint64_t>(limit.value_or(page_max), page_max));
    return asked;
}

std::vector<search::QueryPair> StatsInput::criteria() const {
    std::string tokens;
    for (const GivenCode& given : codes) {
        tokens += fmt::format("{}{}|{}", tokens.empty() ? "" : ",",
                              search::escape_value(given.system.value_or("")),
                              search::escape_value(given.code));
    }
    std::vector<search::QueryPair> pairs{{"subject", search::escape_value(subject)},
                                         {"combo-code", std::move(tokens)},
                                         {"status:not", "entered-in-error"},
                                         {"status:not", "cancelled"}};
    if (!start.empty()) {
        pairs.emplace_back("date", "ge" + start);
    }
    if (!end.empty()) {
        pairs.emplace_back("date", "le" + end);
    }
    return pairs;
}

}  // namespace annals::core
