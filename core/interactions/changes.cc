#include "core/interactions/changes.h"

#include "core/base/sort_unique.h"
#include "core/interactions/change_reader.h"
#include "core/interactions/change_source.h"
#include "core/interactions/media_type.h"
#include "core/interactions/min_position.h"
#include "core/representation.h"
#include "core/search/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace annals::core {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kWaitDefault{5};
constexpr std::chrono::seconds kChangesWaitMax{60};
constexpr std::string_view kEvents = "text/event-stream";
constexpr std::string_view kLines[] = {"application/fhir+ndjson", "application/ndjson",
                                       "application/x-ndjson"};

struct ChangesAsked {
    bool events = false;
    Position after;
    std::size_t count = 0;
    std::vector<TypeId> types;
    std::chrono::milliseconds wait = kWaitDefault;
};

Error invalid_parameter(std::string detail) {
    return {Errc::invalid, std::move(detail)};
}

/// Whether the media types in `list` prefer events. Errors: not_acceptable.
Result<bool> prefers_events(std::string_view list) {
    int lines = 0;
    int events = 0;
    while (!list.empty()) {
        const MediaType media = read_media_type(next_part(list, ','));
        for (const std::string_view name : kLines) {
            lines = covers(media.name, name) ? std::max(lines, media.quality) : lines;
        }
        if (equal_ignoring_case(media.name, kEvents) || media.name == "text/*") {
            events = std::max(events, media.quality);
        }
    }
    if (lines == 0 && events == 0) {
        return Error{
            Errc::not_acceptable,
            "The change feed is available as application/fhir+ndjson and text/event-stream"};
    }
    return events > lines;
}

Result<Position> read_position(std::string_view name, std::string_view text) {
    const auto position = parse_position(text);
    if (!position) {
        return invalid_parameter(fmt::format("{}: '{}' is not a position", name, text));
    }
    return *position;
}

Result<std::uint64_t> read_number(std::string_view name, std::string_view text) {
    const auto number = parse_number(text);
    if (!number) {
        return invalid_parameter(fmt::format("{}: '{}' is not a whole number", name, text));
    }
    return *number;
}

Result<ChangesAsked> read_changes_asked(const Service& service, const Request& request) {
    if (request.inside_bundle) {
        return Error{Errc::not_supported,
                     "The change feed cannot be requested in an entry of a Bundle"};
    }
    const Config& config = service.config();
    ChangesAsked asked;
    asked.count = config.max_page_size;
    std::string accept(request.header("Accept").value_or("*/*"));
    ANNALS_TRY(const Parameters parameters, parse_query(request.query));
    std::vector<std::string_view> seen;
    for (const auto& [name, value] : parameters) {
        if (name != "_type" && std::ranges::find(seen, name) != seen.end()) {
            return invalid_parameter(fmt::format("{} is given more than once", name));
        }
        seen.push_back(name);
        if (name == "after") {
            ANNALS_TRY(asked.after, read_position(name, value));
        } else if (name == "_count") {
            const std::optional<std::uint64_t> count = read_count(value);
            if (!count || *count == 0) {
                return invalid_parameter(
                    fmt::format("_count: '{}' is not an integer of at least 1", value));
            }
            asked.count = std::min<std::uint64_t>(*count, config.max_page_size);
        } else if (name == "wait") {
            ANNALS_TRY(const std::uint64_t seconds, read_number(name, value));
            asked.wait = std::min<std::chrono::seconds>(
                kChangesWaitMax, std::chrono::seconds(std::min<std::uint64_t>(seconds, 3600)));
        } else if (name == "_type") {
            ANNALS_TRY(const std::vector<TypeId> types, search::read_types(value));
            asked.types.insert(asked.types.end(), types.begin(), types.end());
        } else if (name == "_format") {
            accept = value == "ndjson" ? std::string(kLines[0]) : with_plus(value);
        } else {
            return invalid_parameter(fmt::format("Unknown parameter '{}'", name));
        }
    }
    sort_unique(asked.types);
    asked.wait = std::min(asked.wait, config.limits.request_timeout * 4 / 5);
    ANNALS_TRY(asked.events, prefers_events(accept));
    // A browser that reconnects requests the same URL and states here what it has received.
    if (const auto last = request.header("Last-Event-ID"); asked.events && last) {
        ANNALS_TRY(asked.after, read_position("Last-Event-ID", *last));
    }
    return asked;
}

Response answer_events(const Service& service, const Request& request, ChangeReader reader) {
    Response response;
    response.content_type = ContentType::event_stream;
    response.cache_control = "no-store";
    response.headers.emplace_back("X-Accel-Buffering", "no");
    response.body.append("retry: 1000\n\n");
    response.more = change_events(service, request.base_url, std::move(reader));
    return response;
}

}  // namespace

asio::awaitable<Response> changes(const Service& service, const Request& request,
                                  const Target& /*target*/) {
    const Result<ChangesAsked> asked = read_changes_asked(service, request);
    if (!asked) {
        Response refusal = asked.error();
        represent_error(request, refusal);
        co_return refusal;
    }
    ChangeReader reader(service.store(), asked->after, asked->types);
    if (asked->events) {
        co_return answer_events(service, request, std::move(reader));
    }

    const Clock::time_point end = Clock::now() + asked->wait;
    std::vector<Change> found = reader.read(asked->count);
    while (found.empty() && request.method != HttpMethod::head) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        const bool news = co_await request.loop->news_after(reader.reached(), left);
        if (!news) {
            break;
        }
        found = reader.read(asked->count);
    }

    Response response;
    response.content_type = ContentType::ndjson;
    response.cache_control = "no-store";
    response.position = reader.reached();
    response.headers.emplace_back("X-Annals-Last-Position",
                                  fmt::format("{}", service.store().last_position().value));
    auto lines = change_lines(service, request.base_url, std::move(found));
    co_await request.loop->fetched(lines->unread());
    if (lines->next(response.body)) {
        response.more = std::move(lines);
    }
    if (response.body.empty()) {
        response.media_type = content_type_name(response.content_type);  // no lines are still lines
    }
    co_return response;
}

}  // namespace annals::core
