#include "core/service.h"

#include "core/definitions.h"
#include "core/descriptions.h"
#include "core/interactions/binary.h"
#include "core/interactions/criteria.h"
#include "core/interactions/media_type.h"
#include "core/interactions/min_position.h"
#include "core/interactions/write.h"
#include "core/jobs/jobs.h"
#include "core/operations/backup_run.h"
#include "core/operations/digest_tree.h"
#include "core/operations/operations.h"
#include "core/operations/restore_run.h"
#include "core/outcome.h"
#include "core/representation.h"

#include <fmt/format.h>

namespace annals::core {

namespace {

bool is_operation(Level level) noexcept {
    return level == Level::system_operation || level == Level::type_operation ||
           level == Level::instance_operation || level == Level::version_operation;
}

search::References references_of(const Config& config) noexcept {
    return config.integrity_on_delete ? search::References::all : search::References::as_searched;
}

// check_config() has checked that it can be loaded.
std::shared_ptr<const TimeZone> zone_of(const Config& config) {
    return TimeZone::load(config.search_time_zone).value();
}

bool writes(const Interaction& row) {
    return row.access == Access::create || row.access == Access::update ||
           row.access == Access::remove || row.access == Access::erase;
}

Error is_switched_off() {
    return {Errc::method_not_allowed, "This interaction is disabled on this server"};
}

HttpMethod as_dispatched(HttpMethod method) noexcept {
    return method == HttpMethod::head ? HttpMethod::get : method;
}

// The answer to `error` in the representation asked for, as far as that can be read.
Response refusal_of(Error error, const Request& request) {
    Response response = std::move(error);
    represent_error(request, response);
    return response;
}

// The answer to a request that matches no row. If credentials are needed, those without any don't learn what exists.
[[gnu::cold, gnu::noinline]] Response refusal_of_route(const Service& service,
                                                       const Request& request, Error error,
                                                       std::string allow) {
    if (service.guarded() && request.principal == nullptr) {
        error = {Errc::unauthenticated};
        allow.clear();
    }
    Response response = refusal_of(error, request);
    response.allow = std::move(allow);
    add_challenge(service, error, response);
    return response;
}

// Finds the row for the request and the representation of its answer; returns a response only if the request is refused.
std::optional<Response> refuse(const Service& service, const Request& request, Route& route) {
    Result<Target> parsed = parse_target(request.path);
    if (!parsed) {
        Error error = std::move(parsed.error());
        // No resource can have such an id: a read answers 404, a PUT 400.
        if (error.code == Errc::value && request.method != HttpMethod::put) {
            error.code = Errc::not_found;
        }
        return refusal_of_route(service, request, std::move(error), {});
    }
    route.target = *parsed;

    Result<const Interaction*> found =
        find_interaction(service.config(), request.method, route.target);
    if (!found) {
        return refusal_of_route(service, request, std::move(found.error()),
                                allowed_methods(service.config(), route.target));
    }
    if (Result<void> allowed = authorise(service, request, **found, route.target); !allowed) {
        Response response = refusal_of(allowed.error(), request);
        add_challenge(service, allowed.error(), response);
        return response;
    }
    if (Result<void> read = read_representation(request, route.target, route.asked); !read) {
        return refusal_of(read.error(), request);
    }
    if (Result<void> fit = check_no_criteria(request, route.target); !fit) {
        return refusal_of(fit.error(), request);
    }
    route.row = *found;
    return {};
}

// Answers a request with a plain handler that had to wait for a position, or must wait for the device.
asio::awaitable<Response> handle_plain_later(const Service& service, const Request& request,
                                             const Route& route) {
    Response response = route.row->plain(service, request, route.target);
    if (!response.unread.empty()) {
        co_await request.loop->fetched(std::move(response.unread));
        Request again = request;
        again.may_block = true;
        response = route.row->plain(service, again, route.target);
    }
    represent(route.asked, request, response);
    co_return response;
}

// Whether JSON may be the content of a Binary: it is sent to one as generic JSON, and convert_body() must look.
bool may_be_content(const Request& request, const Target& target) {
    if (!is_binary(target) || request.inside_bundle || request.method == HttpMethod::delete_) {
        return false;
    }
    const std::string_view name =
        read_media_type(request.header("Content-Type").value_or(std::string_view())).name;
    return !name.empty() && !equal_ignoring_case(name, "application/fhir+json");
}

// The answer of the row's first attempt, unless that has been made, or of its handler.
asio::awaitable<Response> answer_as_read(const Service& service, const Request& request,
                                         const Route& route) {
    if (route.row->early != nullptr && !route.tried_early) {
        if (auto early = route.row->early(service, request, route.target)) {
            return answer_settled(request, *std::move(early));
        }
    }
    return route.row->awaiting(service, request, route.target);
}

// Awaits the answer of the row's handler, after the body has been converted from another format or a form.
asio::awaitable<Response> handle_converted(const Service& service, const Request& request,
                                           const Route& route,
                                           Result<std::unique_ptr<ConvertedRequest>> converted) {
    if (!converted) {
        Response refused(converted.error());
        // $validate reports these faults as its result: JSON would reach it and be found invalid, while such XML fails when it
        // is read.
        if (route.target.operation == "$validate" &&
            (converted.error().code == Errc::structure || converted.error().code == Errc::value)) {
            refused.status = 200;
        }
        represent(route.asked, request, refused);
        co_return refused;
    }
    const bool changed = *converted != nullptr;
    const Request& as_read = changed ? (*converted)->request : request;
    Representation asked = route.asked;
    if (changed && !(*converted)->query.empty()) {
        // The form may specify the representation.
        asked = Representation();
        if (Result<void> read = read_representation(as_read, route.target, asked); !read) {
            co_return refusal_of(read.error(), as_read);
        }
    }
    Response response = co_await answer_as_read(service, as_read, route);
    represent(asked, as_read, response);
    if (service.config().read_only && response.failure &&
        response.failure->code == Errc::no_store) {
        // Retrying is useless on a read-only server.
        std::erase_if(response.headers,
                      [](const auto& header) { return header.first == "Retry-After"; });
    }
    co_return response;
}

// Awaits the answer of the row's handler, of whichever kind it is.
asio::awaitable<Response> handle_by_row(const Service& service, const Request& request,
                                        const Route& route) {
    if (route.row->plain != nullptr) {
        return handle_plain_later(service, request, route);
    }
    return handle_converted(service, request, route, convert_body(request, route.target));
}

// Awaits the answer once the position that the request names is visible.
asio::awaitable<Response> handle_at_position(const Service& service, const Request& request,
                                             const Route& route) {
    const Result<void> there = co_await await_min_position(service, request);
    if (!there) {
        co_return refusal_of(there.error(), request);
    }
    Response response = co_await handle_by_row(service, request, route);
    co_return response;
}

}  // namespace

Service::Service(const Config& config, storage::Store& store, storage::FileSystem& files)
    : config_(config),
      guarded_(config.auth.mode != "none"),
      store_(store),
      started_(now()),
      definitions_(std::make_unique<Definitions>(config, store)),
      indexing_(std::make_unique<search::Indexing>(store, config.base_url, references_of(config),
                                                   zone_of(config))),
      backup_run_(std::make_unique<BackupRun>(config, store)),
      digest_tree_(std::make_unique<DigestTree>(store)),
      descriptions_(std::make_unique<Descriptions>(*this)),
      restore_run_(std::make_unique<RestoreRun>(*this)),
      jobs_(std::make_unique<Jobs>(*this, files, config.data + "/jobs",
                                   JobsOptions{.running_max = config.jobs_max_running,
                                               .keep = config.jobs_keep,
                                               .read_only = config.read_only})) {
}

Service::~Service() = default;

std::function<storage::SearchSetup(const storage::Store&)> search_setup(const Config& config) {
    return search::search_setup(config.base_url, references_of(config), zone_of(config));
}

bool is_on(const Interaction& row, const Config& config) noexcept {
    return (row.enabled == nullptr || row.enabled(config)) && !(config.read_only && writes(row));
}

Result<const Interaction*> find_interaction(const Config& config, HttpMethod method,
                                            const Target& target) {
    const HttpMethod wanted = as_dispatched(method);
    const Operation* const operation =
        is_operation(target.level) ? find_operation(target) : nullptr;
    if (is_operation(target.level) && operation == nullptr) {
        return Error{Errc::invalid, fmt::format("Unknown operation '{}'", target.operation)};
    }
    if (operation != nullptr && !is_on(*operation, config)) {
        return is_switched_off();
    }
    bool path_known = false;
    for (const Interaction& row : interactions()) {
        if (row.level != target.level) {
            continue;
        }
        path_known = true;
        if (row.method == wanted && (operation == nullptr || takes(*operation, target, wanted))) {
            if (!is_on(row, config)) {
                return is_switched_off();
            }
            return &row;
        }
    }
    if (path_known) {
        return Error{
            Errc::method_not_allowed,
            fmt::format("{} is not supported here",
                        method == HttpMethod::other ? "This method" : method_name(method))};
    }
    return Error{Errc::not_found, "There is nothing at this path"};
}

std::string allowed_methods(const Config& config, const Target& target) {
    std::string allow;
    for (const Interaction& row : interactions()) {
        if (row.level == target.level && find_interaction(config, row.method, target)) {
            allow.append(allow.empty() ? "" : ", ").append(method_name(row.method));
            if (row.method == HttpMethod::get) {
                allow += ", HEAD";
            }
        }
    }
    return allow;
}

std::optional<Response> refuse_at_head(const Service& service, const Request& request) {
    Route route;
    return refuse(service, request, route);
}

std::optional<Response> handle_plain(const Service& service, const Request& request, Route& route) {
    route = Route();
    if (std::optional<Response> refusal = refuse(service, request, route)) {
        return refusal;
    }
    if (route.row->plain == nullptr || request.min_position) {
        return {};
    }
    std::optional<Response> response = route.row->plain(service, request, route.target);
    if (!response->unread.empty()) {
        return {};
    }
    represent(route.asked, request, *response);
    return response;
}

std::optional<Response> handle_early(const Service& service, const Request& request, Route& route) {
    const bool as_it_is = route.row != nullptr && route.row->early != nullptr &&
                          !request.min_position && route.asked.plain() &&
                          is_json_or_none(request) && !may_be_content(request, route.target);
    std::optional<Response> response =
        as_it_is ? route.row->early(service, request, route.target) : std::nullopt;
    route.tried_early = as_it_is;
    if (response) {
        tell_failure(request, *response);
    }
    return response;
}

asio::awaitable<Response> handle_routed(const Service& service, const Request& request,
                                        const Route& route) {
    if (request.min_position) {
        return handle_at_position(service, request, route);
    }
    return handle_by_row(service, request, route);
}

asio::awaitable<Response> handle(const Service& service, const Request& request) {
    Route route;
    if (std::optional<Response> response = handle_plain(service, request, route)) {
        co_return *std::move(response);
    }
    co_return co_await handle_routed(service, request, route);
}

}  // namespace annals::core
