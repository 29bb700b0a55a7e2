#include "core/interactions/as_of.h"

#include "core/base/text.h"
#include "core/search/past_runs.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

Error bad_as_of(std::string_view why) {
    return {Errc::invalid, fmt::format("_asOf: {}", why)};
}

}  // namespace

Result<Position> read_as_of(const storage::Store& store, std::string_view text) {
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos) {
        const auto position = parse_number(text);
        if (!position || Position{*position} > store.last_position()) {
            return bad_as_of("the position does not exist yet");
        }
        return Position{*position};
    }
    const Result<InstantRange> range = parse_date_time(text);
    if (!range) {
        return bad_as_of("it must be a date and time or a position");
    }
    // Everything committed before the first version at or after that instant.
    return store.before(range->end);
}

Result<std::optional<Position>> find_as_of(const storage::Store& store, std::string_view query) {
    std::optional<Position> found;
    if (query.find("asOf") == std::string_view::npos) {
        return found;
    }
    ANNALS_TRY(const Parameters parameters, parse_query(query));
    for (const auto& [name, value] : parameters) {
        if (name != "_asOf") {
            continue;
        }
        if (found) {
            return bad_as_of("it is given more than once");
        }
        ANNALS_TRY(found, read_as_of(store, value));
    }
    return found;
}

std::optional<storage::VersionInfo> current_as_of(const storage::Store& store, TypeId type,
                                                  std::string_view id, Position position) {
    // To the store, position 0 means everything visible.
    auto info = position.value == 0 ? std::nullopt : store.current(type, id, position);
    // The store still returns a removed deletion, so that the deleted version does not reappear.
    if (info && !store.at(info->position)) {
        info.reset();
    }
    return info;
}

asio::awaitable<Result<void>> reach_back(const Service& service,
                                         std::shared_ptr<const search::ParameterSet> parameters,
                                         std::span<const TypeId> types, search::Snapshot& snapshot,
                                         Turns& turns) {
    for (const TypeId type : types) {
        if (snapshot.answers(type)) {
            continue;
        }
        // By the configured base URL, as for the index: that of the request is chosen by its sender, who would thus
        // decide where links lead.
        search::PastRuns past(service.store(), parameters, service.config().base_url, type,
                              snapshot.position());
        Result<void> done = co_await turns.finish(past);
        if (!done) {
            co_return std::move(done.error());
        }
        snapshot.use(type, past.runs());
    }
    co_return Result<void>();
}

}  // namespace annals::core
