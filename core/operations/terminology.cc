#include "core/operations/terminology.h"

#include "core/canonical.h"
#include "core/definitions.h"
#include "core/interactions/answer.h"
#include "core/interactions/submitted_resource.h"
#include "core/interactions/turns.h"

#include <fmt/format.h>

#include <memory>

namespace annals::core {

namespace {

constexpr std::uint64_t kStepsMax = 100'000'000;
constexpr std::size_t kWrittenBytesPerStep = 64;

/// The bytes of a stored resource, or of one in a package.
Result<std::string_view> body_of(const Service& service, const Target& target,
                                 std::shared_ptr<const void>& pin) {
    const auto info = service.store().current(target.type, target.id);
    if (!info) {
        if (const auto packaged =
                service.definitions().packages().read(target.type, target.id, pin)) {
            return packaged->body;
        }
        return no_such_resource(target.type, target.id);
    }
    if (info->deletion) {
        return Error{Errc::deleted,
                     fmt::format("{} is deleted", resource_name(target.type, target.id))};
    }
    ANNALS_TRY(const storage::StoredVersion stored, service.store().load(*info));
    pin = stored.pin;
    return stored.body;
}

/// The resource in the URL; if it is also found by its canonical url, that document, for which more may be cached.
Result<terminology::Definition> definition_at(const Service& service, const Target& target) {
    std::shared_ptr<const void> pin;
    ANNALS_TRY(const std::string_view body, body_of(service, target, pin));
    ANNALS_TRY(json::Document document, thread_parser().parse(body));
    const json::Value root = document.root();
    std::vector<Position> unread;  // Not worth waiting for.
    const terminology::Definition known = service.definitions().find(
        resource_type_name(target.type), root["url"].string(), root["version"].string(), &unread);
    if (known != nullptr && known->text() == document.text()) {
        return known;
    }
    return std::make_shared<const json::Document>(std::move(document));
}

/// If the parameters name a definition, it must be the resource in the URL.
Result<void> check_named(const OperationInput& input, json::Value at_hand, std::string_view by_url,
                         std::string_view by_version) {
    ANNALS_TRY(const std::optional<std::string> url, input.text(by_url));
    ANNALS_TRY(const std::optional<std::string> version, input.text(by_version));
    const Canonical canonical = split_canonical(url ? std::string_view(*url) : std::string_view());
    const std::string_view wanted = version ? std::string_view(*version) : canonical.version;
    if (!canonical.url.empty() && !at_hand["url"].equals(canonical.url)) {
        return Error{Errc::invalid,
                     fmt::format("{} names a different resource than the given one: {}", by_url,
                                 canonical.url.substr(0, 300))};
    }
    if (!wanted.empty() && !at_hand["version"].equals(wanted)) {
        return Error{Errc::invalid,
                     fmt::format("{} names a different version than the given one: {}",
                                 version ? by_version : by_url, wanted.substr(0, 100))};
    }
    return {};
}

/// `value` as a separate document. Errors: invalid.
Result<terminology::Definition> own_document(json::Value value) {
    ANNALS_TRY(json::Document document, thread_parser().parse(value.raw()));
    return terminology::Definition(std::make_shared<const json::Document>(std::move(document)));
}

}  // namespace

Result<void> count_written(terminology::Effort& effort, std::size_t before, std::size_t bytes,
                           std::size_t bytes_max) {
    if (bytes > bytes_max) {
        return Error{Errc::answer_too_costly,
                     fmt::format("The response would be larger than {} bytes", bytes_max)};
    }
    return effort.spend((bytes - before) / kWrittenBytesPerStep);
}

Error nothing_meant(const OperationInput& input) {
    if (input.has("context")) {
        return {Errc::not_computable, "'context' is not supported: name the value set by url"};
    }
    return {Errc::required, "One of url and valueSet is required"};
}

Result<void> check_date(const OperationInput& input) {
    constexpr std::size_t kDayChars = 10;
    constexpr std::int64_t kLatestZoneUs = std::int64_t{12} * 3600 * 1'000'000;
    ANNALS_TRY(const auto text, input.text("date"));
    if (!text) {
        return {};
    }
    const Result<InstantRange> range = parse_date_time(*text);
    if (!range) {
        return Error{Errc::invalid, "The parameter 'date' is not a date and time"};
    }
    const std::int64_t zone = text->size() <= kDayChars ? kLatestZoneUs : 0;
    if (range->end.us + zone <= now().us) {
        return Error{
            Errc::not_computable,
            fmt::format("date: only the current definitions are used, not those of {}", *text)};
    }
    return {};
}

Result<std::optional<Meant>> read_meant(const Service& service, const Target& target,
                                        const OperationInput& input, std::string_view by_value,
                                        std::string_view by_url, std::string_view by_version) {
    Meant meant;
    if (target.level == Level::instance_operation) {
        ANNALS_TRY(meant.definition, definition_at(service, target));
        ANNALS_TRY_VOID(check_named(input, meant.definition->root(), by_url, by_version));
        return std::optional(std::move(meant));
    }
    ANNALS_TRY_VOID(input.once({by_value}));
    json::Value resource = input.resource(by_value);
    resource = resource ? resource : input.bare_resource();
    if (resource) {
        const std::string_view type = resource_type_name(target.type);
        if (!resource["resourceType"].equals(type)) {
            return Error{Errc::invalid, fmt::format("A {} is needed", type)};
        }
        ANNALS_TRY(meant.definition, own_document(resource));
        return std::optional(std::move(meant));
    }
    ANNALS_TRY(const std::optional<std::string> url, input.text(by_url));
    ANNALS_TRY(const std::optional<std::string> version, input.text(by_version));
    if (!url || url->empty()) {
        return std::optional<Meant>();
    }
    const Canonical canonical = split_canonical(*url);
    meant.url = canonical.url;
    meant.version = version ? *version : std::string(canonical.version);
    return std::optional(std::move(meant));
}

Result<terminology::Definition> find_meant(terminology::Session& session, const Meant& meant,
                                           std::string_view type) {
    if (meant.definition != nullptr) {
        return meant.definition;
    }
    ANNALS_TRY(terminology::Definition found, session.find(type, meant.url, meant.version));
    if (found == nullptr) {
        return Error{Errc::not_found,
                     fmt::format("The {} {}{}{} is not known here", type, meant.url.substr(0, 300),
                                 meant.version.empty() ? "" : "|", meant.version.substr(0, 100))};
    }
    return found;
}

asio::awaitable<Result<void>> fetch_definitions(const Service& service, const Request& request,
                                                const Target& target,
                                                terminology::Worker::Clock::time_point end) {
    if (target.level == Level::instance_operation) {
        co_await fetch_newest(service, request, target.type, target.id);
    }
    const Definitions& definitions = service.definitions();
    while (!definitions.is_current()) {
        Result<std::vector<Position>> unread =
            co_await definitions.worker().make<std::vector<Position>>(
                *request.loop, [&definitions] { return definitions.read_resident(); }, end);
        if (!unread) {
            co_return std::move(unread.error());
        }
        if (unread->empty()) {
            break;
        }
        co_await request.loop->fetched(*std::move(unread));
    }
    co_return Result<void>();
}

asio::awaitable<Response> make_answer(const Service& service, const Request& request,
                                      TerminologyAnswer answer,
                                      terminology::Worker::Clock::time_point end) {
    const Definitions& definitions = service.definitions();
    bool takes_long = false;
    Result<std::string> body =
        co_await fetch_and_look(*request.loop, [&](std::vector<Position>* unread) {
            terminology::Effort little(terminology::Worker::kStepsOnLoop);
            bool large = false;
            const Definitions::Resident resident(definitions, unread, &large);
            terminology::Session session(resident, little);
            Result<std::string> made = answer(session);
            takes_long = large || (!made && little.exhausted());
            return made;
        });
    if (takes_long) {
        body = co_await definitions.worker().make<std::string>(
            *request.loop,
            [answer, end, &definitions] {
                terminology::Effort much(kStepsMax, end, &definitions.worker().stopping());
                terminology::Session own(definitions, much);
                return answer(own);
            },
            end);
    }
    if (!body) {
        co_return body.error();
    }
    Response response;
    response.body = Body(*std::move(body));
    co_return response;
}

}  // namespace annals::core
