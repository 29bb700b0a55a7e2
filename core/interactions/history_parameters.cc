#include "core/interactions/history_parameters.h"

#include "core/base/text.h"
#include "core/search/result_parameters.h"

#include <fmt/format.h>

#include <algorithm>

namespace annals::core {

namespace {

using storage::HistoryOrder;

struct SortName {
    std::string_view name;
    HistoryOrder order;
};

constexpr SortName kSorts[] = {
    {"_lastUpdated", HistoryOrder::last_updated},
    {"-_lastUpdated", HistoryOrder::last_updated_reverse},
    {"_position", HistoryOrder::oldest_first},
    {"-_position", HistoryOrder::newest_first},
    {"none", HistoryOrder::newest_first},
};

Error invalid(std::string detail) {
    return {Errc::invalid, std::move(detail)};
}

// A number beyond 64 bits becomes the largest there is: no history has as many versions.
Result<std::uint64_t> read_natural(std::string_view name, std::string_view text) {
    const std::optional<std::uint64_t> number = read_count(text);
    if (!number) {
        return invalid(fmt::format("{}: '{}' is not an integer of at least 0", name, text));
    }
    return *number;
}

Result<InstantRange> read_range(std::string_view name, std::string_view text) {
    Result<InstantRange> range = parse_date_time(text);
    if (!range) {
        return invalid(fmt::format("{}: '{}' is not a date or date-time", name, text));
    }
    return range;
}

// `eq` is the same as no prefix. The others would mean a span, in which many versions of a resource may have been current.
Result<InstantRange> read_at(std::string_view text) {
    constexpr std::string_view kSpans[] = {"ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"};
    const std::string_view prefix = text.substr(0, 2);
    if (std::ranges::find(kSpans, prefix) != std::end(kSpans)) {
        return invalid(fmt::format(
            "_at: the prefix '{}' is not supported, as _at names one instant; see _since", prefix));
    }
    return read_range("_at", prefix == "eq" ? text.substr(2) : text);
}

Result<HistoryOrder> read_sort(std::string_view text) {
    for (const SortName& sort : kSorts) {
        if (sort.name == text) {
            return sort.order;
        }
    }
    return invalid(fmt::format(
        "_sort: '{}' is not one of _lastUpdated, -_lastUpdated, _position, -_position, none",
        text));
}

// The parameters given, each at most once.
struct Given {
    std::optional<std::string> count, since, at, sort, offset, cursor;
    Parameters representation;  // those about the answer: _format and the like
};

Result<Given> take_parameters(std::string_view query, const Target& target) {
    ANNALS_TRY(Parameters parameters, parse_query(query));
    Given given;
    std::vector<std::string_view> seen;
    for (auto& [name, value] : parameters) {
        if (std::ranges::find(seen, name) != seen.end()) {
            return invalid(fmt::format("{} is given more than once", name));
        }
        seen.push_back(name);
        if (name == "_count") {
            given.count = std::move(value);
        } else if (name == "_since") {
            given.since = std::move(value);
        } else if (name == "_at") {
            given.at = std::move(value);
        } else if (name == "_sort") {
            given.sort = std::move(value);
        } else if (name == "_cursor") {
            given.cursor = std::move(value);
        } else if (name == "_offset" && target.level == Level::instance_history) {
            given.offset = std::move(value);
        } else if (search::is_about_the_answer(name)) {
            given.representation.emplace_back(name, std::move(value));
        } else {
            return invalid(fmt::format("Parameter '{}' is not supported here", name));
        }
    }
    return given;
}

// The cursor determines the order, _since and _at; parameters given as well must agree.
Result<void> continue_with(const Given& given, const HistoryCursor& asked, bool sort_given,
                           const Target& target, HistoryParameters& out) {
    ANNALS_TRY(out.cursor, read_cursor(*given.cursor, target));
    out.continued = true;
    if (given.offset) {
        return invalid("_cursor and _offset cannot be combined");
    }
    if (sort_given && asked.order != out.cursor.order) {
        return invalid("_sort differs from the order of the history that _cursor continues");
    }
    if (given.since && asked.since != out.cursor.since) {
        return invalid("_since differs from that of the history that _cursor continues");
    }
    if (given.at && asked.at != out.cursor.at) {
        return invalid("_at differs from that of the history that _cursor continues");
    }
    // A request for commit order expects every version.
    if (sort_given && asked.order == storage::HistoryOrder::oldest_first && out.cursor.at &&
        !given.at) {
        return invalid("_cursor continues a history with _at, not one of all versions");
    }
    return {};
}

std::string own_query(const Given& given, const HistoryParameters& parameters) {
    std::string out;
    const auto add = [&](std::string_view name, const std::string& value) {
        out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, percent_encode(value));
    };
    if (given.count) {
        add("_count", std::to_string(parameters.count));
    }
    if (given.since) {
        add("_since", format_instant(*parameters.cursor.since));
    }
    if (given.at) {
        add("_at", *given.at);
    }
    if (given.sort) {
        add("_sort", *given.sort);
    }
    for (const auto& [name, value] : given.representation) {
        add(name, value);
    }
    return out;
}

}  // namespace

Instant within_years(Instant instant) noexcept {
    constexpr Instant kFirst{-62'135'596'800'000'000};  // 0001-01-01T00:00:00Z
    constexpr Instant kLast{253'402'300'799'999'000};   // 9999-12-31T23:59:59.999Z
    return std::clamp(instant, kFirst, kLast);
}

Result<HistoryParameters> read_history_parameters(const Config& config, const Request& request,
                                                  const Target& target) {
    ANNALS_TRY(const Given given, take_parameters(request.query, target));
    const bool instance = target.level == Level::instance_history;

    HistoryParameters out;
    out.count = instance ? config.instance_history_page_size : config.history_page_size;
    if (given.count) {
        ANNALS_TRY(out.count, read_natural("_count", *given.count));
    }
    out.count = std::min(out.count, config.max_page_size);
    if (std::ranges::find(given.representation, Parameters::value_type("_summary", "count")) !=
        given.representation.end()) {
        out.count = 0;
    }
    if (given.offset) {
        ANNALS_TRY(out.offset, read_natural("_offset", *given.offset));
    }

    HistoryCursor asked;
    if (given.sort) {
        ANNALS_TRY(asked.order, read_sort(*given.sort));
    }
    if (given.since) {
        ANNALS_TRY(const InstantRange range, read_range("_since", *given.since));
        asked.since = within_years(range.begin);
    }
    if (given.at) {
        ANNALS_TRY(const InstantRange range, read_at(*given.at));
        // The last instant of the time given: a whole second includes what became current within it.
        asked.at = Instant{range.end.us - 1};
    }
    if (given.since && given.at) {
        return invalid("_since and _at cannot be combined");
    }

    if (given.cursor) {
        ANNALS_TRY_VOID(continue_with(given, asked, given.sort.has_value(), target, out));
    } else {
        out.cursor = asked;
    }
    out.own_query = own_query(given, out);
    return out;
}

}  // namespace annals::core
